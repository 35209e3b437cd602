"""Calls that are not looked into: another library, or central differences, give their derivative."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests import oracle

pytestmark = pytest.mark.row("T23")
MODULES = {"numerical": "numpy", "autograd": "autograd.numpy", "jax": "jax.numpy"}
CALLED = """import numpy as np
import {module} as xp
import lsp_ad

{decorator}
def g(a, b, n=2):
    return xp.sum(xp.tanh(a) * xp.exp(b) ** n, axis=0)

{after}
def f(x, y):
    z = {call} * 2.0
    return np.sum(z * x[0])
"""
FORMS = {
    "decorator": ("@lsp_ad.opaque(by='{by}')", "", "g(x * x, y)"),
    "decorator, keyword": ("@lsp_ad.opaque(by='{by}')", "", "g(x * x, b=y, n=2)"),
    "name": ("", "h = lsp_ad.opaque(g, by='{by}')", "h(x * x, y)"),
    "expression": ("", "", "lsp_ad.opaque(g, by='{by}')(x * x, y)"),
}
X, Y = np.array([[0.3, -0.4], [0.9, 0.2]]), np.array([[0.1, 0.7], [0.5, -0.3]])


def source(by: str, form: str) -> str:
    decorator, after, call = (part.format(by=by) for part in FORMS[form])
    return CALLED.format(module=MODULES[by], decorator=decorator, after=after, call=call)


def gradient(text: str, *arguments, **options):
    derivative, whole = oracle.generate(text, **options)
    return oracle.run(whole)[derivative.name](*arguments), derivative.text


def static_gradient():
    text = source("numerical", "decorator").replace("@lsp_ad.opaque(by='numerical')", "")
    return gradient(text, X, Y)[0]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("by, accuracy", [("numerical", 1e-9), ("autograd", 1e-13), ("jax", 2e-6)])
def test_equals_the_static_result(by, form, accuracy):
    pytest.importorskip(MODULES[by].split(".")[0])
    found, text = gradient(source(by, form), X, Y)
    for got, wanted in zip(found, static_gradient(), strict=True):
        np.testing.assert_allclose(np.asarray(got), wanted, rtol=accuracy, atol=accuracy)
    who = {"numerical": "central differences", "autograd": "Autograd", "jax": "JAX"}[by]
    assert f"# by {who}, when this runs" in text and f"{by}_vjp(" in text


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("by, accuracy", [("numerical", 1e-9), ("autograd", 1e-13), ("jax", 2e-6)])
def test_the_tangent_equals_the_static_result(by, form, accuracy):
    pytest.importorskip(MODULES[by].split(".")[0])
    derivative, text = oracle.generate(source(by, form), mode="jvp")
    dx, dy = np.array([[0.3, -1.0], [0.0, 2.0]]), np.array([[1.0, 0.5], [-0.2, 0.1]])
    _, got = oracle.run(text)[derivative.name](X, Y, dx, dy)
    wanted = sum(np.sum(g * d) for g, d in zip(static_gradient(), (dx, dy), strict=True))
    np.testing.assert_allclose(got, wanted, rtol=accuracy)
    assert "when this runs" in derivative.text


def test_the_tangent_of_what_stands_still():
    text = "import numpy as np\nimport lsp_ad\n@lsp_ad.opaque(by='numerical')\ndef g(x, n):\n    return x[:n] * x[:n]\n\ndef f(x, n):\n    return np.sum(g(x, n))\n"
    derivative, text = oracle.generate(text, wrt=["x"], mode="jvp")
    jvp = oracle.run(text)[derivative.name]
    np.testing.assert_allclose(jvp(X, 1, np.ones((2, 2)))[1], 2 * np.sum(X[0]))
    assert jvp(X, 1, np.zeros((2, 2)))[1] == 0.0


def test_jax_in_double_precision():
    """What flows back is as exact as double precision, although the value itself is a float32 here."""
    pytest.importorskip("jax")
    text = "import numpy as np\nimport jax.numpy as jnp\nimport lsp_ad\n@lsp_ad.opaque(by='jax')\ndef g(x):\n    return jnp.sin(x)\n\ndef f(x):\n    return np.sum(g(x))\n"
    found, _ = gradient(text, X)
    np.testing.assert_allclose(found, np.cos(X), rtol=1e-12)


def test_the_example():
    source = (Path(__file__).resolve().parents[2] / "examples" / "opaque_call.py").read_text(encoding="utf-8")
    arguments = np.array([0.1, -0.5, 0.3]), np.array([0.4, 0.2, 0.1]), np.array([0.2, 0.5, 0.3])
    oracle.assert_gradient(source, *arguments, name="loss", wrt=["a", "b"])


def test_central_differences():
    text = "import numpy as np\nimport lsp_ad\n@lsp_ad.opaque(by='numerical')\ndef g(x):\n    while np.abs(x).max() > 1:\n        x = eval('x / 2')\n    return np.sin(x)\n\ndef f(x):\n    return np.sum(g(x) * x)\n"
    oracle.assert_gradient(text, 3.0 * X)
    oracle.assert_gradient(text, 0.7)


def test_a_function_from_elsewhere_and_one_that_is_a_parameter():
    elsewhere = "import numpy as np\nimport lsp_ad\nimport statistics\n\nmean = lsp_ad.opaque(statistics.fmean, by='numerical')\n\ndef f(x):\n    return mean(x) ** 2\n"
    oracle.assert_gradient(elsewhere, np.array([1.0, 3.0]))
    parameter = "import numpy as np\nimport lsp_ad\n\ndef f(x, g):\n    for _ in range(2):\n        x = lsp_ad.opaque(g, by='numerical')(x)\n    return np.sum(x)\n"
    found, _ = gradient(parameter, np.array([0.5, 0.7]), np.sin, wrt=["x"])
    x = np.array([0.5, 0.7])
    np.testing.assert_allclose(found, np.cos(np.sin(x)) * np.cos(x))


def test_float32_stays_float32():
    text = "import numpy as np\nimport lsp_ad\n@lsp_ad.opaque(by='numerical')\ndef g(x):\n    return np.sin(x)\n\ndef f(x):\n    return np.sum(g(x))\n"
    found, _ = gradient(text, np.float32([0.5, 0.7]))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, np.cos([0.5, 0.7]), rtol=1e-3)


def test_autograd_and_a_result_that_it_does_not_see():
    """Autograd would take a tuple for a constant, and its derivative for zero."""
    pytest.importorskip("autograd")
    text = "import numpy as np\nimport autograd.numpy as anp\nimport lsp_ad\n@lsp_ad.opaque(by='autograd')\ndef g(x):\n    return anp.sin(x), anp.cos(x)\n\ndef f(x):\n    s, c = g(x)\n    return np.sum(s * c)\n"
    derivative, whole = oracle.generate(text)
    with pytest.raises(TypeError, match="one number or array"):
        oracle.run(whole)[derivative.name](X)


def test_the_mark_leaves_a_function_as_it_is():
    code = "import sys, lsp_ad\nassert lsp_ad.opaque(by='jax')(abs) is abs is lsp_ad.opaque(abs, by='jax')\nassert 'numpy' not in sys.modules and 'jax' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    "mark", ["opaque", "opaque()", "opaque(by='magic')", "opaque(by=how)", "opaque(by='jax', more=1)"]
)
def test_a_wrong_mark(mark):
    with pytest.raises(oracle.Refused) as caught:
        oracle.generate(
            f"import lsp_ad\n@lsp_ad.{mark}\ndef g(x):\n    return x\n\ndef f(x):\n    return g(x) * x\n"
        )
    assert [p.code for p in caught.value.args] == ["AD602"]


@pytest.mark.parametrize(
    "call", ["lsp_ad.opaque(g)(x)", "lsp_ad.opaque(by='jax')(x)", "lsp_ad.opaque(lambda x: x, by='jax')(x)"]
)
def test_a_wrong_call(call):
    with pytest.raises(oracle.Refused) as caught:
        oracle.generate(f"import lsp_ad\ndef f(x, g):\n    return {call} * x\n", wrt=["x"])
    assert {p.code for p in caught.value.args} == {"AD602"}


def test_keywords_need_known_parameters():
    with pytest.raises(oracle.Refused) as caught:
        oracle.generate(
            "import lsp_ad\ndef f(x, g):\n    return lsp_ad.opaque(g, by='jax')(x=x) * x\n", wrt=["x"]
        )
    assert {p.code for p in caught.value.args} == {"AD202"}
