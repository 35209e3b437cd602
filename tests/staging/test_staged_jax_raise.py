"""`raise` in a staged branch on JAX, where that is asked for: the user's own error when the program comes there."""

from __future__ import annotations

import numpy as np
import pytest

import lsp_ad
from tests.staging.test_staged_programs import assert_equal

jax = pytest.importorskip("jax")
pytestmark = pytest.mark.row("A10", "A14")


class Coded(Exception):
    def __init__(self, code: int):
        super().__init__(f"code {code}")
        self.code = code


def in_branches(x):
    if x < 0:
        raise Coded(3)
    elif x < 1:
        y = x
    else:
        if x > 100:
            raise ValueError("large [and] odd\n")
        y = 2 * x
    return y


def limited(x):
    if x > 5.0:
        raise KeyError("large")


def in_a_callee_and_a_loop(x):
    total = 0.0
    for _ in range(70):
        limited(x + total)
        if total > 1.0:
            raise IndexError("total above one")
        total += x
    return total


def in_each_iteration(x):
    while x > 0:
        x = x - 1
        raise ValueError("one")
    return x


def with_values(x):
    if x < 0:
        raise ValueError(f"{x} is too small by {-x:.3f} {{}}")
    if x > 5.0:
        raise ValueError(x)
    return x


def the_first_of_two(x):
    if x > 1:
        raise ValueError("first")
    if x > 0:
        raise KeyError("second")
    return x


CASES = [
    *((in_branches, x) for x in (-1.0, 0.5, 7.0, 300.0)),
    *((in_a_callee_and_a_loop, x) for x in (0.01, 6.0, 1.0)),
    *((in_each_iteration, x) for x in (1.0, -1.0)),
    *((with_values, x) for x in (-1.5, 2.0, 7.0)),
    *((the_first_of_two, x) for x in (2.0, 0.5, -1.0)),
]


def outcome(function, *arguments):
    try:
        return function(*arguments)
    except Exception as error:
        return type(error), [str(part) for part in error.args]


@pytest.mark.parametrize("function, x", CASES)
def test_as_in_python(function, x):
    found = outcome(lsp_ad.staged(function, backend="jax", raise_errors=True), x)
    expected = outcome(function, x)
    if isinstance(expected, tuple):
        assert found == expected
    else:
        assert_equal(found, expected)


def test_the_error_itself_and_its_line():
    with pytest.raises(Coded) as raised:
        lsp_ad.staged(in_branches, backend="jax", raise_errors=True)(-1.0)
    assert raised.value.code == 3
    line = in_branches.__code__.co_firstlineno + 2
    assert f"{__file__}:{line}" in getattr(raised.value, "__notes__", [f"{__file__}:{line}"])[0]


def test_under_jit_and_gradients():
    def root(x):
        if x < 0:
            raise ValueError("negative")
        return np.sqrt(x)

    compiled = jax.jit(lsp_ad.staged(root, raise_errors=True))
    assert compiled(4.0) == 2.0
    with pytest.raises(jax.errors.JaxRuntimeError, match="negative"):
        compiled(-4.0).block_until_ready()
    gradient = lsp_ad.staged(lsp_ad.grad(root), backend="jax", raise_errors=True)
    assert gradient(4.0) == 0.25
    with pytest.raises(ValueError, match="negative"):
        gradient(-4.0)


def caught(x):
    try:
        if x < 0:
            raise ValueError("negative")
        y = x
    except ValueError:
        y = -x
    return y


def on_every_path(x):
    if x < 0:
        raise ValueError("negative")
    else:
        raise ValueError("positive")


def test_refused():
    with pytest.raises(lsp_ad.StagingError, match=r"`raise` .*would be raised whatever .*raise_errors=True"):
        lsp_ad.staged(in_branches, backend="jax")(1.0)
    with pytest.raises(lsp_ad.StagingError, match=r"`raise` .*would be raised whatever") as raised:
        lsp_ad.staged(caught, backend="jax", raise_errors=True)(1.0)
    assert "raise_errors" not in str(raised.value)
    with pytest.raises(lsp_ad.StagingError, match=r"test_staged_jax_raise.py:\d+: every path"):
        lsp_ad.staged(on_every_path, backend="jax", raise_errors=True)(1.0)
