"""The printed text of converted functions runs, and reads as one would write it."""

from __future__ import annotations

import contextlib
import math

import numpy as np
import pytest

import lsp_ad
from tests.staging.programs import PROGRAMS

pytestmark = pytest.mark.row("A1")


def executed(function):
    """What the printed text defines, in the namespace of the function."""
    namespace = dict(function.__globals__)
    text = lsp_ad.to_code(function)
    exec(compile(text, "<printed>", "exec"), namespace)
    return namespace[function.__name__]


@pytest.mark.parametrize("case", PROGRAMS, ids=lambda case: case[0].__name__)
def test_programs(case):
    function, several = case
    made = executed(function)
    for arguments in several:
        copies = [np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments]
        for one, other in zip(_flat(made(*copies)), _flat(function(*arguments)), strict=True):
            np.testing.assert_allclose(one, other)


def _flat(value):
    return [v for part in value for v in _flat(part)] if isinstance(value, (list, tuple)) else [value]


def sample(x, steps: int = 3, *, scale=1.0):
    """Steps."""
    # the start
    total = 0.0  # the sum
    with contextlib.nullcontext(scale) as s:
        if x > 0:  # positive
            total = total + s * x
    try:
        for i in range(steps):
            # only even ones
            if i % 2:
                continue
            total += x * i  # add
    finally:
        total = total + 1.0
    return total


def test_text():
    assert (
        lsp_ad.to_code(sample).split("\n", 1)[1]
        == '''from lsp_ad.staging import operators as ag


def sample(x, steps: int=3, *, scale=1.0):
    """Steps."""
    # the start
    total = 0.0  # the sum
    with ag.call(contextlib.nullcontext)(scale) as s:
        def get_state():
            return (total,)
        def set_state(values):
            nonlocal total
            (total,) = values
        def if_body():
            nonlocal total
            total = total + s * x
        ag.if_(x > 0, if_body, lambda: None, ag.State("total", get_state, set_state, 1, ("total",)))  # positive
    try:
        def get_state_2():
            return (total,)
        def set_state_2(values):
            nonlocal total
            (total,) = values
        def loop_body(i):
            nonlocal total
            # only even ones
            def get_state_3():
                return (total,)
            def set_state_3(values):
                nonlocal total
                (total,) = values
            def else_body():
                nonlocal total
                total = ag.update(total, "+", x * i)  # add
            ag.if_(i % 2, lambda: None, else_body, ag.State("total", get_state_3, set_state_3, 1, ("total",)))
        ag.for_(ag.range(steps), loop_body, ag.State("total", get_state_2, set_state_2, 1, ("total",)))
    finally:
        total = total + 1.0
    return total
'''
    )
    for x in (1.0, -1.0):
        assert executed(sample)(x, 4, scale=2.0) == sample(x, 4, scale=2.0)


def plain(x, y):
    z = np.sin(x) * y  # nothing to decide
    return z, math.pi


def test_code_without_constructs_stays():
    assert lsp_ad.to_code(plain).endswith(
        "def plain(x, y):\n    z = ag.call(np.sin)(x) * y  # nothing to decide\n    return (z, math.pi)\n"
    )


def names_of_the_compiler(given, value, item, old, ag, get_state):
    values = list(given)
    if value > 0:
        values[0] = values[0] + item
        values[1] += old
    return values[0] + values[1] + ag + get_state


def test_names_that_the_user_has_taken():
    arguments = (2.0, 3.0, 4.0, 5.0, 6.0)
    expected = names_of_the_compiler([1.0, 2.0], *arguments)
    assert executed(names_of_the_compiler)([1.0, 2.0], *arguments) == expected
    pytest.importorskip("jax")
    assert lsp_ad.staged(names_of_the_compiler, backend="jax")([1.0, 2.0], *arguments) == expected
