"""`raise` in a staged branch on TensorFlow: the user's own error when the program runs and comes there."""

from __future__ import annotations

import contextlib
import re

import numpy as np
import pytest

import lsp_ad
from tests.staging.test_staged_programs import assert_equal

tf = pytest.importorskip("tensorflow")
pytestmark = pytest.mark.row("A14")


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


def in_a_list(x):
    xs = []
    while x > 0:
        xs.append(x)
        x = x - 1.0
        if x > 4:
            raise IndexError
    return xs


def in_each_iteration(x):
    while x > 0:
        x = x - 1
        raise ValueError("one")
    return x


def with_a_value(x):
    if x < 0:
        raise ValueError(f"{x} is too small by {-x:.3f}")
    if x > 5.0:
        raise ValueError(x)
    return x


def outcome(function, *arguments):
    try:
        return function(*arguments)
    except Exception as error:
        return type(error), str(error)


CASES = [
    *((in_branches, x) for x in (-1.0, 0.5, 7.0, 300.0)),
    *((in_a_callee_and_a_loop, x) for x in (0.01, 6.0)),
    *((in_a_list, x) for x in (4.0, 8.0)),
    *((in_each_iteration, x) for x in (1.0, -1.0)),
    *((with_a_value, x) for x in (-1.5, 2.0, 7.0)),
]


@pytest.mark.parametrize("function, x", CASES)
def test_as_in_python(function, x):
    expected, found = outcome(function, x), outcome(lsp_ad.staged(function, backend="tensorflow"), x)
    if isinstance(expected, tuple):
        assert found == expected
    else:
        assert_equal(found, expected)


def test_the_error_itself():
    with pytest.raises(Coded) as raised:
        lsp_ad.staged(in_branches, backend="tensorflow")(-1.0)
    assert raised.value.code == 3
    line = in_branches.__code__.co_firstlineno + 2
    assert f"{__file__}:{line}" in getattr(raised.value, "__notes__", [f"{__file__}:{line}"])[0]


def test_in_a_function_of_tensorflow():
    compiled = tf.function(lsp_ad.staged(in_branches), autograph=False)
    assert compiled(tf.constant(7.0)).numpy() == 14.0
    line = in_branches.__code__.co_firstlineno + 2
    with pytest.raises(tf.errors.InvalidArgumentError, match=re.escape(f"{__file__}:{line} as number")):
        compiled(tf.constant(-1.0))


def test_gradients_flow_past_it():
    def root(x):
        if x < 0:
            raise ValueError("negative")
        return np.sqrt(x)

    gradient = lsp_ad.staged(lsp_ad.grad(root), backend="tensorflow")
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


def suppressed(x):
    y = x
    with contextlib.suppress(ValueError):
        if x < 0:
            raise ValueError("negative")
        y = x * 2.0
    return y


@pytest.mark.parametrize("function", [caught, suppressed])
def test_refused(function):
    with pytest.raises(lsp_ad.StagingError, match=r"has a `raise` .*would be raised whatever"):
        lsp_ad.staged(function, backend="tensorflow")(1.0)


def on_every_path(x):
    if x < 0:
        raise ValueError("negative")
    else:
        raise ValueError("positive")


def test_on_every_path():
    with pytest.raises(lsp_ad.StagingError, match=r"test_staged_tensorflow_raise.py:\d+: every path"):
        lsp_ad.staged(on_every_path, backend="tensorflow")(1.0)
