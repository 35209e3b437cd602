"""Arrays that lists, dicts and objects have in them, written under one name and read under another."""

from __future__ import annotations

import collections
import dataclasses

import numpy as np
import pytest

import lsp_ad

X = np.array([1.0, 2.0, 3.0])


class Box:
    def __init__(self, a=None):
        self.a = a

    def put(self, a):
        self.a = a


@dataclasses.dataclass
class Twice:
    a: object
    b: object


def repeated_list(x):
    a = x * 1.0
    items = [a] * 2
    items[1][0] = 9.0
    return a, items[0] * 1.0


def sum_of_lists(x):
    a = x * 1.0
    items = [x * 2.0] + [a]  # noqa: RUF005
    a[1] = 8.0
    return a, items[1] * 1.0


def sum_of_a_named_list(x):
    a = x * 1.0
    first = [a]
    items = first + [x]  # noqa: RUF005
    items[0][1] = 8.0
    return a, first[0] * 1.0


def augmented_list(x):
    a = x * 1.0
    items = [x * 2.0]
    items += [a]
    a[1] = 8.0
    return a, items[1] * 1.0


def copied_list(x):
    a = x * 1.0
    items = [a]
    other = items.copy()
    a[1] = 8.0
    return a, other[0] * 1.0


def merged_dicts(x):
    a = x * 1.0
    first = {"k": a}
    both = first | {"z": x}
    both["k"][0] = 9.0
    return a, first["k"] * 1.0


def put_into_a_dict(x):
    a = x * 1.0
    d = {}
    d["k"] = a
    d["k"][0] = 9.0
    return a, d["k"] * 1.0


def updated_dict(x):
    a = x * 1.0
    d = {}
    d.update(k=a)
    d["k"][:2] += x[2]
    return a, d["k"] * 1.0


def put_into_an_attribute(x):
    a = x * 1.0
    box = Box(x * 2.0)
    if x[0] > 0:
        box.a = a
        box.a[0] = 9.0
    return a, box.a * 1.0


def put_by_a_method(x):
    a = x * 1.0
    box = Box()
    box.put(a)
    box.a[0] = 9.0
    return a, box.a * 1.0


def read_from_an_attribute(x):
    a = x * 1.0
    box = Box()
    box.a = a
    row = box.a
    row[0] = 9.0
    return a, box.a * 1.0


def put_by_setattr(x):
    a = x * 1.0
    box = Box()
    setattr(box, "a", a)  # noqa: B010
    a[0] = 9.0
    return a, box.a * 1.0


def picked_by_a_key(x):
    a = x * 1.0
    best = max([a], key=lambda v: 1)
    best[0] = 9.0
    return a, best * 1.0


def given_by_a_lambda(x):
    a = x * 1.0
    give = lambda: a  # noqa: E731
    row = give()
    row[0] = 9.0
    return a, row * 1.0


RIGHT = [
    *(repeated_list, sum_of_lists, sum_of_a_named_list, augmented_list, copied_list, merged_dicts),
    *(put_into_a_dict, updated_dict, put_by_a_method, read_from_an_attribute, put_by_setattr),
    *(picked_by_a_key, given_by_a_lambda, put_into_an_attribute),
]


def twice_in_an_object(x):
    y = x * 1.0
    both = Twice(y, y)
    if x[0] > 0:
        both.b[0] = 9.0
    return both.a * 1.0, both.b * 1.0


def twice_in_a_dict(x):
    d = {"p": x * 1.0}
    d["q"] = d["p"]
    d["q"][0] = 9.0
    return d["p"] * 1.0


def in_a_defaultdict(x):
    a = x * 1.0
    d = collections.defaultdict(list)
    d[0].append(a)
    a[0] = 9.0
    return d[0][0] * 1.0


@pytest.mark.parametrize("program", RIGHT)
@pytest.mark.parametrize("backend", ["jax", "tensorflow"])
def test_as_in_python(program, backend):
    pytest.importorskip(backend)
    try:
        found = lsp_ad.staged(program, backend=backend)(X)
    except lsp_ad.staging.errors.StagingError as refused:
        assert program is put_into_an_attribute, refused
        return
    for one, other in zip(found, program(X), strict=True):
        np.testing.assert_allclose(one, other)


@pytest.mark.parametrize("program", [twice_in_an_object, twice_in_a_dict, in_a_defaultdict])
@pytest.mark.parametrize("backend", ["jax", "tensorflow"])
def test_what_is_refused(program, backend):
    pytest.importorskip(backend)
    with pytest.raises(lsp_ad.staging.errors.StagingError, match=r"twice|share its memory"):
        lsp_ad.staged(program, backend=backend)(X)


def greatest_or_default(x):
    return max(x[x > 10.0], default=-1.0)


def test_the_default_of_max_is_no_silence():
    pytest.importorskip("tensorflow")
    with pytest.raises(lsp_ad.staging.errors.StagingError, match="`default`"):
        lsp_ad.staged(greatest_or_default, backend="tensorflow")(X)
