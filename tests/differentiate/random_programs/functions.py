"""Functions of the file, closures, lambdas, partials, functions as arguments, recursion."""

from __future__ import annotations

from .expressions import atom, test_simple, value
from .writer import NUMBER, Scope, Shape, Writer

HELPERS = {
    "small": ("def small(u, v):\n    w = u * v\n    return w + np.sin(u)", None),
    "large": (
        "def large(u, v):\n    if np.sum(u) > 0.5:\n        return np.sin(u) * v\n    for k in range(2):\n        u = u * 0.5 + np.cos(v)\n    return u",
        None,
    ),
    "deep": (
        "def deep(u, k):\n    if k <= 0:\n        return u\n    return deep(np.sin(u) + 0.1 * u, k - 1) * 0.9",
        "k",
    ),
    "twice": ("def twice(g, u):\n    return g(g(u))", "g"),
    "norms": (
        "def norms(u, *rest, by=0.5):\n    s = np.sum(u * u)\n    for r in rest:\n        s = s + by * np.tanh(r)\n    return s",
        "rest",
    ),
}


def of_file(w: Writer) -> None:
    """A call of one of a few functions of the file."""
    name = w.pick(list(HELPERS))
    text, special = HELPERS[name]
    if text.split("\n") not in w.blocks:
        w.blocks.append(text.split("\n"))
    shape = w.pick([NUMBER, (4,), (3,)])
    first = value(w, shape, 1)
    if special == "k":
        text = f"{name}({first}, {w.pick(['2', 'n', '1'])})"
    elif special == "g":
        text = f"{name}({w.pick(['np.tanh', f'lambda t: np.sin(t) * {value(w, NUMBER, 2)}'])}, {first})"
    elif special == "rest":
        text, shape = (
            f"{name}({first}, {value(w, NUMBER, 1)}, {value(w, NUMBER, 1)}{w.pick(['', f', by={value(w, NUMBER, 2)}'])})",
            NUMBER,
        )
    else:
        text = w.pick(
            [f"{name}({first}, {value(w, shape, 1)})", f"{name}(v={value(w, shape, 1)}, u={first})"]
        )
    target = w.target(shape)
    w.line(f"{target} = {text}")
    w.scope.values[target] = shape


def nested(w: Writer, body) -> None:
    """A function in the function, which reads names around it."""
    name = w.fresh("g")
    shapes: list[Shape] = [w.pick([NUMBER, (4,), (3,)]) for _ in range(1 + w.below(2))]
    result = w.pick([NUMBER, (4,)])
    parameters = [w.fresh("p") for _ in shapes]
    outer, in_loop, kind, fixed = w.scope, w.in_loop, w.kind_of_result, w.fixed
    with w.block(f"def {name}({', '.join(parameters)}):"):
        captured = dict(list(outer.values.items())[:6])
        w.scope = Scope({**captured, **dict(zip(parameters, shapes, strict=True))}, list(outer.counters))
        w.fixed, w.in_loop, w.kind_of_result = fixed | set(captured), 0, result
        if w.chance(40):
            body(w, 1)
        w.line(f"return {value(w, result)}")
    w.scope, w.in_loop, w.kind_of_result, w.fixed = outer, in_loop, kind, fixed
    w.scope.functions[name] = shapes, result
    target = w.target(result)
    w.line(f"{target} = {name}({', '.join(value(w, s, 1) for s in shapes)}) * {value(w, NUMBER, 2)}")
    w.scope.values[target] = result


def small_function(w: Writer) -> None:
    """A lambda or a partial, called once or twice."""
    name, p = w.fresh("g"), w.fresh("p")
    captured = atom(w, NUMBER)
    if w.chance(40):
        text = "def small(u, v):\n    w = u * v\n    return w + np.sin(u)"
        if text.split("\n") not in w.blocks:
            w.blocks.append(text.split("\n"))
        w.line(f"{name} = functools.partial(small, {w.pick(['', 'v='])}{value(w, NUMBER, 1)})")
    else:
        w.line(
            f"{name} = lambda {p}{w.pick(['', f', q={captured}'])}: np.sin({p}) * {w.pick([captured, value(w, NUMBER, 2)])}"
        )
    w.scope.functions[name] = [NUMBER], NUMBER
    shape = w.pick([NUMBER, (4,)])
    target = w.target(shape)
    w.line(f"{target} = {name}({value(w, shape, 1)})")
    w.scope.values[target] = shape


def two_lambdas(w: Writer) -> None:
    """A name that stands for one of two functions."""
    name, p = w.fresh("g"), w.fresh("p")
    w.line(
        f"{name} = (lambda {p}: {p} * {atom(w, NUMBER)}) if {test_simple(w)} else (lambda {p}: np.cos({p}))"
    )
    target = w.target(NUMBER)
    w.line(f"{target} = {name}({value(w, NUMBER, 1)})")
    w.scope.values[target] = NUMBER


STATEMENTS = [of_file, of_file, of_file, small_function, two_lambdas]
