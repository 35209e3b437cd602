"""Second derivatives of all programs: each one in one of the four orders of two modes."""

from __future__ import annotations

import copy
import importlib
import pkgutil
import zlib

import numpy as np
import pytest

from tests import oracle
from tests.differentiate import programs

pytestmark = pytest.mark.row("T20")

ORDERS = (("vjp", "vjp"), ("vjp", "jvp"), ("jvp", "vjp"), ("jvp", "jvp"))
MODULES = [m.name for m in pkgutil.iter_modules(programs.__path__) if m.name not in ("case", "everything")]
PROGRAMS = [
    c for m in MODULES for c in importlib.import_module(f"{programs.__name__}.{m}").CASES if c.is_first
]
# In generated code the kinds of lists and of their items are not known: these take every order.
EVERY_ORDER = {
    "a list that a loop binds anew, longer than the one before it",
    "the last of a list, or a number where it is empty",
    "a list of weights, iterated, input 1",
    "a match in a loop, input 1",
    "layers list of dicts",
    "layers all but last",
    "nested dict of lists",
    "zip of slices, input 1",
    "a list that grows in a loop over its first length",
    "layers by their names",
    "None until there is a value",
    "starred rest of a param, input 1",
    "a walrus in a while with continue and else, input 1",
    "a system of equations with complex coefficients, input 1",
    "LU in place, with the row of the pivot under a name",
    "a table of numbers, filled row by row",
}
CASES = [
    (p, order)
    for p in PROGRAMS
    for order in (ORDERS if p.name in EVERY_ORDER else [ORDERS[zlib.crc32(p.name.encode()) % 4]])
]


def inner(program, mode: str):
    """(the first derivative, the file with it, arguments for it)."""
    derivative, text = oracle.generate(program.source, "f", program.wrt, mode)
    f = oracle.run(text)["f"]
    names = f.__code__.co_varnames[: f.__code__.co_argcount]
    args = list(copy.deepcopy(program.args))
    missing = len(names) - len(args)
    args += (f.__defaults__ or ())[len(f.__defaults__ or ()) - missing :] if missing else ()
    rng = np.random.default_rng(1)
    if mode == "vjp":
        more = [oracle.random_like(f(*copy.deepcopy(args)), rng)]
    else:
        more = [oracle.random_like(args[names.index(p)], rng) for p in derivative.wrt]
    return derivative, text, [*args, *more]


@pytest.mark.parametrize(("program", "order"), CASES, ids=[f"{p.name}, {of} of {a}" for p, (a, of) in CASES])
def test_second_derivatives_are_right_or_refused(program, order):
    first, second = order
    try:
        derivative, text, args = inner(program, first)
        wrt = list(derivative.wrt)
        if second == "vjp":
            oracle.assert_gradient(
                text, *args, name=derivative.name, wrt=wrt, tolerance=1e-5, directions=1, all_modes=False
            )
        else:
            oracle.assert_jvp(text, *args, name=derivative.name, wrt=wrt, tolerance=1e-5)
    except oracle.Refused as refused:
        pytest.skip(str(refused.args[0]))
