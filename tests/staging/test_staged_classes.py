"""Methods that Python calls by itself, for operators, properties and `with`, are converted in a trace."""

from __future__ import annotations

import re

import numpy as np
import pytest

import lsp_ad
from tests.staging import class_programs
from tests.staging.class_programs import CLASSES, Pair
from tests.staging.test_staged_programs import assert_equal, compiled

pytestmark = pytest.mark.row("A2", "A7")
CASES = [
    pytest.param(function, arguments, id=f"{function.__name__}-{number}")
    for function, several in CLASSES
    for number, arguments in enumerate(several)
]


@pytest.mark.parametrize("backend", ["python", "jax", "lantern"])
@pytest.mark.parametrize(("function", "arguments"), CASES)
def test_equal(function, arguments, backend):
    assert_equal(compiled(function, backend)(*arguments), function(*arguments))


def test_the_classes_are_as_they_were():
    kinds = [kind for kind in vars(class_programs).values() if isinstance(kind, type)]
    before = [dict(vars(kind)) for kind in kinds]
    seen = []

    def looks(x):
        made = (Pair(x, x) + x).x
        seen.append(Pair.__add__)
        return made

    compiled(looks, "jax")(1.0)
    assert seen[0] is not Pair.__add__
    assert [dict(vars(kind)) for kind in kinds] == before


def test_they_are_as_they_were_after_an_error():
    own = Pair.__add__

    def fails(x):
        return (Pair(x, x) + "a").x

    with pytest.raises(TypeError):
        compiled(fails, "jax")(1.0)
    assert Pair.__add__ is own


def failing(function, *arguments, backend="jax"):
    with pytest.raises(lsp_ad.StagingError) as raised:
        compiled(function, backend)(*arguments)
    return re.sub(r"^.*?\.py", "", str(raised.value))


def test_objects_that_depend_on_staged_values():
    def chosen(x):
        v = Pair(x, x)
        if x > 0:
            v = Pair(x, 1.0)
        return v.x

    line = chosen.__code__.co_firstlineno + 2
    assert failing(chosen, 1.0) == (
        f":{line}: `v` is a Pair in one branch, another Pair in the other. Make `Pair` a dataclass or a NamedTuple, or"
        " change the attributes of one object."
    )


class Buffer:
    def __init__(self, data):
        self.data = data

    def __setitem__(self, index, value):
        self.data[index] = value if value > 0 else 0.0


def test_arrays_that_a_method_writes_into():
    def shared(x):
        data = x * 1.0
        buffer = Buffer(data)
        buffer[0] = x[1]
        return data[0]

    assert "`__setitem__`, which an operator or a property calls here, writes" in failing(shared, np.ones(3))


def test_marked_classes_are_left_alone():
    @lsp_ad.do_not_convert
    class Marked:
        def __init__(self, v):
            self.v = v

        def __neg__(self):
            return self.v if self.v > 0 else 0.0

    def negates(x):
        return -Marked(x)

    assert "Marked.__neg__` runs unconverted" in failing(negates, 1.0)
