"""Expressions: for each shape, the ways to a tame value of it."""

from __future__ import annotations

from .writer import NUMBER, Shape, Writer

BOUNDED = ["np.sin", "np.tanh", "np.cos", "np.arctan"]


def value(w: Writer, shape: Shape, level: int = 0) -> str:
    """An expression of a shape, the deeper the rarer."""
    if level > 2 or w.chance(30):
        return atom(w, shape)
    if w.chance(45):
        return elementwise(w, shape, level + 1)
    if w.scope.functions and w.chance(25):
        fitting = [f for f, (_, result) in w.scope.functions.items() if result == shape]
        if fitting:
            return call(w, w.pick(fitting), level)
    return OF_SHAPE[shape](w, level + 1)


def call(w: Writer, function: str, level: int) -> str:
    shapes, _ = w.scope.functions[function]
    return f"{function}({', '.join(value(w, s, level + 2) for s in shapes)})"


def atom(w: Writer, shape: Shape) -> str:
    names = w.names(shape)
    if shape == NUMBER and w.chance(20):
        if w.scope.counters and w.chance(40):
            return w.pick(w.scope.counters)
        return w.constant()
    if names:
        return w.pick(names)
    if shape == NUMBER:
        return w.constant()
    return (
        f"np.linspace(-1.0, 1.0, {shape[0]})"
        if len(shape) == 1
        else f"np.cos(np.arange(12.0)).reshape{shape}"
    )


def test(w: Writer) -> str:
    """A condition."""
    which = w.below(8)
    if which == 0:
        return f"{atom(w, NUMBER)} {w.pick(['<', '>', '<='])} {w.constant()}"
    if which == 1 and w.scope.counters:
        return f"{w.pick(w.scope.counters)} % 2 == {w.pick(['0', '1'])}"
    if which == 2:
        shape = w.pick([(4,), (3,), (3, 4)])
        return f"np.{w.pick(['sum', 'max'])}({atom(w, shape)}) > {w.constant()}"
    if which == 3:
        return f"{test_simple(w)} {w.pick(['and', 'or'])} {test_simple(w)}"
    if which == 4:
        return f"not {test_simple(w)}"
    if which == 5:
        return f"{w.constant()} < {atom(w, NUMBER)} < {w.constant()}"
    if which == 6:
        return f"np.any({atom(w, (4,))} > {w.constant()})"
    return test_simple(w)


def test_simple(w: Writer) -> str:
    if w.scope.counters and w.chance(50):
        return f"{w.pick(w.scope.counters)} {w.pick(['>', '!='])} {w.pick(['1', '0', '2'])}"
    return f"{atom(w, NUMBER)} > {w.constant()}"


def elementwise(w: Writer, shape: Shape, level: int) -> str:
    which = w.below(12)
    if which <= 2:
        return f"({value(w, shape, level)} {w.pick(['+', '-', '*'])} {value(w, shape, level)})"
    if which == 3:
        return f"{w.pick(BOUNDED)}({value(w, shape, level)})"
    if which == 4:
        return f"({value(w, smaller(w, shape), level)} {w.pick(['*', '+', '-'])} {value(w, shape, level)})"
    if which == 5:
        return f"({value(w, shape, level)} / (1.5 + {value(w, smaller(w, shape), level)} ** 2))"
    if which == 6:
        return f"np.exp({w.pick(['0.5 * ', '-0.5 * ', '-'])}np.tanh({value(w, shape, level)}))"
    if which == 7:
        return f"np.{w.pick(['sqrt', 'log'])}(1.5 + {value(w, shape, level)} ** 2)"
    if which == 8:
        if shape == NUMBER:
            return f"({value(w, shape, level)} if {test(w)} else {value(w, shape, level)})"
        return f"np.where({atom(w, shape)} > {w.constant()}, {value(w, shape, level)}, {value(w, smaller(w, shape), level)})"
    if which == 9:
        if shape == NUMBER and w.chance(50):
            return f"{w.pick(['max', 'min'])}({value(w, shape, level)}, {value(w, shape, level)})"
        return f"np.{w.pick(['maximum', 'minimum'])}({value(w, shape, level)}, {value(w, smaller(w, shape), level)})"
    if which == 10:
        return f"{w.pick(['np.abs', '-', 'np.square', '0.5 * '])}({value(w, shape, level)})"
    return f"np.clip({value(w, shape, level)}, -0.9, {w.pick(['1.1', '0.8'])})"


def smaller(w: Writer, shape: Shape) -> Shape:
    """A shape that broadcasts to a shape."""
    return w.pick([shape, *(shape[k:] for k in range(1, len(shape) + 1))])


def number(w: Writer, level: int) -> str:
    which = w.below(15)
    if which <= 3:
        reduction, array = (
            w.pick(["np.sum", "np.mean", "np.max", "np.min"]),
            value(w, w.pick([(4,), (3,), (3, 4)]), level),
        )
        return f"{reduction}({array})"
    if which <= 5:
        shape = w.pick([(4,), (3,), (3, 4), (4, 3)])
        return f"{atom(w, shape)}[{index(w, shape)}]" if w.names(shape) else w.constant()
    if which == 6:
        shape = w.pick([(4,), (3,)])
        return w.pick(["({} @ {})", "np.dot({}, {})"]).format(value(w, shape, level), value(w, shape, level))
    if which == 7:
        return f"np.linalg.norm({value(w, w.pick([(4,), (3,)]), level)} + 2.0)"
    if which == 8:
        v = atom(w, (4,))
        return f"np.sum({v}[{v} > {w.constant()}])"
    if which == 9 and w.scope.lists:
        name = w.pick(list(w.scope.lists))
        shape, least = w.scope.lists[name]
        if shape == NUMBER:
            return f"{name}[{w.pick(['0', '-1'])}]" if least and w.chance(50) else f"sum({name})"
        return f"np.sum({name}[{w.pick(['0', '-1'])}])" if least else f"len({name})"
    if which == 10 and w.scope.dicts:
        name = w.pick(list(w.scope.dicts))
        keys = [k for k, s in w.scope.dicts[name].items() if s == NUMBER]
        if keys:
            return f'{name}["{w.pick(keys)}"]'
    if which == 11 and w.scope.objects:
        return w.pick(["{}.u", "{}.norm()", "{}.scaled({}).u"]).format(
            w.pick(w.scope.objects), atom(w, NUMBER)
        )
    if which == 12:
        return w.pick(
            [
                "np.abs(np.exp(1j * {}) + {})",
                "np.real(({} + 2j) * ({} - 1j))",
                "(({} + 1j) ** 2 * {}).imag",
                "np.real(np.conj({} + 1j) / ({} + 2j))",
            ]
        ).format(value(w, NUMBER, level), value(w, NUMBER, level))
    if which == 13:
        text = value(w, w.pick([(4,), (3,)]), level)
        # the standard deviation of equal numbers has no derivative
        return w.pick(
            [f"np.prod({text})", f"np.var({text})", f"np.std(np.concatenate([np.tanh({text}), [3.0, -2.0]]))"]
        )
    return f"sum({value(w, NUMBER, level + 1)} * {(k := w.fresh('k'))} for {k} in {w.pick(['range(3)', atom(w, (3,)), atom(w, (4,))])})"


def index(w: Writer, shape: Shape) -> str:
    if len(shape) == 1:
        counters = [f"{c} % {shape[0]}" for c in w.scope.counters]
        return w.pick(["0", "1", "-1", *counters])
    return f"{index(w, shape[:1])}, {index(w, shape[1:])}"


def four(w: Writer, level: int) -> str:
    which = w.below(16)
    if which == 0:
        return f"{value(w, (4,), level)}{w.pick(['[::-1]', '[[3, 0, 0, 1]]'])}"
    if which == 1:
        return f"np.{w.pick(['sum', 'mean', 'max'])}({value(w, (3, 4), level)}, axis=0)"
    if which == 2:
        return f"({value(w, (3,), level)} @ {value(w, (3, 4), level)})"
    if which == 3:
        return f"{atom(w, (3, 4))}[{index(w, (3,))}]"
    if which == 4:
        return f"np.concatenate([{value(w, (4,), level)}[:2], {value(w, (3,), level)}[1:]])"
    if which == 5:
        return f"np.array([{', '.join(value(w, NUMBER, level + 1) for _ in range(4))}])"
    if which == 6:
        return f"np.cumsum({value(w, (4,), level)})"
    if which == 7:
        return f"np.concatenate([{value(w, (3,), level)}, {value(w, (4,), level)}[:1]])"
    if which == 8:
        return f"np.dot({value(w, (3,), level)}, {value(w, (3, 4), level)})"
    if which == 9:
        return f"({value(w, (4, 3), level)} @ {value(w, (3,), level)})"
    if which == 10:
        return f"{value(w, (3, 4), level)}.{w.pick(['sum', 'mean', 'min'])}(axis={w.pick(['0', '-2'])})"
    if which == 11:
        return f"np.roll({value(w, (4,), level)}, {w.pick(['1', '-1', '2'])})"
    if which == 12:
        return f"np.array([{value(w, NUMBER, level + 1)} * {(k := w.fresh('k'))} for {k} in {w.pick(['range(4)', atom(w, (4,))])}])"
    if which == 13:
        return f"np.real(np.fft.fft({value(w, (4,), level)}))"
    if which == 14:
        return f"np.abs(np.exp(1j * {value(w, (4,), level)}) + {value(w, NUMBER, level)})"
    return f"np.full(4, {value(w, NUMBER, level)})"


def three(w: Writer, level: int) -> str:
    which = w.below(12)
    if which == 0:
        return f"{value(w, (4,), level)}[{w.pick(['1:', ':-1', '[0, 2, 2]', ':3'])}]"
    if which == 1:
        return f"({value(w, (3, 4), level)} @ {value(w, (4,), level)})"
    if which == 2:
        return f"np.{w.pick(['sum', 'mean', 'min'])}({value(w, (3, 4), level)}, axis=1)"
    if which == 3:
        return f"{atom(w, (3, 4))}[:, {index(w, (4,))}]"
    if which == 4:
        return f"np.diff({value(w, (4,), level)})"
    if which == 5:
        return f"np.array([{', '.join(value(w, NUMBER, level + 1) for _ in range(3))}])"
    if which == 6:
        return f"np.squeeze({value(w, (3, 4), level)}[:, {w.pick(['1:2', ':1'])}])"
    if which == 7:
        return f"{atom(w, (3, 4))}[[0, 1, 2], [1, 3, 0]]"
    if which == 8:
        return f"np.linalg.solve(4.0 * np.eye(3) + np.tanh(np.outer({value(w, (3,), level)}, {value(w, (3,), level)})), {value(w, (3,), level)})"
    if which == 9:
        return f"np.stack([{', '.join(value(w, NUMBER, level + 1) for _ in range(3))}])"
    if which == 10:
        return f"{atom(w, (4, 3))}[{index(w, (4,))}]"
    return f"np.dot({value(w, (3, 4), level)}, {value(w, (4,), level)})"


def three_by_four(w: Writer, level: int) -> str:
    which = w.below(12)
    if which == 0:
        return f"np.outer({value(w, (3,), level)}, {value(w, (4,), level)})"
    if which == 1:
        return f"({value(w, (3,), level)}[:, None] {w.pick(['*', '+', '-'])} {value(w, (4,), level)})"
    if which == 2:
        return (
            f"{value(w, (3, 4), level)}{w.pick(['[::-1]', '[:, ::-1]', '[[0, 2, 2]]', '[:, [3, 1, 0, 0]]'])}"
        )
    if which == 3:
        return f"{value(w, (4, 3), level)}.T"
    if which == 4:
        return f"np.{w.pick(['stack', 'array'])}([{value(w, (4,), level)}, {value(w, (4,), level)}, {atom(w, (4,))}])"
    if which == 5:
        return f"np.repeat({value(w, (4,), level)}[None], 3, axis=0)"
    if which == 6:
        return f"np.concatenate([{value(w, (3, 4), level)}[:2], {value(w, (4,), level)}[None]], axis=0)"
    if which == 7:
        return f"({value(w, (3, 4), level)} {w.pick(['*', '+'])} {value(w, (3,), level)}.reshape(3, 1))"
    if which == 8:
        m = atom(w, (3, 4))
        return f"({m} / (1.5 + np.sum({m} ** 2, axis={w.pick(['1', '-1', '0'])}, keepdims=True)))"
    if which == 9:
        return f"np.cumsum({value(w, (3, 4), level)}, axis={w.pick(['0', '1'])})"
    if which == 10:
        return f"np.broadcast_to({value(w, (4,), level)}, (3, 4))"
    return f"{value(w, (4, 3), level)}.reshape(3, 4)"


def four_by_three(w: Writer, level: int) -> str:
    which = w.below(5)
    if which == 0:
        return f"{value(w, (3, 4), level)}.T"
    if which == 1:
        return f"np.reshape({value(w, (3, 4), level)}, (4, 3))"
    if which == 2:
        return f"np.outer({value(w, (4,), level)}, {value(w, (3,), level)})"
    if which == 3:
        return f"np.stack([{value(w, (4,), level)}, {atom(w, (4,))}, {atom(w, (4,))}], axis=1)"
    return f"np.swapaxes({value(w, (3, 4), level)}, 0, 1)"


OF_SHAPE = {NUMBER: number, (4,): four, (3,): three, (3, 4): three_by_four, (4, 3): four_by_three}
