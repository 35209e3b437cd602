"""Complex numbers: what is refused, by name, and what is checked when the code runs."""

from __future__ import annotations

import numpy as np
import pytest

from tests import oracle

pytestmark = pytest.mark.row("T27")
HEAD = "import numpy as np\n\n\n"

REFUSED = {
    "a complex result": ("def f(x):\n    return np.fft.fft(x)\n", "AD402", "result"),
    "a complex result on one path": (
        "def f(x, n):\n    if n > 0:\n        return x * 1j\n    return x\n",
        "AD402",
        "result",
    ),
    "a complex item of the result": ("def f(x):\n    return np.sum(x), 1j * x\n", "AD402", "result"),
    "a complex parameter": ("def f(x: complex):\n    return abs(x)\n", "AD402", "`x`"),
    "a complex parameter among others": (
        "def f(x: np.complex128, y):\n    return abs(x) * y\n",
        "AD402",
        "`x`",
    ),
    "a function without a rule for them": (
        "def f(x):\n    return np.abs(np.arctan2(1j * x, x))\n",
        "AD402",
        "arctan2",
    ),
    "extremes": ("def f(x):\n    return np.abs(np.max(1j * x))\n", "AD402", "np.max"),
    "the direction": (
        "def f(x):\n    return np.sum(np.sign(x * (1 + 1j)).real * x)\n",
        "AD402",
        "np.sign",
    ),
    "a callee that is given them": (
        "def g(z):\n    if len(z) > 100:\n        return z\n    return z * z\n\n\n"
        "def f(x):\n    return np.sum(np.abs(g(1j * x)))\n",
        "AD402",
        "`g`",
    ),
    "a callee that returns them": (
        "def g(z):\n    if len(z) > 100:\n        return z\n    return np.fft.fft(z)\n\n\n"
        "def f(x):\n    return np.sum(np.abs(g(x)))\n",
        "AD203",
        "complex",
    ),
    "a passive callee that returns them": (
        "def g(n):\n    if n > 100:\n        return 1.0\n    return 1j * n\n\n\n"
        "def f(x, n):\n    h = g(n)\n    return np.sum(np.abs(x * h))\n",
        "AD402",
        "`h`",
    ),
    "a part of what is not known to be complex": (
        "def f(x, h):\n    return np.imag(x * h)\n",
        "AD202",
        "complex",
    ),
}


@pytest.mark.parametrize(("source", "code", "words"), REFUSED.values(), ids=REFUSED)
def test_refused(source, code, words):
    wrt = ["x"]
    with pytest.raises(oracle.Refused) as refused:
        oracle.generate(HEAD + source, wrt=wrt, mode="vjp")
    assert refused.value.args[0].code == code
    assert words in refused.value.args[0].message


CHECKED = {
    "an absolute value": "def f(x, h):\n    return np.sum(np.abs(x * h))\n",
    "a norm": "def f(x, h):\n    return np.linalg.norm(x * h)\n",
    "a variance": "def f(x, h):\n    return np.var(x * h)\n",
    "a product before the transform": "def f(x, h):\n    return np.sum(np.abs(np.fft.fft(x * h)))\n",
    "a product after the absolute value": "def f(x, h):\n    return np.sum(np.abs(np.fft.fft(x)).dot(h) * 1.0)\n",
    "a real part": "def f(x, h):\n    return np.sum((x * h).real)\n",
    "an inverse transform": "def f(x, h):\n    return np.sum(np.fft.irfft(x * h) ** 2)\n",
    "elements": "def f(x, h):\n    return abs(x[0] * h[0]) + abs(x[1] * h[1])\n",
    "numbers": "def f(x: float, h: float):\n    return abs(x * h)\n",
}


@pytest.mark.parametrize("source", CHECKED.values(), ids=CHECKED)
def test_complex_arguments_are_no_silent_error(source):
    """Where the derivative is that of real arguments only, complex ones are an error, or right as a constant."""
    derivative, text = oracle.generate(HEAD + source, wrt=["x"], mode="vjp")
    vjp = oracle.run(text)[derivative.name]
    x, h = np.array([0.3, -1.2, 0.7]), np.array([1.1, 0.4, 2.0])
    if "float" in source:
        assert "complex" not in text  # the annotation says it
        return
    vjp(x, h, 1.0)
    for bad in ((x + 1j, h), (x, h + 1j)):
        with pytest.raises(ValueError, match="real x, h"):
            vjp(*bad, 1.0)


def test_what_needs_no_check():
    """Without a step from complex to real numbers, the code holds for complex arguments as well."""
    _, text = oracle.generate(HEAD + "def f(x):\n    return np.sum(np.sin(x) * x)\n")
    assert "complex" not in text
    x = np.array([0.3 + 0.2j, 1.1])
    gradient = oracle.run(text)["f_grad"](x)
    np.testing.assert_allclose(gradient, np.cos(x) * x + np.sin(x))
    source = "def f(x):\n    return np.sum(np.abs(np.exp(x)))\n"
    _, text = oracle.generate(HEAD + source.replace("(x):", "(x: np.ndarray[float]):"))
    _, text = oracle.generate(
        HEAD + "from numpy.typing import NDArray\n\n\n" + source.replace("x)", "x: NDArray[np.float64])", 1)
    )
    assert "complex" not in text


def test_the_absolute_value_at_zero():
    """The slope of abs at 0 is 0, as for real numbers."""
    _, text = oracle.generate(HEAD + "def f(x):\n    return np.sum(np.abs(x * (1 + 1j)))\n")
    gradient = oracle.run(text)["f_grad"](np.array([0.0, 2.0]))
    np.testing.assert_allclose(gradient, [0.0, np.sqrt(2)])


@pytest.mark.parametrize(
    "source", ["np.sum(np.abs(np.fft.fft(x)) ** 2)", "np.sum(np.abs(np.exp(1j * x) * (2 - 1j) + x))"]
)
def test_single_precision(source):
    derivative, text = oracle.generate(HEAD + f"def f(x):\n    return {source}\n")
    gradient = oracle.run(text)[derivative.name](np.array([0.3, -1.2, 0.7], dtype=np.float32))
    assert gradient.dtype == np.float32
