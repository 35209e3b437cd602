"""How rules are called: the options they name are those of the library, every other is refused by name;
what has no derivative gives none."""

from __future__ import annotations

import importlib
import inspect
import re

import numpy as np
import pytest

from lsp_ad.rules import RULES, VARIANTS, describe
from tests import oracle
from tests.rules import domains, programs

LIBRARY = [
    n for n in RULES if n.split(".")[0] in ("numpy", "scipy") and not n.startswith("scipy.stats.norm.")
]
# What is no number; and what is a constant to the derivative only.
NOT_ZERO = ("builtins.range", "builtins.slice", "lsp_ad.runtime.same_form", "builtins.str", "lsp_ad.stop_gradient")
ZERO = [n for n, r in RULES.items() if r.is_zero and n not in NOT_ZERO]


def real(name: str):
    module, function = name.rsplit(".", 1)
    return getattr(importlib.import_module(module), function)


def signature(name: str) -> list[inspect.Parameter] | None:
    try:
        return list(inspect.signature(real(name)).parameters.values())
    except (ValueError, TypeError):
        return None


@pytest.mark.parametrize("name", LIBRARY)
def test_parameters_are_those_of_the_library(name):
    """An option of a rule has the name, the place and the default that it has in the library."""
    rule, theirs = RULES[name], signature(name)
    if theirs is None or name == "numpy.arange":
        return
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in theirs):
        return  # einsum, gradient, pad: the signature does not name them
    places = [p.name for p in theirs if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    by_name = {p.name: p for p in theirs}
    for place, p in enumerate(rule.parameters):
        if p in rule.keyword_only:
            assert p in by_name
        elif p in rule.defaults and p != "x":
            assert places[place] == p, (places, rule.parameters)
        else:
            assert place < len(places) or theirs[0].kind == inspect.Parameter.VAR_POSITIONAL
        if p in rule.defaults and p in by_name and isinstance(by_name[p].default, (int, float, str, tuple)):
            assert by_name[p].default == rule.defaults[p]


@pytest.mark.parametrize("name", LIBRARY)
def test_other_options_are_refused_by_name(name):
    rule = RULES[name]
    arguments = "x, " * sum(p not in rule.defaults for p in rule.parameters)
    others = {
        p.name for p in signature(name) or () if p.default is not p.empty and p.kind != p.POSITIONAL_ONLY
    }
    others -= set(rule.parameters) | ({"min", "max"} if name == "numpy.clip" else set())
    for option in sorted(others | {"no_such_option"}):
        source = (
            f"import {name.rsplit('.', 1)[0]}\n\ndef f(x):\n    return x * {name}({arguments}{option}=x)\n"
        )
        with pytest.raises(oracle.Refused) as refused:
            oracle.generate(source)
        messages = [(p.code, p.message) for p in refused.value.args]
        assert any(code in ("AD202", "AD301") and option in message for code, message in messages), messages


@pytest.mark.parametrize("name", ZERO)
def test_no_derivative(name):
    """A function of such a value alone is refused; beside another term, that one counts."""
    arguments = domains.zero_call(RULES[name])
    assert arguments is not None, f"add a line for {name} to ZERO_CALLS in tests/rules/domains.py"
    call = domains.call(arguments, x=(3,))
    x = np.array([-1.7, 0.4, 2.6])
    for number in range(2):
        header, operation = programs.spelled(RULES[name], call, number)
        header = "import numpy as np\n" + header.replace("import numpy as np\n", "")
        with pytest.raises(oracle.Refused) as refused:
            oracle.generate(f"{header}\n\ndef f(x):\n    return {operation}\n")
        assert refused.value.args[0].code == "AD503"
        programs.evaluate(header, operation, ["x"], (x,))
        used = "len(str(k))" if name == "builtins.type" else "np.size(k)" if "empty" in name or "type" in name else "np.sum(np.array(k))"
        body = f"    k = {operation}\n    return {used} * 0.5 + np.sum(x * x)\n"
        oracle.assert_gradient(f"{header}\n\ndef f(x):\n{body}", x, all_modes=False)


@pytest.mark.parametrize("name", RULES)
def test_description(name):
    """Hover shows Markdown in which each line is Python, in the parameters of the rule."""
    rule, text = RULES[name], describe(name)
    assert text.startswith("`y = ") and "{" not in text and "<" not in re.sub(r"`[^`]*`", "", text)
    assert text.count("`") % 2 == 0
    if rule.is_zero:
        assert "No derivative" in text
        return
    for p in rule.differentiable:
        assert f"`d{p} " in text or f"`d{p}[i]" in text, text
    for line in re.findall(r"^- `(.*)`", text, re.MULTILINE):
        compile(line, name, "exec")


def test_conversions():
    x = np.array([1.2, -0.7, 2.5])
    head = "import numpy as np\n\n\ndef f(x):\n"
    for right in (
        "x.astype(float)",
        "x.astype(np.float64)",
        "np.array(x, dtype='float64')",
        "np.asarray(x, float)",
        "np.array([x[0], x[1] * x[2]], dtype=float)",
        "np.full(3, x[0], dtype=float)",
        "np.array(x, dtype=None)",
    ):
        oracle.assert_gradient(f"{head}    y = {right}\n    return np.sum(y * y) + x[0]\n", x)
    for step in (
        "x.astype(int)",
        "np.array(x, dtype=np.int64)",
        "np.asarray([x[0], x[1]], dtype=bool)",
        "np.full(3, x[1], int)",
    ):
        oracle.assert_gradient(f"{head}    y = {step}\n    return np.sum(y * 2.0) + x[0] * x[1]\n", x)
    for unknown in (
        "x.astype(x.dtype)",
        "np.array(x, dtype=x.dtype)",
        "np.array([x[0], x[1]], dtype=x.dtype)",
        "x.astype(complex)",
        "np.full(3, x[1], dtype=x.dtype)",
    ):
        with pytest.raises(oracle.Refused):
            oracle.generate(f"{head}    y = {unknown}\n    return np.sum(y * y) + x[0]\n")


def test_a_shadowed_type_is_not_the_type():
    text = "    return np.sum(np.array(x, dtype=float) * x)\n"
    x = np.array([1.2, -2.7])
    oracle.assert_gradient(f"import numpy as np\nfloat = int\n\n\ndef f(x):\n{text}", x, wrt=["x"])
    with pytest.raises(oracle.Refused):
        oracle.generate(f"import numpy as np\n\n\ndef f(x, float):\n{text}", wrt=["x"])


def test_ranges():
    x = np.array([1.2, -0.7, 2.5])
    oracle.assert_gradient("import numpy as np\n\n\ndef f(x):\n    return np.sum(x * np.arange(len(x)))\n", x)
    oracle.assert_gradient(
        "import numpy as np\n\n\ndef f(x):\n    return np.sum(x * np.arange(1, len(x) + 1, 1))\n", x
    )
    oracle.assert_gradient(
        "import numpy as np\n\n\ndef f(x):\n    return np.sum(x * np.arange(1.0, 4.0, dtype=float))\n", x
    )
    with pytest.raises(oracle.Refused):
        oracle.generate("import numpy as np\n\n\ndef f(x):\n    return np.sum(np.arange(x, x + 3.0))\n")
    with pytest.raises(oracle.Refused):
        oracle.generate("import numpy as np\n\n\ndef f(x):\n    return np.sum(np.arange(0, 1, x))\n")


def test_every_variant_says_what_it_is_of():
    assert all(name.split()[0] in RULES for name in VARIANTS if " " in name)


@pytest.mark.parametrize(
    "source",
    [
        "np.sum(x, axis=())",
        "np.sum(x, axis=k)",
        "np.sum(x, axis=True)",
        "np.sum(x, axis=0, keepdims=k)",
        "np.var(x, ddof=k)",
        "np.prod(x, axis=(0, 1))",
        "np.linalg.norm(x, 1)",
        "np.linalg.norm(x, 2)",
        "np.diff(x, 2)",
        "np.transpose(x, k)",
        "np.roll(x, k)",
        "np.reshape(x, (2, 3), order='F')",
        "np.where(x)",
        "np.linspace(x, 1.0)",
    ],
)
def test_what_is_not_supported_is_refused(source):
    with pytest.raises(oracle.Refused) as refused:
        oracle.generate(
            f"import numpy as np\n\n\ndef f(x, k):\n    return np.sum({source}) + np.sum(x)\n", wrt=["x"]
        )
    assert refused.value.args[0].code == "AD202"


def test_at_the_edges():
    """Zeros of products and powers, equal extremes, empty arrays, values that are no numbers."""
    head = "import numpy as np\n\n\n"
    for x in ([0.0, 2.0, 3.0], [0.0, 0.0, 3.0], [0.0, -1.0]):
        oracle.assert_gradient(f"{head}def f(x):\n    return np.prod(x)\n", np.array(x))
    oracle.assert_gradient(
        f"{head}def f(x, n):\n    return np.sum(x ** n)\n",
        np.array([0.0, 2.0]),
        np.array([2.0, 3.0]),
        wrt=["x"],
    )
    oracle.assert_gradient(
        f"{head}def f(x, n):\n    return np.sum(x ** n)\n",
        np.array([0.0, -2.0]),
        np.array([1.0, 0.0]),
        wrt=["x"],
    )
    oracle.assert_gradient(
        f"{head}def f(x, n):\n    return np.sum(x ** n)\n",
        np.array([0.0, 2.0]),
        np.array([2.0, 3.0]),
        wrt=["n"],
    )
    for text in ("np.sum(x)", "np.prod(x)", "np.sum(np.cumsum(x))", "np.sum(np.diff(x))", "np.sum(x * x)"):
        oracle.assert_gradient(f"{head}def f(x):\n    return {text}\n", np.zeros(0))
    for x in (0.0, 1e-9, 1e-5, 0.0099, 0.0101, -3e-3):
        slope = oracle.run(oracle.generate(f"{head}def f(x):\n    return np.sinc(x)\n")[1])["f_grad"](x)
        exact = -(np.pi**2) * x / 3 * (1 - (np.pi * x) ** 2 / 10 + (np.pi * x) ** 4 / 280)
        assert slope == pytest.approx(exact, rel=1e-9, abs=0)
    vjp = oracle.run(oracle.generate("def f(a, b):\n    return max(a, b)\n", mode="vjp")[1])["f_vjp"]
    assert vjp(1.0, float("nan"), 1.0) == (1.0, 0.0)  # max(1.0, nan) is 1.0, max(nan, 1.0) is nan
    assert vjp(2.0, 2.0, 1.0) == (1.0, 0.0)
    grad = oracle.run(oracle.generate(f"{head}def f(x):\n    return np.max(x)\n")[1])["f_grad"]
    assert grad(np.array([1.0, 3.0, 3.0])).tolist() == [0.0, 0.5, 0.5]
    assert np.isnan(grad(np.array([1.0, np.nan]))).all()
