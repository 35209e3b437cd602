"""Errors at run time: of the user's type, with the user's line, and none is missed where a list is too short."""

from __future__ import annotations

import traceback

import numpy as np
import pytest

import lsp_ad
from lsp_ad.staging import StagingError

pytest.importorskip("jax")
pytest.importorskip("numba")
pytestmark = pytest.mark.row("A16", "A17")


class Overdrawn(Exception):
    pass


def asserted(x):
    assert x > 0.0, "must be positive"
    return x


def raised(x):
    if x < 0.0:
        raise Overdrawn("by %g" % 2.0)  # noqa: UP031
    return x


def told(x):
    if x < 0.0:
        raise ValueError("below %s" % x)  # noqa: UP031
    return x


@pytest.mark.parametrize(
    "f, backend, error",
    [
        (asserted, "jax", AssertionError),
        (asserted, "lantern", AssertionError),
        (raised, "lantern", Overdrawn),
        (told, "lantern", ValueError),
    ],
)
def test_an_error_names_the_line(f, backend, error):
    compiled = lsp_ad.staged(f, backend=backend)
    assert compiled(1.0) == 1.0
    with pytest.raises(error) as caught:
        compiled(-1.0)
    text = "".join(traceback.format_exception(caught.value))
    line = f.__code__.co_firstlineno + (1 if f is asserted else 2)
    assert f"raised at {__file__}:{line}" in text
    assert "lsp_ad/staging" not in text.replace("tests/staging", "")
    assert str(caught.value) in ("must be positive", "by 2", "below -1.0")


def drawn(x):
    stack, total = [1.0, 2.0], 0.0
    for v in x:
        if v > 0.0:
            stack.append(v)
        else:
            total += stack.pop()
    return total, len(stack)


def picked(x, i):
    stack = [1.0, 2.0, 3.0]
    for v in x:
        if v < 0.0:
            stack.pop()
        else:
            stack.append(v)
    return stack[i]


def test_a_list_has_no_items_beyond_its_end():
    pop, pick = (lsp_ad.staged(f, backend="lantern") for f in (drawn, picked))
    assert pop(np.array([5.0, -1.0, -1.0])) == (7.0, 1)
    with pytest.raises(IndexError, match="pop from empty list"):
        pop(np.array([-1.0, -1.0, -1.0]))
    x = np.array([-1.0, 7.0, -1.0])  # what was popped is still in memory
    assert (pick(x, np.int64(1)), pick(x, np.int64(-2))) == (2.0, 1.0)
    for i in (2, -3):
        with pytest.raises(IndexError, match="list index out of range"):
            pick(x, np.int64(i))


def kept(x):
    out = []
    for v in x:
        if v > 0.0:
            out.append((v, v * np.ones(2)))
    return {"out": out, "count": len(out)}


def test_lists_leave_lantern_as_lists():
    for x in (np.array([1.0, -2.0, 3.0]), np.array([-1.0])):
        got, expected = lsp_ad.staged(kept, backend="lantern")(x), kept(x)
        assert type(got["out"]) is list and got["count"] == expected["count"]
        for one, other in zip(got["out"], expected["out"], strict=True):
            assert one[0] == other[0]
            np.testing.assert_array_equal(one[1], other[1])


def test_lists_leave_a_function_under_jit_as_lists():
    import jax

    def rounds(x):
        sums = [0.0] * 3
        for i in range(100):
            sums[i % 3] += x[i % 2]
        return sums, sums[1:], sums[::-1]

    x = np.array([5.0, -1.0])
    got, expected = jax.jit(lsp_ad.staged(rounds))(x), rounds(x)
    assert [list(map(float, part)) for part in got] == [list(map(float, part)) for part in expected]
    assert jax.jit(lsp_ad.staged(lambda x: kept(x)["count"]))(x) == 1
    with pytest.raises(StagingError, match=r"test_staged_run_time_errors.py:\d+: A list is returned"):
        jax.jit(lsp_ad.staged(kept))(x)


@pytest.mark.parametrize("backend", ["jax", "lantern"])
def test_an_update_that_numpy_does_not_cast_is_refused(backend):
    def added(x):
        y = x.copy()
        y[::2] += 0.5
        return y

    f = lsp_ad.staged(added, backend=backend)
    np.testing.assert_array_equal(f(np.array([1.0, 2.0])), [1.5, 2.0])
    with pytest.raises(StagingError, match="updated to float64, which NumPy refuses"):
        f(np.array([1, 2]))
