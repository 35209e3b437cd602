"""What code that is traced changes besides its variables: right, reported, or an error that names it."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass

import numpy as np
import pytest

import lsp_ad
from lsp_ad.staging import decisions
from tests.staging.test_staged_programs import assert_equal

pytest.importorskip("jax")
pytestmark = pytest.mark.row("A14")
X = np.array([1.0, -2.0, 3.0])
LOG: list = []
COUNTER = 0


class Model:
    def __init__(self):
        self.total = 0.0
        self.seen = []

    def add(self, x):
        self.total = self.total + x


MODEL = Model()


@dataclass
class Point:
    x: float
    y: float


def nonlocal_of_a_nested_function(x):
    count = 0

    def step():
        nonlocal count
        count = count + 1

    for v in x:
        if v > 0:
            step()
    return count


def cell_of_a_list(x):
    count = [0]
    for v in x:
        if v > 0:
            count[0] += 1
    return count[0]


def attribute_in_a_loop(x):
    model = Model()
    for v in x:
        model.total = model.total + v
    return model.total


def made_in_the_body(x):
    total = 0.0
    for v in x:
        parts = []
        parts.append(v)
        parts.append(v * v)
        found = {"sum": parts[0] + parts[1]}
        found["twice"] = 2.0 * found["sum"]
        model = Model()
        model.add(found["twice"])
        total = total + model.total
    return total


def dataclass_in_a_loop(x):
    p = Point(0.0, 1.0)
    for v in x:
        p.x = p.x + v
        p = Point(p.x, p.y * 0.5)
    return p.x + p.y


@pytest.mark.parametrize(
    "program",
    [
        nonlocal_of_a_nested_function,
        cell_of_a_list,
        attribute_in_a_loop,
        made_in_the_body,
        dataclass_in_a_loop,
    ],
)
def test_right(program):
    assert_equal(lsp_ad.staged(program, backend="jax")(X), program(X))


def changed_by_a_helper(x):
    def note(items, v):
        items.append(v)

    seen = []
    for v in x:
        note(seen, v)
    return len(seen)


def changed_by_a_method(x):
    model = Model()
    for v in x:
        model.add(v)
    return model.total


def changed_under_another_name(x):
    seen = []
    pair = (seen, 1)
    for v in x:
        pair[0].append(v)
    return len(seen)


def counter_of_a_closure(x):
    def counter():
        n = 0

        def inc():
            nonlocal n
            n = n + 1
            return n

        return inc

    inc = counter()
    last = 0
    for _ in x:
        last = inc()
    return last


def global_by_a_helper(x):
    for _ in x:
        count_up()
    return COUNTER


def count_up():
    global COUNTER
    COUNTER = COUNTER + 1


def list_of_the_module(x):
    for _ in x:
        LOG.append(1)
    return x


def in_a_branch(x):
    def note(items):
        items.append(1)

    seen = []
    if x[0] > 0:
        note(seen)
    return len(seen)


@pytest.mark.parametrize(
    ("program", "name", "construct"),
    [
        (changed_by_a_helper, "seen", "for"),
        (changed_by_a_method, "model.total", "for"),
        (changed_under_another_name, "", "for"),
        (counter_of_a_closure, "n", "for"),
        (global_by_a_helper, "COUNTER", "for"),
        (list_of_the_module, "LOG", "for"),
        (in_a_branch, "seen", "if"),
    ],
)
def test_changes_that_a_staged_body_hides(program, name, construct):
    with pytest.raises(lsp_ad.StagingError) as error:
        lsp_ad.staged(program, backend="jax")(X)
    assert f"test_staged_effects.py:{line_of(program, construct)}: `{name}" in str(error.value)
    assert LOG == [] and COUNTER == 0


def line_of(program, construct):
    import inspect

    lines, start = inspect.getsourcelines(program)
    found = [i for i, line in enumerate(lines) if line.lstrip().startswith(construct + " ")]
    return start + found[-1]


def leak_into_a_list(x):
    LOG.append(x)
    return x


def leak_into_an_object(x):
    MODEL.total = x[0]
    return x


def leak_by_a_method(x):
    MODEL.add(x[0])
    return x


def leak_into_a_global(x):
    global COUNTER
    COUNTER = x[0]
    return x


def leak_into_a_global_in_a_branch(x):
    global COUNTER
    if x[0] > 0:
        COUNTER = x[0]
    return x


@pytest.mark.parametrize(
    ("program", "name"),
    [
        (leak_into_a_list, "LOG"),
        (leak_into_an_object, "MODEL.total"),
        (leak_by_a_method, "MODEL.total"),
        (leak_into_a_global, "COUNTER"),
        (leak_into_a_global_in_a_branch, "COUNTER"),
    ],
)
def test_leaks(program, name):
    with pytest.raises(lsp_ad.StagingError) as error:
        lsp_ad.staged(program, backend="jax")(X)
    assert f"`{name}`" in str(error.value) and program.__name__ in str(error.value)
    assert LOG == [] and MODEL.total == 0.0 and COUNTER == 0


def appended(items, x):
    items.append(x)
    return x


def entry(settings, x):
    settings["x"] = x[0]
    return x


def field(point, x):
    point.x = x[0]
    return x


@pytest.mark.parametrize(
    ("program", "given"), [(appended, []), (entry, {"x": 1.0}), (field, Point(1.0, 2.0))]
)
def test_arguments_that_change(program, given):
    with pytest.raises(lsp_ad.StagingError, match=program.__name__):
        lsp_ad.staged(program, backend="jax")(given, X)


def frozen(x):
    noise = random.random() + np.random.normal() + np.random.default_rng(0).normal()
    start = time.time()
    if x[0] > 0:
        x = x + noise * 0.0
    return x + start * 0.0


def counts(x):
    count_up()
    return x


def test_what_happens_when_tracing_is_reported():
    global COUNTER
    report = lsp_ad.staging_report(frozen, X, backend="jax")
    found = {d.subject for d in report.of(decisions.EFFECT)}
    assert found >= {"random", "time"}
    report = lsp_ad.staging_report(counts, X, backend="jax")
    assert "COUNTER" in {d.subject for d in report.of(decisions.EFFECT)}
    COUNTER = 0


def _put(found, key, value):
    found[key] = value


@pytest.mark.parametrize("backend", ["jax", "lantern"])
def test_what_a_callee_does_to_a_list_or_a_dict(backend):
    def run(x):
        items, table = [x, x], {}
        _put(items, 0, x + 1.0)
        _put(table, "k", x * 2.0)
        return items[0] + table["k"]

    assert lsp_ad.staged(run, backend=backend)(1.5) == run(1.5)
