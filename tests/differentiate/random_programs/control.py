"""Branches, loops, jumps, `try` and `with`."""

from __future__ import annotations

from collections.abc import Callable

from .expressions import atom, test, value
from .straight import assignment, tame
from .writer import NUMBER, Writer

Body = Callable[[Writer, int], None]


def branch(w: Writer, body: Body) -> None:
    with w.block(f"if {test(w)}:"):
        body(w, 1 + w.below(2))
    if w.chance(25):
        with w.block(f"elif {test(w)}:"):
            body(w, 1)
    if w.chance(60):
        with w.block("else:"):
            body(w, 1 + w.below(2))


def both_ways(w: Writer, body: Body) -> None:
    """A name that both branches bind for the first time."""
    target, shape = w.fresh("v"), w.pick([NUMBER, (4,), (3, 4)])
    with w.block(f"if {test(w)}:"):
        body(w, w.below(2))
        w.line(f"{target} = {value(w, shape)}")
    with w.block("else:"):
        w.line(f"{target} = {value(w, shape)}")
    w.scope.values[target] = shape


def header(w: Writer) -> tuple[str, dict, list[str]]:
    """The head of a `for`, the kinds of the names that it binds, and its counters."""
    i, e, g = w.fresh("i"), w.fresh("e"), w.fresh("e")
    vector = w.pick([(4,), (3,)])
    which = w.below(9)
    if which <= 2:
        return f"for {i} in range({w.pick(['3', 'n', '2', '1, 4', '3, 0, -1', '0'])}):", {}, [i]
    if which == 3:
        return f"for {e} in {w.pick(['', 'reversed'])}({atom(w, vector)}):", {e: NUMBER}, []
    if which == 4:
        return f"for {i}, {e} in enumerate({value(w, vector, 1)}):", {e: NUMBER}, [i]
    if which == 5:
        return (
            f"for {e}, {g} in zip({value(w, (4,), 1)}, {atom(w, vector)}{w.pick(['', '[::-1]'])}):",
            {e: NUMBER, g: NUMBER},
            [],
        )
    if which == 6:
        return (
            f"for {i}, ({e}, {g}) in enumerate(zip({value(w, (3, 4), 1)}, {atom(w, (3,))})):",
            {e: (4,), g: NUMBER},
            [i],
        )
    if which == 7:
        return f"for {e} in {value(w, (3, 4), 1)}:", {e: (4,)}, []
    fitting = [(n, s) for n, (s, _) in w.scope.lists.items()]
    if fitting:
        name, shape = w.pick(fitting)
        w.fixed.add(name)
        return f"for {e} in {name}:", {e: shape}, []
    return f"for {e} in ({value(w, NUMBER, 1)}, {value(w, NUMBER, 1)}):", {e: NUMBER}, []


def loop(w: Writer, body: Body) -> None:
    fixed = set(w.fixed)
    text, values, counters = header(w)
    with w.block(text, loop=True):
        w.scope.values |= values
        w.scope.counters += counters
        w.fixed |= set(values)
        body(w, 1 + w.below(3))
        if w.chance(25):
            jump(w)
    w.fixed = fixed
    ending(w)


def ending(w: Writer) -> None:
    if w.chance(12):
        with w.block("else:"):
            target = w.target(NUMBER)
            w.line(f"{target} = {value(w, NUMBER)}")


def while_loop(w: Writer, body: Body) -> None:
    i = w.fresh("i")
    w.line(f"{i} = 0")
    endless = w.chance(25)
    head = "while True:" if endless else f"while {i} < 3{w.pick(['', f' and {atom(w, NUMBER)} < 3.0'])}:"
    with w.block(head, loop=True):
        w.line(f"{i} += 1")
        w.scope.counters.append(i)
        w.fixed.add(i)
        if endless:
            w.line(f"if {i} > 3{w.pick(['', f' or {atom(w, NUMBER)} > 2.0'])}:")
            w.line("    break")
        body(w, 1 + w.below(2))
        if w.chance(25):
            jump(w)
    if not endless:
        ending(w)


def jump(w: Writer) -> None:
    how = w.pick(["break", "continue", "return"])
    w.line(f"if {test(w)}:")
    if w.chance(40):
        target = w.pick(w.assignable(NUMBER) or [w.fresh("s")])
        w.line(f"    {target} = {value(w, NUMBER, 1)}")
    w.line(f"    {how}" if how != "return" else f"    return {value(w, w.kind_of_result, 1)}")
    target = w.target(NUMBER)
    w.line(f"{target} = {tame(w, value(w, NUMBER, 1))}")
    w.scope.values[target] = NUMBER


def early(w: Writer, body: Body) -> None:
    w.line(f"if {test(w)}:")
    w.line(f"    return {value(w, w.kind_of_result, 1)}")


def attempt(w: Writer, body: Body) -> None:
    """`try`, with a statement that may raise where a counter decides."""
    target, at = w.fresh("s"), w.pick(["1", "5", *w.scope.counters])
    with w.block("try:"):
        body(w, w.below(2))
        w.line(f"{target} = {atom(w, (4,))}[{at}] * {value(w, NUMBER, 1)}")
    with w.block("except IndexError:"):
        w.line(f"{target} = {value(w, NUMBER, 1)}")
    if w.chance(5):
        with w.block("finally:"):
            assignment(w)
    w.scope.values[target] = NUMBER


def with_errstate(w: Writer, body: Body) -> None:
    with w.block('with np.errstate(divide="ignore"):'):
        body(w, 1)


def accumulation(w: Writer, body: Body) -> None:
    target, i = w.fresh("s"), w.fresh("i")
    shape = w.pick([NUMBER, (4,)])
    w.line(f"{target} = {w.pick(['0.0', '1.0', '0']) if shape == NUMBER else 'np.zeros(4)'}")
    with w.block(f"for {i} in range({w.pick(['n', '3'])}):", loop=True):
        w.scope.counters.append(i)
        body(w, w.below(2))
        w.line(f"{target} {w.pick(['+=', '-='])} {value(w, shape, 1)} * {w.pick([i, '0.5'])}")
    w.scope.values[target] = shape


BLOCKS = [
    branch,
    loop,
    loop,
    both_ways,
    while_loop,
    accumulation,
    accumulation,
    attempt,
    with_errstate,
    early,
]
