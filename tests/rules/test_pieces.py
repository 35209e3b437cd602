"""np.split and the others that cut an array into pieces: in both modes, and twice."""

from __future__ import annotations

import numpy as np
import pytest

from tests import oracle

pytestmark = pytest.mark.row("T10")

CALLS = {
    "np.split(x, 2)": (4,),
    "np.split(x, [1, 3])": (5,),
    "np.split(x, (2,), axis=0)": (3, 2),
    "np.split(x, 3, axis=-1)": (2, 6),
    "np.split(x, [1], 1)": (2, 3, 2),
    "np.array_split(x, 2)": (5,),
    "np.array_split(x, 2, axis=1)": (2, 3),
    "np.hsplit(x, 2)": (4,),
    "np.hsplit(x, [1])": (2, 3),
    "np.vsplit(x, 2)": (4, 2),
    "np.dsplit(x, [1])": (2, 2, 3),
}
USES = {
    "iterated": "s = 0.0\n    for i, p in enumerate({}):\n        s = s + np.sum(np.sin(p)) ** 2 * (i + 1)\n    return s",
    "indexed": "ps = {}\n    return np.sum(ps[0]) ** 2 * np.sum(ps[-1] ** 3)",
    "unpacked": "a, *b = {}\n    return np.sum(a * a) * np.sum(b[0])",
    "joined again": "return np.sum(np.concatenate([p.ravel() for p in {}]) ** 3)",
}


def program(call: str, use: str) -> tuple[str, np.ndarray]:
    x = np.random.default_rng(3).normal(size=CALLS[call])
    return f"import numpy as np\n\ndef f(x):\n    {USES[use].format(call)}\n", x


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("call", CALLS)
def test_pieces(call, use):
    source, x = program(call, use)
    oracle.assert_gradient(source, x, all_modes=False)
    oracle.assert_jvp(source, x)


@pytest.mark.parametrize("mode", ["vjp", "jvp"])
@pytest.mark.parametrize("call", ["np.split(x, [1, 3])", "np.hsplit(x, [1])"])
def test_pieces_twice(call, mode):
    source, x = program(call, "iterated")
    derivative, text = oracle.generate(source, mode=mode)
    more = x * 0.5 if mode == "jvp" else 1.0
    oracle.assert_gradient(text, x, more, name=derivative.name, wrt=["x"], tolerance=1e-5, all_modes=False)
    oracle.assert_jvp(text, x, more, name=derivative.name, wrt=["x"], tolerance=1e-5)


def test_the_number_of_pieces_may_be_known_only_when_it_runs():
    source = "import numpy as np\n\ndef f(x, n: int):\n    s = 1.0\n    for p in np.array_split(x, n):\n        s = s * np.sum(p * p)\n    return s\n"
    for n in (1, 3):
        oracle.assert_gradient(source, np.array([0.7, 1.3, -0.4, 0.2]), n, wrt=["x"])


@pytest.mark.parametrize("write", ["a[0] = 2.0", "x2[0] = 2.0", "a *= x2[1]"])
def test_pieces_share_their_memory_with_the_array(write):
    source = f"import numpy as np\n\ndef f(x):\n    x2 = x * 1.0\n    a, b = np.split(x2, 2)\n    {write}\n    return np.sum(x2 * x2) + np.sum(a * b)\n"
    try:
        oracle.assert_gradient(source, np.array([0.7, 1.3, -0.4, 0.2]))
    except oracle.Refused as refused:
        assert refused.args[0].code == "AD302"
