"""`y *= 2` changes an array for every name that it has: the gradient knows that, or refuses."""

from __future__ import annotations

import numpy as np
import pytest

from tests import oracle
from tests.differentiate import random_writes

pytestmark = pytest.mark.row("T14")

HEAD = "import numpy as np\n\n"
VECTOR = np.array([0.3, -0.6])

SHARED = {
    "a parameter": "y = x\n    y *= 2\n    return y * x",
    "a parameter by annotation": "y: np.ndarray = x\n    y *= 2\n    return y * x",
    "a parameter in a loop": "y = x\n    for k in range(2):\n        y *= 2\n    return y * x",
    "another name": "z = x * 2\n    y = z\n    y *= 2\n    return y * z",
    "another name, which is older": "z = x * 2\n    y = z\n    z *= 2\n    return y, z",
    "chained assignment": "y = z = x * 2\n    y *= 2\n    return y * z",
    "a swap": "y = x * 2\n    z = x * 3\n    y, z = z, y\n    y *= 2\n    return y * z",
    "the value of the iteration before": (
        "s = x * 1.0\n    p = x * 1.0\n    for i in range(3):\n        q = p * s\n"
        "        p = s\n        s *= q\n    return s * p"
    ),
    "in a tuple": "y = x * 2\n    t = (y, x)\n    y *= 2\n    return t[0] * y",
    "an element of a list": "ys = [x * 2, x]\n    y = ys[0]\n    y *= 2\n    return y + ys[0]",
    "on one of two paths": (
        "z = x * 2\n    y = z.copy()\n    if np.sum(x) > -9:\n        y = z\n    y *= 2\n    return y * z"
    ),
    "by a conditional expression": "z = x * 2\n    y = z if len(x) > 1 else x\n    y *= 2\n    return y * z",
    "a slice": "z = x * 2\n    y = z[:1]\n    y *= 2\n    return y * z",
    "a new axis": "z = x * 2\n    y = z[None]\n    y *= 2\n    return y * z",
    "a row": "z = np.outer(x, x)\n    y = z[0]\n    y *= 2\n    return y * z",
    "each row": "s = 0.0\n    for y in np.outer(x, x):\n        y *= 2\n        s = s + y\n    return s",
    "the transpose": "z = x * 2\n    y = z.T\n    y *= 2\n    return y * z",
    "reshape": "z = x * 2\n    y = z.reshape(-1)\n    y *= 2\n    return y * z",
    "ravel": "z = x * 2\n    y = z.ravel()\n    y *= 2\n    return y * z",
    "squeeze": "z = x * 2\n    y = np.squeeze(z)\n    y *= 2\n    return y * z",
    "broadcast_to": "z = x * 2\n    y = np.broadcast_to(z, z.shape)\n    y *= 2\n    return y * z",
    "swapaxes": "z = x * 2\n    y = np.swapaxes(z, 0, 0)\n    y *= 2\n    return y * z",
    "moveaxis": "z = x * 2\n    y = np.moveaxis(z, 0, 0)\n    y *= 2\n    return y * z",
    "flip": "z = x * 2\n    y = np.flip(z)\n    y *= 2\n    return y * z",
    "asarray": "z = x * 2\n    y = np.asarray(z)\n    y *= 2\n    return y * z",
    "the result of a function that may hand back its argument": "y = same(x)\n    y *= 2\n    return y * x",
    "the argument of a small function": "y = x * 2\n    z = changes(y)\n    return z * y",
}
OWN = {
    "a copy": "y = x.copy()\n    y *= 2\n    return y * x",
    "the result of arithmetic": "y = x * 2\n    y *= x\n    return y * x",
    "unary plus": "y = +x\n    y *= 2\n    return y * x",
    "abs": "y = abs(x)\n    y *= 2\n    return y * x",
    "where": "y = np.where(x > 0, x, 0.5)\n    y *= x\n    return y * x",
    "maximum": "y = np.maximum(x, 0.1)\n    y *= x\n    return y * x",
    "clip": "z = x * 2\n    y = np.clip(z, -9, 9)\n    y *= 2\n    return y * z",
    "concatenate of one": "z = x * 2\n    y = np.concatenate([z])\n    y *= 2\n    return y * z",
    "rebound after it was shared": "y = x\n    z = y * y\n    y = z * x\n    y *= 2\n    return y * z",
    "shared after the change": "y = x * 2\n    y *= x\n    z = y\n    return y * z",
    "a local of a small function": "return scaled(x) * x",
    "a number": "k = 0.5\n    t = k\n    k *= 2\n    return x * k * t",
}
HELPERS = """
def same(u):
    return u

def changes(u):
    u *= 2
    return u * u

def scaled(u):
    w = u * 2
    w *= u
    return w
"""


def source(body: str) -> str:
    return f"{HEAD}{HELPERS}\ndef f(x):\n    {body}\n"


@pytest.mark.parametrize("body", SHARED.values(), ids=SHARED)
def test_what_may_have_another_name_is_right_or_refused(body):
    try:
        oracle.assert_gradient(source(body), VECTOR)
    except oracle.Refused as refused:
        (found,) = refused.args
        assert found.code == "AD302"
        line = source(body).split("\n")[found.span.line - 1]
        assert "*=" in line
        assert found.way_out


@pytest.mark.parametrize("body", OWN.values(), ids=OWN)
def test_what_has_one_name_is_right(body):
    oracle.assert_gradient(source(body), VECTOR)


def test_random_programs_that_write():
    found = [random_writes.check(seed) for seed in range(60)]
    assert found.count("right") > 30
