"""What is written into an array of integers is rounded, and has no derivative there."""

from __future__ import annotations

import numpy as np
import pytest

from tests import oracle

pytestmark = pytest.mark.row("T24", "T27")

KNOWN = """np.arange(3); np.arange(0, 3); np.arange(len(x)); np.arange(3).copy(); np.arange(9).reshape(3, 3)[1]
np.arange(3) * 2; np.ones_like(np.arange(3)); np.array([1, 2, 3]); np.asarray((1, 2, 3)); np.array([1, 2, 3])[::-1]
np.full(3, 2); np.zeros(3, int); np.zeros(3, dtype=np.int64); np.zeros(3, dtype="int32"); np.zeros(3, dtype=bool)
np.argsort(x); x > 0; np.floor(x).astype(int); np.eye(3, dtype=int)[0]; np.stack([1, 2, 3])"""
UNKNOWN = """np.array([1] * 3); np.repeat([1, 2, 3], 1); np.array([[1, 2, 3]])[0]; np.concatenate([[1], [2, 3]])
np.array(range(3)); np.array([k for k in range(3)]); np.zeros(3, "i"); np.tile([1, 2, 3], 1)"""


def split(text: str) -> list[str]:
    return [e.strip() for e in text.replace("\n", ";").split(";")]


@pytest.mark.parametrize("made", split(UNKNOWN))
def test_what_turns_out_to_hold_integers_is_an_error(made):
    head = f"import numpy as np\n\n\ndef f(x):\n    y = {made}\n    y = y.copy()\n    y[0] = x[0] * 10\n"
    derivative, text = oracle.generate(head + "    return np.sum(y * x)\n")
    with pytest.raises(ValueError, match="`y` is an array of integers"):
        oracle.run(text)[derivative.name](np.array([0.4, 1.2, -0.3]))


@pytest.mark.parametrize("made", split(KNOWN))
def test_what_is_written_is_a_constant(made):
    """The gradient of the sum of y * x is y, since y does not move with x."""
    head = f"import numpy as np\n\n\ndef f(x):\n    y = {made}\n    y = y.copy()\n    y[0] = x[0] * 10\n"
    x = np.array([0.4, 1.2, -0.3])
    y = oracle.run(head + "    return y\n")["f"](x)
    assert y.dtype.kind in "ib"
    derivative, text = oracle.generate(head + "    return np.sum(y * x)\n")
    np.testing.assert_allclose(oracle.run(text)[derivative.name](x), y)
