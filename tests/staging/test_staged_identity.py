"""Several names for one list, dict or object, under staged conditions: right, or refused."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

import lsp_ad
from tests.staging.test_staged_programs import assert_equal

pytestmark = pytest.mark.row("A3", "A4", "A8")
pytest.importorskip("jax")


@dataclass
class Cell:
    x: float


def changed_under_one_name(a):
    w = xs = [1.0]
    if a > 0:
        xs[0] = 2.0
    return w[0]


def given_another_list(a):
    w = xs = [1.0]
    if a > 0:
        xs = [2.0]
    return w[0], xs[0]


def given_another_dict(a):
    w = table = {"k": 1.0}
    if a > 0:
        table = {"k": 2.0}
    return w["k"], table["k"]


def given_another_in_a_loop(a):
    w = xs = [1.0]
    i = 0
    while a * i < 3 and i < 5:
        xs = [xs[0] + a]
        i += 1
    return w[0], xs[0]


def shared_inside(a):
    xs = [1.0]
    pair = [xs, xs]
    for i in range(3):
        if a > i:
            pair[0][0] = pair[0][0] + 3.0
    return xs[0] + pair[1][0]


def exchanged(a):
    xs, ys = [1.0], [2.0]
    zs = xs
    if a > 0:
        xs, ys = ys, xs
    return zs[0], ys[0], xs[0]


def the_same_either_way(a):
    xs = [1.0]
    if a > 0:
        ys = xs
    else:
        ys = xs
    ys[0] = 4.0
    return xs[0]


def chosen_and_read(a):
    xs, ys = [1.0], [2.0]
    zs = xs if a > 0 else ys
    return zs[0] + xs[0]


def sole_list(a):
    xs = [1.0]
    if a > 0:
        xs = [2.0]
    xs[0] = xs[0] + 1.0
    return xs[0]


def sole_object(a):
    cell = Cell(1.0)
    while cell.x < 3 * a:
        cell = Cell(cell.x + 1.0)
    cell.x = 2.0 * cell.x
    return cell.x


RIGHT = [
    changed_under_one_name,
    given_another_list,
    given_another_dict,
    given_another_in_a_loop,
    shared_inside,
    exchanged,
    the_same_either_way,
    chosen_and_read,
    sole_list,
    sole_object,
]


@pytest.mark.parametrize("backend", ["jax", "lantern"])
@pytest.mark.parametrize("function", RIGHT)
@pytest.mark.parametrize("a", [1.0, -1.0])
def test_right(function, a, backend):
    pytest.importorskip({"lantern": "numba"}.get(backend, backend))
    assert_equal(lsp_ad.staged(function, backend=backend)(a), function(a))


def chosen_and_changed(a):
    xs, ys = [1.0], [2.0]
    zs = xs if a > 0 else ys
    zs[0] = 10.0
    return xs[0], ys[0]


def another_object_and_changed(a):
    w = cell = Cell(1.0)
    if a > 0:
        cell = Cell(2.0)
    cell.x = 5.0
    return w.x


def changed_or_another(a):
    w = cell = Cell(1.0)
    if a > 0:
        cell = Cell(2.0)
    else:
        cell.x = 7.0
    return w.x


def read_under_another_name(a):
    w = xs = [1.0]
    y = 0.0
    if a > 0:
        xs[0] = 2.0
        y = w[0]
    return y


def appended_under_one_name(a):
    xs = [1.0]
    table = {"l": xs}
    if a > 0:
        xs.append(2.0)
    return len(table["l"]) * a


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (chosen_and_changed, "is one of several lists here, by a staged value"),
        (another_object_and_changed, "is one of several objects of `Cell` here, by a staged value"),
        (
            changed_or_another,
            "`cell` stands for is changed in a staged `if`, in which `cell` is given another",
        ),
        (read_under_another_name, "`w` and `xs` stand for the same list"),
        (appended_under_one_name, "This list has become a staged one"),
    ],
)
def test_refused(function, message):
    with pytest.raises(lsp_ad.StagingError) as raised:
        lsp_ad.staged(function, backend="jax")(1.0)
    assert message in str(raised.value)


def one_list_under_two_names(x):
    d = {"a": [x, 2.0 * x]}
    e = d["a"]
    while e[0] < 10:
        d["a"][0] = d["a"][0] + 1.0
        d["a"][1] = e[0]
    e[1] = e[1] + 1.0
    return d["a"][0], d["a"][1]


def one_growing_list_under_two_names(x):
    xs = ys = [x]
    for _ in range(100):
        xs.append(x)
        ys[0] = ys[0] + 1.0
    ys.append(2.0)
    return xs[0], len(xs), xs[101]


@pytest.mark.parametrize("program", [one_list_under_two_names, one_growing_list_under_two_names])
@pytest.mark.parametrize("backend", ["jax", "tensorflow", "lantern"])
def test_one_list_under_two_names_in_a_loop(program, backend):
    pytest.importorskip({"lantern": "numba"}.get(backend, backend))
    assert lsp_ad.staged(program, backend=backend)(1.0) == program(1.0)


def test_two_lists_that_were_one():
    def program(x):
        xs = ys = [x, x]
        while ys[0] < 10:
            xs[0] = xs[0] + 1.0
            ys = [xs[0], ys[1]]
        return xs[0], ys[0]

    pytest.importorskip("jax")
    with pytest.raises(lsp_ad.StagingError, match=r"test_staged_identity.py:\d+: .*(one list|another value)"):
        lsp_ad.staged(program, backend="jax")(1.0)
