"""Assignments of all kinds, and conditions that bind names."""

from __future__ import annotations

from .expressions import atom, smaller, test_simple, value
from .writer import NUMBER, SHAPES, Writer


def tame(w: Writer, text: str) -> str:
    """In a loop a value that is computed from itself is kept from growing, most of the time."""
    return f"{w.pick(['np.tanh', 'np.sin', '0.5 * np.cos'])}({text})" if w.in_loop and w.chance(60) else text


def assignment(w: Writer) -> None:
    shape = w.pick([*SHAPES, NUMBER, (4,)])
    text = tame(w, value(w, shape))
    target = w.target(shape)
    w.line(f"{target} = {text}")
    w.scope.values[target] = shape


def augmented(w: Writer) -> None:
    """A name, made a moment before where it is an array, and changed by an operator."""
    shape = w.pick([s for s in SHAPES if w.assignable(s)] or [NUMBER])
    targets = w.assignable(shape)
    if not targets:
        return assignment(w)
    target = w.pick(targets)
    operator = w.pick(["+=", "-=", "*=", "/="])
    other = value(w, smaller(w, shape), 1)
    w.line(f"{target} {operator} {f'1.5 + {other} ** 2' if operator == '/=' else tame(w, other)}")


def several(w: Writer) -> None:
    shape = w.pick([NUMBER, (4,), (3,)])
    names = w.assignable(shape)
    if len(names) < 2:
        return assignment(w)
    u, v = names[w.below(len(names))], names[w.below(len(names))]
    if u == v:
        u, v = names[0], names[1]
    w.line(f"{u}, {v} = {v}, {tame(w, value(w, shape, 1))}")


def chained(w: Writer) -> None:
    u, v = w.fresh("s"), w.fresh("s")
    w.line(f"{u} = {v} = {value(w, NUMBER)}")
    w.scope.values |= {u: NUMBER, v: NUMBER}


def unpacked(w: Writer) -> None:
    u, v, t = w.fresh("s"), w.fresh("s"), w.fresh("s")
    w.line(
        w.pick(
            [
                f"{u}, {v}, {t} = {value(w, (3,))}",
                f"{u}, ({v}, {t}) = {atom(w, NUMBER)}, ({value(w, NUMBER)}, {value(w, NUMBER)})",
            ]
        )
    )
    w.scope.values |= {u: NUMBER, v: NUMBER, t: NUMBER}


def named(w: Writer) -> None:
    """A condition that binds a name by the way."""
    u = w.fresh("s")
    target = w.target(NUMBER)
    w.line(f"if ({u} := {value(w, NUMBER, 1)}) > {w.constant()}:")
    w.line(f"    {target} = {u} * {atom(w, NUMBER)}")
    w.line("else:")
    w.line(f"    {target} = {value(w, NUMBER, 1)}")
    w.scope.values |= {u: NUMBER, target: NUMBER}


def other_shape(w: Writer) -> None:
    """A name that holds an array on one path and a number on the other."""
    u, y = w.fresh("s"), w.fresh("v")
    w.line(f"{u} = {value(w, NUMBER)}")
    w.line(f"if {test_simple(w)}:")
    w.line(f"    {u} = {value(w, (4,), 1)}")
    w.line(f"{y} = np.sin({u}) * {atom(w, (4,))}")
    w.scope.values[y] = (4,)


def rebound(w: Writer) -> None:
    """A name bound again to a value of another shape."""
    y, shape = w.fresh("v"), w.pick(SHAPES)
    w.line(f"{y} = {value(w, (4,))}")
    w.line(f"{y} = {w.pick(['np.sum', 'np.mean'])}({y}) * {value(w, shape, 1)}")
    w.scope.values[y] = shape


STATEMENTS = [
    assignment,
    assignment,
    assignment,
    augmented,
    several,
    chained,
    unpacked,
    named,
    other_shape,
    rebound,
]
