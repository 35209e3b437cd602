"""The oracle of the tests: a generated derivative against central finite differences."""

from __future__ import annotations

import copy
import itertools
import linecache
import math
import sys
import types

import numpy as np

from lsp_ad.differentiate import differentiate, insertion
from lsp_ad.semantics.names import Program
from lsp_ad.source import edits
from lsp_ad.source.document import Document
from lsp_ad.source.parse import parse

_count = itertools.count()
sys.modules.setdefault("generated", types.ModuleType("generated"))  # dataclasses look for the module of their class


class Refused(Exception):
    """The compiler refused a program; the problems are its argument."""


def program(source: str) -> Program:
    return Program(parse(Document(source, "program.py")))


def generate(source: str, name: str = "f", wrt=None, mode: str = "grad"):
    """(derivative, the whole file with it inserted), or Refused."""
    compiled = program(source)
    derivative, problems = differentiate(compiled, name, wrt, mode)
    if derivative is None:
        raise Refused(*problems)
    return derivative, edits.apply(source, insertion(compiled, derivative))


def run(source: str) -> dict:
    # the text under a name of its own, for functions that ask for theirs when they run
    name = f"<generated {next(_count)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    namespace: dict = {"__name__": "generated"}
    exec(compile(source, name, "exec"), namespace)
    return namespace


def leaves(value) -> list[np.ndarray]:
    if isinstance(value, dict):
        return [leaf for key in value for leaf in leaves(value[key])]
    if isinstance(value, (tuple, list)):
        return [leaf for item in value for leaf in leaves(item)]
    return [np.asarray(value, dtype=float)]


def shapes(value):
    if isinstance(value, dict):
        return {key: shapes(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [shapes(item) for item in value]
    return np.shape(value)


def weighted(value, seed) -> float:
    """The sum of seed * value, over a number, an array or a structure of them."""
    return float(sum(np.sum(s * v) for s, v in zip(leaves(seed), leaves(value), strict=True)))


def random_like(value, rng):
    if isinstance(value, dict):
        return {key: random_like(item, rng) for key, item in value.items()}
    if isinstance(value, tuple):
        return tuple(random_like(item, rng) for item in value)
    if isinstance(value, list):
        return [random_like(item, rng) for item in value]
    return rng.normal(size=np.shape(value)) if np.ndim(value) else float(rng.normal())


def nudge(value, direction, eps):
    if isinstance(value, dict):
        return {key: nudge(item, direction[key], eps) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(nudge(v, d, eps) for v, d in zip(value, direction, strict=True))
    moved = np.asarray(value, dtype=float) + eps * direction
    return moved if np.ndim(value) else float(moved)


def assert_gradient(source: str, *args, name: str = "f", wrt=None, tolerance: float = 2e-6, directions: int = 3, seed: int = 0,
                    all_modes: bool = True):
    """The vjp, grad and value_and_grad of a function agree with finite differences along random directions.

    Also: each gradient has the shape of its parameter, and no argument is changed. `all_modes`: False for the vjp alone.
    """
    rng = np.random.default_rng(seed)
    derivative, text = generate(source, name, wrt, "vjp")
    namespace = run(text)
    f, vjp = namespace[name], namespace[derivative.name]
    value = f(*copy.deepcopy(args))
    cotangent = random_like(value, rng)
    given = copy.deepcopy(args)
    gradients = vjp(*given, **{derivative.seed: cotangent})
    for before, after in zip(leaves_of(args), leaves_of(given), strict=True):
        assert np.array_equal(before, after), "an argument was changed"
    gradients = gradients if len(derivative.wrt) > 1 else (gradients,)
    parameters = list(f.__code__.co_varnames[: f.__code__.co_argcount])
    for p, gradient in zip(derivative.wrt, gradients, strict=True):
        position = parameters.index(p)
        assert shapes(gradient) == shapes(args[position]), (p, shapes(gradient), text)
        for _ in range(directions):
            direction = random_like(args[position], rng)
            sides = []
            for sign in (1.0, -1.0):
                moved = list(copy.deepcopy(args))
                moved[position] = nudge(args[position], direction, sign * 1e-6)
                sides.append(weighted(f(*moved), cotangent))
            want = (sides[0] - sides[1]) / 2e-6
            got = weighted(gradient, direction)
            assert math.isclose(got, want, rel_tol=tolerance, abs_tol=tolerance * 5), (p, got, want, text)
    if all_modes:
        _assert_other_modes(source, name, wrt, args, value, cotangent, gradients)
    return text


def assert_jvp(source: str, *args, name: str = "f", wrt=None, tolerance: float = 2e-6, seed: int = 0):
    """The jvp of a function has its value, agrees with finite differences, and leaves its arguments alone; and
    <jvp(u), v> is <u, vjp(v)>."""
    rng = np.random.default_rng(seed)
    derivative, text = generate(source, name, wrt, "jvp")
    namespace = run(text)
    f, jvp = namespace[name], namespace[derivative.name]
    value = f(*copy.deepcopy(args))
    parameters = list(f.__code__.co_varnames[: f.__code__.co_argcount])
    places = [parameters.index(p) for p in derivative.wrt]
    directions = [0.0 if isinstance(args[place], bool) else random_like(args[place], rng) for place in places]
    given, tangents = copy.deepcopy(args), copy.deepcopy(directions)
    result, tangent = jvp(*given, **dict(zip(derivative.tangents, tangents, strict=True)))
    for before, after in zip(leaves_of((*args, *directions)), leaves_of((*given, *tangents)), strict=True):
        assert np.array_equal(before, after), "an argument was changed"
    assert shapes(result) == shapes(value) == shapes(tangent), (shapes(result), shapes(value), shapes(tangent), text)
    for a, b in zip(leaves(result), leaves(value), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    sides = []
    for sign in (1.0, -1.0):
        moved = list(copy.deepcopy(args))
        for place, direction in zip(places, directions, strict=True):
            if not isinstance(args[place], bool):
                moved[place] = nudge(args[place], direction, sign * 1e-6)
        sides.append(leaves(f(*moved)))
    for got, plus, minus in zip(leaves(tangent), *sides, strict=True):
        np.testing.assert_allclose(got, (plus - minus) / 2e-6, rtol=tolerance, atol=tolerance * 5, err_msg=text)
    cotangent = random_like(value, rng)
    reverse, both = generate(source, name, wrt, "vjp")
    gradients = run(both)[reverse.name](*copy.deepcopy(args), **{reverse.seed: cotangent})
    gradients = gradients if len(derivative.wrt) > 1 else (gradients,)
    want = sum(weighted(g, d) for g, d in zip(gradients, directions, strict=True))
    got = weighted(tangent, cotangent)
    assert math.isclose(got, want, rel_tol=1e-9, abs_tol=1e-9), (got, want, text, both)
    return text


def leaves_of(args):
    return [leaf for a in args for leaf in leaves_of_one(a)]


def leaves_of_one(a):
    if isinstance(a, dict):
        return [leaf for item in a.values() for leaf in leaves_of_one(item)]
    if isinstance(a, (list, tuple)):
        return [leaf for item in a for leaf in leaves_of_one(item)]
    return [np.asarray(a)]


def _assert_other_modes(source, name, wrt, args, value, cotangent, gradients):
    for mode in ("grad", "value_and_grad"):
        derivative, text = generate(source, name, wrt, mode)
        got = run(text)[derivative.name](*copy.deepcopy(args), **{derivative.seed: cotangent})
        if mode == "value_and_grad":
            again, got = got
            for a, b in zip(leaves(again), leaves(value), strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-12)
        got = got if len(derivative.wrt) > 1 else (got,)
        for a, b in zip(leaves(got), leaves(gradients), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)
