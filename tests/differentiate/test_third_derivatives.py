"""Third derivatives through a loop, a branch and a callee, in mixed modes, against differences of second ones."""

from __future__ import annotations

import itertools

import pytest

from tests import oracle

pytestmark = pytest.mark.row("T20")

PROGRAMS = {
    "a loop": "def f(x: float):\n    y = x\n    for i in range(3):\n        y = np.sin(y * x) + y\n    return y * y\n",
    "a branch and a callee": (
        "def g(u, v):\n    if u > v:\n        return np.exp(u) * v\n    return u * v * v\n\n\n"
        "def f(x: float):\n    return g(x * x, x) * np.sin(x) + g(x, x * x)\n"
    ),
    "a while": "def f(x: float):\n    y = x * x\n    while y < 20.0:\n        y = y * y + x\n    return np.log(y)\n",
}

CASES = [(program, modes) for program in PROGRAMS for modes in itertools.product(("grad", "jvp"), repeat=3)]


def derived(text: str, name: str, mode: str) -> tuple[str, str]:
    """The text with one more derivative, by the first parameter, of a function with a number for its result."""
    derivative, text = oracle.generate(text, name, ["x"], mode)
    if mode == "grad":
        return text, derivative.name
    wrapper = f"\n\ndef {name}_d(x: float):\n    value, tangent = {derivative.name}(x, {derivative.tangents[0]}=1.0)\n    return tangent\n"
    return text + wrapper, f"{name}_d"


@pytest.mark.parametrize(("program", "modes"), CASES, ids=[f"{p}, {' over '.join(m)}" for p, m in CASES])
def test_third_derivatives(program, modes):
    text, name = "import numpy as np\n\n\n" + PROGRAMS[program], "f"
    values = []
    for mode in reversed(modes):
        text, name = derived(text, name, mode)
        values.append(name)
    space = oracle.run(text)
    names = ["f", *values]
    for lower, upper in itertools.pairwise(names):
        for x in (0.7, 1.3):
            want = (space[lower](x + 1e-6) - space[lower](x - 1e-6)) / 2e-6
            assert space[upper](x) == pytest.approx(want, rel=1e-5, abs=1e-5), (upper, text)
