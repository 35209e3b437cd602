"""Errors of conversion, staging and running: the user's own lines, and the user's exceptions."""

from __future__ import annotations

import traceback

import numpy as np
import pytest

import lsp_ad
from lsp_ad.staging import StagingError

pytestmark = pytest.mark.row("A10", "A11")
jax = pytest.importorskip("jax")
BACKENDS = [None, "jax"]


class Odd(Exception):
    """An exception that cannot be made again of its message."""

    def __init__(self, what, *, code):
        super().__init__(what)
        self.code = code


def third(x, n):
    for i in range(n):
        if i == 2:
            raise Odd("bad",
                      code=i)  # fmt: skip
        if (x <
                -100):  # fmt: skip
            x = x + 1
    return x


def second(x, n):
    y = x + 1
    if n:
        return third(y, n)
    return y


def first(x, n):
    with np.errstate(all="ignore"):
        z = second(x, n)
    return z


def lines_of(error):
    return [(f.name, f.lineno) for f in traceback.extract_tb(error.__traceback__) if f.filename == __file__]


@pytest.mark.parametrize("backend", BACKENDS)
def test_three_calls_deep(backend):
    with pytest.raises(Odd) as eager:
        first(1.0, 5)
    with pytest.raises(Odd) as found:
        lsp_ad.staged(first, backend=backend)(1.0, 5)
    assert found.value.code == 2
    assert lines_of(found.value)[1:] == lines_of(eager.value)[1:]  # without the line of this test
    if backend is None:  # no frame of lsp-ad or of a library in between
        assert len(traceback.extract_tb(found.value.__traceback__)) == len(
            traceback.extract_tb(eager.value.__traceback__)
        )
    assert not any("staging" in f.filename and "tests" not in f.filename
                   for f in traceback.extract_tb(found.value.__traceback__))  # fmt: skip


def line_of(text):
    with open(__file__, encoding="utf-8") as file:
        return next(n for n, line in enumerate(file, 1) if text in line)


def mismatch(x):
    y = x
    for _ in range(3):
        if x > 0:
            y = y * np.ones(3)
        elif x < -1:  # here two values of y meet
            y = y + 1
        else:
            y = np.ones(2)
    return y


def test_branches_that_differ():
    with pytest.raises(StagingError) as found:
        lsp_ad.staged(mismatch, backend="jax")(1.0)
    line = line_of("# here two values")
    assert f":{line}: `y` is float64 in one branch, float64 of shape (2,) in the other." in str(found.value)
    assert lines_of(found.value)[-1] == ("mismatch", line)


def test_loop_whose_types_change():
    def grows(x):
        y = np.ones(2)
        while x < 10:
            x = x + 1
            y = np.concatenate([y, y])
        return y

    with pytest.raises(StagingError, match=r"`y` is float64 of shape \(2,\) before .* \(4,\) after"):
        lsp_ad.staged(grows, backend="jax")(1.0)

    def restructured(x):
        y = (x, x)
        while x < 10:
            x = x + 1
            y = (x, x, x)
        return y

    with pytest.raises(StagingError, match=r"`y` is a tuple of 2 before .* a tuple of 3 after"):
        lsp_ad.staged(restructured, backend="jax")(1.0)


@pytest.mark.parametrize("backend", BACKENDS)
def test_running(backend):
    def out_of_range(x):
        y = x
        if x > 0:
            y = np.zeros(3)[7]  # here
        return y

    with pytest.raises(IndexError) as found:
        lsp_ad.staged(out_of_range, backend=backend)(1.0)
    assert lines_of(found.value)[-1] == ("out_of_range", line_of("[7]  # here"))


def test_raise_under_a_staged_condition():
    def checked(x):
        if x < 0:
            raise Odd("negative", code=1)
        return x

    with pytest.raises(
        StagingError, match=r"`raise` \(Odd, .*test_staging_errors.py:\d+\): it would be raised"
    ):
        lsp_ad.staged(checked, backend="jax")(1.0)
    with pytest.raises(Odd):
        lsp_ad.staged(checked)(-1.0)


def test_no_staging_error_is_swallowed():
    def careless(x):
        try:
            if x < 0:
                raise ValueError
            y = x
        except Exception:
            y = 0.0
        return y

    assert lsp_ad.staged(careless)(-1.0) == 0.0
    with pytest.raises(StagingError, match="`raise`"):
        lsp_ad.staged(careless, backend="jax")(1.0)


@pytest.mark.parametrize("backend", BACKENDS)
def test_assertions(backend):
    def checked(x):
        assert x > 0, "x must be positive"
        return x

    function = lsp_ad.staged(checked, backend=backend)
    assert function(1.0) == 1.0
    with pytest.raises(AssertionError, match="x must be positive"):
        function(-1.0)


def test_unconverted_code_that_asks_for_a_staged_value():
    @lsp_ad.do_not_convert
    class Vector:
        def __init__(self, x):
            self.x = x

        def __add__(self, other):
            if other > 0:  # the operator
                return self.x + other
            return self.x

    def run(x):
        return Vector(1.0) + x

    with pytest.raises(StagingError) as found:
        lsp_ad.staged(run, backend="jax")(1.0)
    assert f":{line_of('# the operator')}: " in str(found.value)
    assert "__add__" in str(found.value)
    assert lines_of(found.value)[-1] == ("__add__", line_of("# the operator"))
