"""Functions that use one rule, as the text of a file: every spelling, with known shapes and without."""

from __future__ import annotations

import itertools
import random
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lsp_ad.rules import METHODS, Rule
from tests.rules.domains import ANY, Call, Domain

# What is done with the result `r`: handed back as it is, used further, averaged, summed along an axis (an
# adjoint that only broadcasts), and both at once; under the name of the argument.
USES = {
    "returned": "    return {r}\n",
    "used further": "    y = {r}\n    return np.sum(y * y + 0.5 * y)\n",
    "mean": "    return np.mean({r})\n",
    "sum along": "    return np.sum({r}, axis=0)\n",
    "mean of two uses": "    y = {r}\n    return np.mean(y) + np.sum(y * {p})\n",
    "rebound": "    {p} = {r}\n    return np.sum({p} * {p}) * 0.5\n",
}


@dataclass(frozen=True)
class Example:
    """One program, its arguments and the parameters to differentiate by."""

    source: str
    args: tuple
    wrt: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.source}\n# wrt {self.wrt}, arguments {self.args!r}"


def examples(rule: Rule, domain: Domain, count: int, seed: int) -> Iterator[Example]:
    """About `count` programs for a rule; every call of its domain, every use and spelling occurs."""
    rng = random.Random(f"{rule.name} {seed}")
    calls = list(domain.calls or ())
    plans = [(c, use, known) for c, use, known in itertools.product(calls, USES, (True, False))]
    rng.shuffle(plans)
    # every call with and without known shapes first, then what else there is room for
    first = {(c.text, str(c.shapes), known): (c, use, known) for c, use, known in plans}
    rest = [p for p in plans if p not in first.values()]
    chosen = [*first.values(), *rest][: max(count, len(first))]
    for number, (c, use, known) in enumerate(chosen):
        made = example(rule, domain, c, use, known, number, rng)
        if made is not None:
            yield made


def example(
    rule: Rule, domain: Domain, c: Call, use: str, known: bool, number: int, rng: random.Random
) -> Example | None:
    header, operation = spelled(rule, c, number)
    operation = domain.real.format(r=operation)
    names = list(c.shapes)
    active = [p for p in names if p in rule.differentiable]
    if use != "returned" or "np." in operation:
        header = "import numpy as np\n" + header.replace("import numpy as np\n", "")
    args = arguments(c, domain, zlib.crc32(f"{rule.name}{c}{number}".encode()))
    result = evaluate(header, operation, names, args)
    assert not np.iscomplexobj(result), operation
    if use == "sum along" and np.ndim(result) == 0:
        use = "used further"
    if use == "mean of two uses" and not fits(result, args[names.index(active[0])]):
        use = "used further"
    subsets = [(p,) for p in active] + ([tuple(active)] if len(active) > 1 else [])
    wrt = subsets[number % len(subsets)]
    body = USES[use].format(r=operation, p=active[0])
    return Example(
        f"{header}\n\ndef f({', '.join(names)}):\n{docstring(c.shapes) if known else ''}{body}", args, wrt
    )


def fits(a, b) -> bool:
    try:
        np.broadcast_shapes(np.shape(a), np.shape(b))
    except ValueError:
        return False
    return True


def evaluate(header: str, operation: str, names: list[str], args: tuple):
    space: dict = {}
    exec(header, space)
    return eval(operation, space, dict(zip(names, args, strict=True)))


def spelled(rule: Rule, c: Call, number: int) -> tuple[str, str]:
    """(import lines, the operation as an expression), in one of the ways to write it."""
    if not rule.name[0].isalpha() or rule.name in ("u-", "u+"):
        operands = c.text.split(", ")
        return "", f"{operands[0]} {rule.name} {operands[1]}" if len(
            operands
        ) == 2 else f"{rule.name[-1]}{operands[0]}"
    module, function = rule.name.rsplit(".", 1)
    if module == "scipy.stats.norm":
        return "from scipy.stats import norm\n", f"norm.{function}({c.text})"
    if module == "builtins":
        return "", f"{function}({c.text})"
    top = module.split(".")[0]
    alias = {"numpy": "np", "scipy": "sp"}.get(top, "m")
    ways = [
        (f"import {module}\n", f"{rule.name}({c.text})"),
        (f"from {module} import {function} as library_{function}\n", f"library_{function}({c.text})"),
        (f"import {module} as lib\n", f"lib.{function}({c.text})"),
    ]
    if module == top:
        ways.insert(0, (f"import {module} as {alias}\n", f"{alias}.{function}({c.text})"))
    first, _, others = c.text.partition(", ")
    if c.shapes.get(first) and "axes=" not in others:
        if first == "x" and rule.name == "numpy.transpose" and not others:
            ways += [("", "x.T")] * 2
        ways += [("", f"{first}.{method}({others})") for method, name in METHODS.items() if name == rule.name]
    return ways[number % len(ways)]


_DIMENSIONS = {2: "n", 3: "d", 4: "m"}


def docstring(shapes: dict[str, tuple[int, ...]]) -> str:
    lines = [
        f"    {p} : ndarray, shape ({', '.join(_DIMENSIONS.get(k, str(k)) for k in s)}{',' * (len(s) == 1)})"
        if s
        else f"    {p} : float"
        for p, s in shapes.items()
    ]
    return '    """A function.\n\n' + "\n".join(lines) + '\n    """\n'


def arguments(c: Call, domain: Domain, seed: int) -> tuple:
    rng = np.random.default_rng(seed)
    found = []
    for p, shape in c.shapes.items():
        low, high = domain.intervals.get(p, ANY)
        kind = domain.special.get(p)
        if kind is None:
            value = rng.uniform(low, high, size=shape)
        else:
            value = rng.normal(size=shape) * 0.4 + 2.0 * np.eye(shape[-1])
            if kind == "spd":
                value = value @ np.swapaxes(value, -1, -2)
        found.append(value if shape else float(value))
    return tuple(found)
