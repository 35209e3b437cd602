"""Writes into arrays: by index, slice and mask, through views, by functions of NumPy and of the file."""

from __future__ import annotations

from .expressions import atom, index, smaller, value
from .straight import assignment, tame
from .writer import NUMBER, Shape, Writer

ARRAYS: list[Shape] = [(4,), (3,), (3, 4)]


def written(w: Writer) -> tuple[str, Shape]:
    """A name of an array to write into, most often one made for it."""
    shape = w.pick(ARRAYS)
    names = w.assignable(shape)
    if names and w.chance(55):
        return w.pick(names), shape
    name = w.fresh("v")
    made = [
        f"np.sin({atom(w, shape)})",
        f"{atom(w, shape)}.copy()",
        f"np.zeros({shape if len(shape) > 1 else shape[0]})",
        f"{value(w, shape, 1)} * 1.0",
    ]
    w.line(f"{name} = {w.pick(made)}")
    w.scope.values[name] = shape
    return name, shape


def part(w: Writer, shape: Shape) -> tuple[str, str, Shape]:
    """A part of an array: its index, an index of a like part, and its shape (that of an expression that fits)."""
    if shape == (4,):
        return w.pick(
            [
                ("1:", ":-1", (3,)),
                ("1:-1", "2:", NUMBER),
                ("::2", "1::2", NUMBER),
                ("::-1", ":", (4,)),
                ("[0, 2, 3]", "[1, 1, 0]", (3,)),
                (":", "::-1", (4,)),
            ]
        )
    if shape == (3,):
        return w.pick([("1:", ":-1", NUMBER), (":", "::-1", (3,)), ("[2, 0, 1]", ":", (3,))])
    row = index(w, (3,))
    return w.pick(
        [
            (row, "0", (4,)),
            (":, 1", ":, -1", (3,)),
            ("1:", ":-1", (4,)),
            (":, ::-1", ":", (3, 4)),
            (":, :-1", ":, 1:", NUMBER),
            (f"{row}, 1:", "1, :-1", (3,)),
            ("[0, 2]", "[1, 1]", (4,)),
        ]
    )


def element(w: Writer) -> None:
    name, shape = written(w)
    i = index(w, shape)
    text = tame(w, value(w, NUMBER, 1))
    w.line(f"{name}[{i}] {w.pick(['=', '+=', '*=', '-='])} {text}")


def slice_(w: Writer) -> None:
    name, shape = written(w)
    here, there, fits = part(w, shape)
    text = (
        w.pick([f"{name}[{there}] * {value(w, fits, 1)}", value(w, fits, 1)])
        if w.chance(60)
        else value(w, smaller(w, fits), 1)
    )
    w.line(f"{name}[{here}] {w.pick(['=', '=', '+=', '*='])} {tame(w, text)}")


def mask(w: Writer) -> None:
    name, shape = written(w)
    other = atom(w, shape)
    condition = f"{w.pick([name, other])} {w.pick(['>', '<'])} {w.constant()}"
    which = w.below(3)
    if which == 0:
        w.line(f"{name}[{condition}] {w.pick(['=', '*=', '+='])} {value(w, NUMBER, 1)}")
    elif which == 1:
        k = w.fresh("k")
        w.line(f"{k} = {condition}")
        w.line(f"{name}[{k}] = np.sin({other}[{k}])")
    else:
        w.line(f"{name}[{name} < 0.0] *= {w.constant()}")


def swap(w: Writer) -> None:
    name, shape = written(w)
    i, j = (index(w, shape[:1]) for _ in range(2))
    if len(shape) == 1:
        w.line(f"{name}[{i}], {name}[{j}] = {name}[{j}], {name}[{i}]")
    else:
        w.line(f"{name}[[0, 2]] = {name}[[2, 0]]")


def view(w: Writer) -> None:
    """Changes through another name of the memory."""
    name = w.fresh("v")
    w.line(f"{name} = {value(w, (3, 4), 1)} * 1.0")
    w.scope.values[name] = (3, 4)
    row = w.fresh("v")
    text, shape = w.pick(
        [
            ("{}[1]", (4,)),
            ("{}[:, 2]", (3,)),
            ("{}.T", (4, 3)),
            ("{}[1:, 1:]", None),
            ("{}.reshape(-1)", None),
            ("{}[::-1]", (3, 4)),
        ]
    )
    w.line(f"{row} = {text.format(name)}")
    if shape is None:
        w.line(f"{row}[0] {w.pick(['*=', '='])} {value(w, NUMBER, 1)}")
        return
    w.line(
        w.pick(
            [
                f"{row} *= {value(w, NUMBER, 1)}",
                f"{row}[0] = {value(w, shape[1:], 1)}",
                f"{row}[1] += {row}[0] * {atom(w, shape[1:])}",
            ]
        )
    )
    w.scope.values[row] = shape
    if w.chance(40):
        w.line(f"{name}[1] = {value(w, (4,), 1)}")


def two_names(w: Writer) -> None:
    u, v = w.fresh("v"), w.fresh("v")
    shape = w.pick(ARRAYS)
    w.line(f"{u} = {value(w, shape, 1)} + 0.0")
    w.line(f"{v} = {u}")
    w.scope.values |= {u: shape, v: shape}
    w.line(f"{u}[{index(w, shape)}] = {value(w, NUMBER, 1)}")
    w.line(f"{v}[{index(w, shape)}] {w.pick(['*=', '='])} {value(w, NUMBER, 1)}")


def scatter(w: Writer) -> None:
    name = w.fresh("v")
    w.line(f"{name} = {w.pick(['np.zeros(4)', f'np.cos({atom(w, (4,))})'])}")
    w.scope.values[name] = (4,)
    w.line(f"np.{w.pick(['add', 'subtract'])}.at({name}, [0, 2, 0], {value(w, (3,), 1)})")


def by_function(w: Writer) -> None:
    name, shape = written(w)
    which = w.below(5)
    if which == 0:
        w.line(f"np.{w.pick(['sin', 'tanh', 'cos'])}({value(w, shape, 1)}, out={name})")
    elif which == 1:
        w.line(
            f"np.{w.pick(['multiply', 'add', 'maximum'])}({name}, {value(w, smaller(w, shape), 1)}, out={name})"
        )
    elif which == 2:
        w.line(f"{name}.fill({value(w, NUMBER, 1)})")
    elif which == 3:
        w.line(f"np.copyto({name}, {value(w, shape, 1)})")
    else:
        w.line(f"np.add({value(w, shape, 1)}, {name}, out={name})")


def stencil(w: Writer) -> None:
    """Two arrays that change places in a loop."""
    u, v = w.fresh("v"), w.fresh("v")
    w.line(f"{u} = {w.pick([f'{atom(w, (4,))}.copy()', value(w, (4,), 1) + ' * 1.0'])}")
    w.line(f"{v} = np.zeros_like({u})")
    w.scope.values |= {u: (4,), v: (4,)}
    i = w.fresh("i")
    with w.block(f"for {i} in range({w.pick(['n', '3'])}):", loop=True):
        w.scope.counters.append(i)
        w.line(f"{v}[1:-1] = {u}[1:-1] + {value(w, NUMBER, 2)} * ({u}[2:] - 2 * {u}[1:-1] + {u}[:-2])")
        if w.chance(50):
            w.line(f"{v}[0] = {value(w, NUMBER, 1)}")
        w.line(f"{u}, {v} = {v}, {u}")


def recurrence(w: Writer) -> None:
    name = w.fresh("v")
    w.line(f"{name} = {w.pick(['np.zeros(4)', 'np.empty(4)', f'np.empty_like({atom(w, (4,))})'])}")
    w.line(f"{name}[0] = {value(w, NUMBER, 1)}")
    i = w.fresh("i")
    with w.block(f"for {i} in range(1, 4):", loop=True):
        w.scope.counters.append(i)
        w.line(
            f"{name}[{i}] = np.{w.pick(['sin', 'tanh'])}({name}[{i} - 1] * {value(w, NUMBER, 1)}) + {w.pick([f'{atom(w, (4,))}[{i}]', w.constant()])}"
        )
        if w.chance(30):
            w.line(f"{name}[{i} - 1] *= {value(w, NUMBER, 1)}")
    w.scope.values[name] = (4,)


def rows(w: Writer) -> None:
    """A loop over the rows of an array, which changes them."""
    name, e = w.fresh("v"), w.fresh("e")
    w.line(f"{name} = {value(w, (3, 4), 1)} * 1.0")
    with w.block(f"for {e} in {name}:", loop=True):
        w.scope.values[e] = (4,)
        w.line(
            w.pick(
                [
                    f"{e} *= {value(w, NUMBER, 1)}",
                    f"{e}[1] = np.sum({e}) * 0.5",
                    f"{e}[:2] += {value(w, NUMBER, 1)}",
                ]
            )
        )
    w.scope.values[name] = (3, 4)


def by_callee(w: Writer) -> None:
    """A function of the file that writes into its argument."""
    if not w.chance(15):
        return whole(w)
    name, of = w.fresh("g"), w.pick([(4,), (3,)])
    body = w.pick(
        [
            "u[1:] *= np.sin(u[:-1]) + t",
            "u[0] = u[1] * t\n    u *= 0.9",
            "for i in range(3):\n        u[i] += t * u[i - 1]",
            "if t > 0.1:\n        u[0] = t\n    else:\n        u[-1] *= t",
        ]
    )
    w.blocks.append([f"def {name}(u, t):", f"    {body}"])
    target = w.fresh("v")
    w.line(f"{target} = {value(w, of, 1)} * 1.0")
    w.scope.values[target] = of
    w.line(f"{name}({target}, {value(w, NUMBER, 1)})")


def whole(w: Writer) -> None:
    name, shape = written(w)
    w.line(f"{name} {w.pick(['*=', '+=', '-='])} {value(w, smaller(w, shape), 1)}")
    if w.chance(20):
        assignment(w)


STATEMENTS = [
    element,
    element,
    slice_,
    slice_,
    mask,
    swap,
    view,
    two_names,
    scatter,
    by_function,
    stencil,
    recurrence,
    rows,
    by_callee,
    whole,
]
