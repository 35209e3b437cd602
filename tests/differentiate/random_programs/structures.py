"""Lists, tuples, dictionaries, comprehensions, objects."""

from __future__ import annotations

from .expressions import atom, test_simple, value
from .writer import NUMBER, Shape, Writer

ITEMS: list[Shape] = [NUMBER, (4,), (3,)]


def literal(w: Writer) -> None:
    name, shape = w.fresh("l"), w.pick(ITEMS)
    count = 1 + w.below(3)
    w.line(f"{name} = [{', '.join(value(w, shape, 1) for _ in range(count))}]")
    w.scope.lists[name] = shape, count


def grown(w: Writer) -> None:
    """A list that a loop appends to, from nothing or from something."""
    name, shape = w.fresh("l"), w.pick(ITEMS)
    start = w.below(2)
    w.line(f"{name} = [{value(w, shape, 1) if start else ''}]")
    i = w.fresh("i")
    times = w.pick(["3", "n", "2"])
    with w.block(f"for {i} in range({times}):", loop=True):
        w.scope.counters.append(i)
        if start and w.chance(50):
            w.line(f"{name}.append(np.sin({name}[-1]) * {value(w, NUMBER, 1)})")
        elif w.chance(30):
            with w.block(f"if {test_simple(w)}:"):
                w.line(f"{name}.append({value(w, shape, 1)})")
        else:
            w.line(f"{name}.append({value(w, shape, 1)})")
    w.scope.lists[name] = shape, start


def changed(w: Writer) -> None:
    """A list that is there already changes, in a way that does not shorten it for good."""
    free = [n for n in w.scope.lists if n not in w.fixed]
    if not free:
        return literal(w)
    name = w.pick(free)
    shape, least = w.scope.lists[name]
    which = w.below(6)
    if which == 0:
        w.line(f"{name}.append({value(w, shape, 1)})")
    elif which == 1 and least:
        w.line(f"{name}[{w.pick(['0', '-1'])}] = {value(w, shape, 1)}")
    elif which == 2 and least:
        target = w.target(shape)
        w.line(f"{name}.append({value(w, shape, 1)})")
        w.line(f"{target} = {name}.pop({w.pick(['', '0'])}) * {value(w, NUMBER, 1)}")
        w.scope.values[target] = shape
    elif which == 3:
        w.line(f"{name}.extend([{value(w, shape, 1)}, {value(w, shape, 1)}])")
    elif which == 4:
        w.line(f"{name} = {name} + [{value(w, shape, 1)}]")
    else:
        w.line(f"{name}.insert(0, {value(w, shape, 1)})")


def comprehension(w: Writer) -> None:
    name, shape, k = w.fresh("l"), w.pick(ITEMS), w.fresh("k")
    over = w.pick(["range(3)", atom(w, (3,)), atom(w, (4,))])
    condition = f" if {k} > 0.2" if w.chance(20) else ""
    w.line(f"{name} = [{value(w, shape, 1)} * {k} for {k} in {over}{condition}]")
    w.scope.lists[name] = shape, 0 if condition else 3


def used(w: Writer) -> None:
    """An array made of a list, or a sum over it."""
    filled = [(n, s) for n, (s, least) in w.scope.lists.items() if least]
    if not filled:
        return literal(w)
    name, shape = w.pick(filled)
    target = w.fresh("v" if shape else "s")
    text = w.pick(
        [
            f"np.sum(np.{w.pick(['array', 'stack'])}({name}), axis=0)",
            f"sum({name})",
            f"np.max(np.array({name}), axis=0)",
            f"{name}[0] * {name}[-1]",
        ]
    )
    w.line(f"{target} = {text}")
    w.scope.values[target] = shape


def dictionary(w: Writer) -> None:
    name = w.fresh("d")
    kinds = {"w": w.pick([(4,), (3,)]), "b": NUMBER}
    w.line(f'{name} = {{"w": {value(w, kinds["w"], 1)}, "b": {value(w, NUMBER, 1)}}}')
    w.scope.dicts[name] = kinds


def dictionary_changed(w: Writer) -> None:
    names = [n for n in w.scope.dicts if n not in w.fixed]
    if not names:
        return dictionary(w)
    name = w.pick(names)
    key = w.pick(list(w.scope.dicts[name]))
    shape = w.scope.dicts[name][key]
    w.line(f'{name}["{key}"] {w.pick(["=", "=", "+="])} {value(w, shape, 1)}')


def dictionary_used(w: Writer) -> None:
    names = list(w.scope.dicts)
    if not names:
        return dictionary(w)
    name = w.pick(names)
    key = w.pick(list(w.scope.dicts[name]))
    shape = w.scope.dicts[name][key]
    target = w.target(shape)
    text = w.pick([f'{name}["{key}"] * {value(w, NUMBER, 1)}', f'np.tanh({name}["{key}"])'])
    if w.chance(25):
        target, shape = w.fresh("s"), NUMBER
        text = w.pick(
            [
                f"sum(np.sum(v * v) for v in {name}.values())",
                f"sum(np.sum(np.sin(v)) for k, v in {name}.items())",
            ]
        )
    w.line(f"{target} = {text}")
    w.scope.values[target] = shape


def pairs(w: Writer) -> None:
    """A loop over a list of tuples."""
    a, b, target = w.fresh("e"), w.fresh("e"), w.fresh("v")
    w.line(f"{target} = {value(w, (4,), 1)}")
    w.scope.values[target] = (4,)
    items = ", ".join(f"({value(w, (4,), 2)}, {value(w, NUMBER, 2)})" for _ in range(2))
    with w.block(f"for {a}, {b} in [{items}]:", loop=True):
        w.scope.values |= {a: (4,), b: NUMBER}
        w.line(f"{target} = np.tanh({target} * {a} + {b}{w.pick(['', f' * {atom(w, NUMBER)}'])})")


def rows(w: Writer) -> None:
    """A list of arrays, each of which is written, before or after the list gets it."""
    name, row, i = w.fresh("l"), w.fresh("v"), w.fresh("i")
    w.line(f"{name} = []")
    with w.block(f"for {i} in range({w.pick(['3', '2'])}):", loop=True):
        w.scope.counters.append(i)
        w.line(f"{row} = {w.pick(['np.zeros(4)', f'{value(w, (4,), 1)} * 1.0'])}")
        w.line(f"{row}[{i}] = {value(w, NUMBER, 1)}")
        w.line(f"{name}.append({row})")
    w.scope.lists[name] = (4,), 2
    target = w.fresh("v")
    w.line(f"{target} = np.{w.pick(['sum', 'mean'])}({w.pick(['np.array', 'np.stack'])}({name}), axis=0)")
    w.scope.values[target] = (4,)


def object_(w: Writer) -> None:
    name = w.fresh("o")
    w.uses_objects = True
    w.line(f"{name} = Point({value(w, NUMBER, 1)}, {value(w, NUMBER, 1)})")
    if w.chance(50):
        w.line(f"{name} = {name}.scaled({value(w, NUMBER, 1)})")
    w.scope.objects.append(name)


STATEMENTS = [
    literal,
    grown,
    changed,
    changed,
    comprehension,
    used,
    used,
    dictionary,
    dictionary_changed,
    dictionary_used,
    pairs,
    rows,
    object_,
]

POINT = """@dataclass
class Point:
    u: float
    v: float

    def norm(self):
        return np.sqrt(1.0 + self.u**2 + self.v**2)

    def scaled(self, by):
        return Point(np.sin(self.u * by), self.v - by)
"""
