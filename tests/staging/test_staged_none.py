"""None by a staged value, on JAX and TensorFlow: right where it is not used, else the TypeError of Python."""

from __future__ import annotations

import numpy as np
import pytest

import lsp_ad

pytestmark = pytest.mark.row("A4", "A6", "A11")
X = np.arange(4.0)


def last_above(xs, limit):
    last = None
    for x in xs:
        if x > limit:
            last = x
    return last


def doubled(xs, limit):
    return last_above(xs, limit) * 2.0


def of_type(xs, limit):
    last = last_above(xs, limit)
    return 1.0 if isinstance(last, float) else 0.0


def a_list(xs, limit):
    found = None
    if xs[0] < limit:
        found = [xs[1], xs[2]]
    if found is None or xs[1] > limit:
        return -1.0
    return found[0] + found[1]


def told(xs, limit):
    last = last_above(xs, limit)
    return last is None, last


PROGRAMS = [last_above, doubled, of_type, a_list, told]


def outcome(function, *arguments):
    try:
        return function(*arguments)
    except TypeError as error:
        return type(error)


@pytest.mark.parametrize("limit", [1.0, 5.0])
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("backend", ["jax", "tensorflow"])
def test_as_in_python(program, limit, backend):
    pytest.importorskip(backend)
    assert outcome(lsp_ad.staged(program, backend=backend), X, limit) == outcome(program, X, limit)


def test_a_gradient_with_none_in_its_tape():
    pytest.importorskip("jax")

    def largest(x):
        best = None
        for v in x:
            if best is None or v > best:
                best = v * v
        return best * x[0]

    gradient = lsp_ad.grad(largest)
    for x in (np.array([0.3, 0.1, 0.8]), np.array([2.0, 1.0])):
        np.testing.assert_allclose(lsp_ad.staged(gradient, backend="jax")(x), gradient(x), rtol=1e-12)


def test_a_traced_function_has_no_such_result():
    jax = pytest.importorskip("jax")
    with pytest.raises(
        lsp_ad.StagingError, match=r"test_staged_none.py:\d+: the result of `last_above` may be"
    ):
        jax.jit(lsp_ad.staged(last_above))(X, 1.0)
