"""Arrays that stand in lists and dicts, or go through functions of the file, and are written afterwards."""

from __future__ import annotations

import numpy as np
import pytest

import lsp_ad

pytestmark = pytest.mark.row("A7", "A14")
X = np.array([1.0, 2.0, 3.0])


def put(d, u):
    d["k"] = u


def push(xs, u):
    v = u
    xs.append(v)


def push_deeper(xs, u):
    push(xs, u)


def both(u, v):
    return v, u


def nested(u):
    return u.copy(), (u, 2.0)


def either(u, v):
    if v[0] > 0:
        return u, v.copy()
    return v.copy(), u


def part(u):
    return u[1:], u.copy()


def stored(d, u):
    d["k"] = u
    return u * 2.0, d


def in_a_dict_of_the_caller(x):
    d, y = {"k": x}, x * 1.0
    put(d, y)
    y[0] = 4.0
    return y, d["k"]


def in_a_list_of_the_caller(x):
    xs, y = [], x * 1.0
    push_deeper(xs, y)
    y[0] = 4.0
    return y, xs[0]


def as_an_item(x):
    xs, y = [x], x * 1.0
    xs[0] = y
    z = xs[0]
    y[0] = 4.0
    return y, xs[0], z


def as_an_entry(x):
    d, y = {}, x * 1.0
    d["k"] = y
    y[0] = 4.0
    return y, d["k"]


def a_copy_in_an_array(x):
    out, h = np.zeros((3, 3)), x * 1.0
    for t in range(3):
        out[t] = h
        h[t] = h[t] * 3.0
    return out, h


def swapped(x):
    y, q = x * 1.0, x * 3.0
    z, w = both(y, q)
    q[0] = 5.0
    return y, z, w, q


def a_part_of_a_result(x):
    y = x * 1.0
    z, (w, _) = nested(y)
    y[1] = 7.0
    return y, z, w


def picked_by_a_list(x):
    y = x * 1.0
    z = y[[0, 1]]
    w = z
    z[0] = 9.0
    y[1] = 4.0
    w[1] = 2.0
    return y, z, w


def in_a_loop(x):
    y, kept = x * 1.0, []
    for i in range(3):
        _, w = nested(y)
        kept.append(w[0])
        y[i] = 5.0 + i
    return y, *kept


RIGHT = [
    *(in_a_dict_of_the_caller, in_a_list_of_the_caller, as_an_item, as_an_entry, a_copy_in_an_array),
    *(swapped, a_part_of_a_result, picked_by_a_list, in_a_loop),
]


@pytest.mark.parametrize("program", RIGHT)
@pytest.mark.parametrize("backend", ["jax", "tensorflow", "lantern"])
def test_as_in_python(program, backend):
    pytest.importorskip({"lantern": "numba"}.get(backend, backend))
    found = lsp_ad.staged(program, backend=backend)(X)
    for one, other in zip(found, program(X), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def one_of_two_arrays(x):
    y, v = x * 1.0, x * 2.0
    z, w = either(y, v)
    v[0] = 9.0
    return y, z, w, v


def a_part_that_a_callee_returns(x):
    y = x * 1.0
    z, w = part(y)
    y[1] = 7.0
    return y, z, w


def a_dict_that_a_callee_returns(x):
    d, y = {"k": x}, x * 1.0
    z, e = stored(d, y)
    y[0] = 4.0
    return y, z, e["k"]


@pytest.mark.parametrize(
    "program", [one_of_two_arrays, a_part_that_a_callee_returns, a_dict_that_a_callee_returns]
)
def test_right_or_refused(program):
    pytest.importorskip("jax")
    try:
        found = lsp_ad.staged(program, backend="jax")(X)
    except lsp_ad.StagingError as error:
        assert "may share its memory" in str(error)
        return
    for one, other in zip(found, program(X), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


class Holder:
    def __init__(self, u=None):
        self.k = u

    def put(self, u):
        self.k = u


def put_attribute(o, u):
    o.k = u


def an_attribute(x):
    o, y = Holder(), x * 1.0
    o.k = y
    y[0] = 4.0
    return y, o.k


def an_attribute_by_a_callee(x):
    o, y = Holder(), x * 1.0
    put_attribute(o, y)
    y[0] = 4.0
    return y, o.k


def made_with_it(x):
    y = x * 1.0
    o = Holder(y)
    y[0] = 4.0
    return y, o.k


def given_to_a_method(x):
    y, o = x * 1.0, Holder(x)
    o.put(y)
    y[0] = 4.0
    return y, o.k


def by_the_attribute(x):
    o = Holder(x * 1.0)
    z = o.k
    o.k[0] = 5.0
    return z, o.k


def in_a_staged_branch(x):
    o, y = Holder(), x * 1.0
    o.k = y
    if x[0] > 0:
        y[0] = 4.0
    return y, o.k


def in_a_staged_loop(x):
    o, y = Holder(), x * 1.0
    o.k = y
    for i in range(100):
        y[0] = y[0] + i
    return y, o.k


@pytest.mark.parametrize(
    "program", [an_attribute, an_attribute_by_a_callee, made_with_it, given_to_a_method, by_the_attribute]
)
@pytest.mark.parametrize("backend", ["jax", "tensorflow", "lantern"])
def test_objects_that_hold_it(program, backend):
    test_as_in_python(program, backend)


@pytest.mark.parametrize("program", [in_a_staged_branch, in_a_staged_loop])
def test_objects_that_hold_it_in_staged_code(program):
    pytest.importorskip("jax")
    with pytest.raises(
        lsp_ad.StagingError, match=r"test_staged_sharing.py:\d+: `o` has the array .* attribute `k`"
    ):
        lsp_ad.staged(program, backend="jax")(X)


def test_parts_of_several_sizes():
    pytest.importorskip("jax")

    def program(x):
        first, second = np.split(x * 1.0, [1])
        return np.sum(first) * second

    np.testing.assert_allclose(lsp_ad.staged(program, backend="jax")(X), program(X), rtol=1e-12)


def its_tail_in_one_list(x):
    y = x * 1.0
    parts = [y, y[1:]]
    y[1] = 5.0
    return parts[0], parts[1]


def its_tail_by_a_name(x):
    y = x * 1.0
    tail = y[1:]
    parts = [y, tail]
    parts[0][1] = 5.0
    return parts


def its_tail_appended(x):
    y = x * 1.0
    parts = [y]
    parts.append(y[1:])
    parts[0][1] = 5.0
    return parts


def its_transpose_in_one_tuple(x):
    y = np.outer(x, x)
    parts = (y, y.T, y[0])
    y[0, 1] = 5.0
    return parts


def two_apart(x):
    parts = [x * 1.0, x * 2.0]
    parts[0][1] = 5.0
    parts[1][0] -= 1.0
    return parts


@pytest.mark.parametrize("backend", ["jax", "lantern", "tensorflow"])
@pytest.mark.parametrize(
    ("program", "is_view"),
    [
        (its_tail_in_one_list, True),
        (its_tail_by_a_name, True),
        (its_tail_appended, True),
        (its_transpose_in_one_tuple, True),
        (two_apart, False),
    ],
)
def test_a_list_holds_an_array_and_a_view_of_it(program, is_view, backend):
    pytest.importorskip({"lantern": "numba"}.get(backend, backend))
    staged = lsp_ad.staged(program, backend=backend)
    if is_view:
        with pytest.raises(lsp_ad.StagingError, match="may share its memory"):
            staged(X)
        return
    for one, other in zip(staged(X), program(X), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def its_tail_in_an_attribute(x):
    y, box = x * 1.0, Holder(x)
    box.k = y[1:]
    box.k[0] = 9.0
    return y


def its_tail_under_a_key(x):
    d = {"p": x * 1.0}
    d["q"] = d["p"][1:]
    if x[0] > 0:
        d["q"][0] = 9.0
    return d["p"]


def its_tail_as_an_item(x):
    y, parts = x * 1.0, [x, x]
    parts[0] = y[1:]
    parts[0][0] += 9.0
    return y


@pytest.mark.parametrize("backend", ["jax", "lantern"])
@pytest.mark.parametrize("program", [its_tail_in_an_attribute, its_tail_under_a_key, its_tail_as_an_item])
def test_a_view_by_constants_is_put_where_it_is_written(program, backend):
    pytest.importorskip({"lantern": "numba"}.get(backend, backend))
    with pytest.raises(lsp_ad.StagingError, match="is written into here"):
        lsp_ad.staged(program, backend=backend)(X)


def one_of_two_in_an_attribute(x):
    y, box = x * 1.0, Holder(x * 2.0)
    if x[0] > 0:
        box.k = y
    box.k[0] = 9.0
    return y, box.k


def one_of_two_under_a_key(x):
    y, d = x * 1.0, {"k": x * 2.0}
    if x[0] > 0:
        d["k"] = y
    d["k"][0] = 9.0
    return y, d["k"]


@pytest.mark.parametrize("backend", ["jax", "lantern"])
@pytest.mark.parametrize("program", [one_of_two_in_an_attribute, one_of_two_under_a_key])
def test_what_a_branch_chooses_is_one_of_two_arrays(program, backend):
    pytest.importorskip({"lantern": "numba"}.get(backend, backend))
    with pytest.raises(lsp_ad.StagingError, match="may share its memory"):
        lsp_ad.staged(program, backend=backend)(X)
