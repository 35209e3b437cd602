"""The oracle for one random program: right, refused, or not to be judged; anything else is a fault, which it raises."""

from __future__ import annotations

import copy
import warnings
from dataclasses import dataclass

import numpy as np

from tests import oracle

from .strategy import Program

STEPS = (1e-4, 1e-5, 1e-6)


class Fault(AssertionError):
    """A wrong derivative, or an exception that the function itself does not raise."""


@dataclass(frozen=True)
class Verdict:
    outcome: str  # right, refused, constant, rough, broken
    detail: str = ""


def arguments(seed: int):
    rng = np.random.default_rng(seed)
    return (
        float(rng.normal()), float(rng.normal()), rng.normal(size=4), rng.normal(size=3), rng.normal(size=(3, 4)),
        int(rng.integers(0, 4)),
    )  # fmt: skip


def differences(f, args, direction, cotangent):
    """The directional derivative by central differences, and how far it is to be trusted; None where steps disagree."""

    def at(step):
        moved = [oracle.nudge(v, d, step) for v, d in zip(args[:-1], direction, strict=True)]
        return oracle.weighted(f(*copy.deepcopy(moved), args[-1]), cotangent)

    here = at(0.0)
    central, kink = [], []
    for step in STEPS:
        plus, minus = at(step), at(-step)
        central.append((plus - minus) / (2 * step))
        kink.append(abs(plus + minus - 2 * here) / step)
    scale = max(1.0, abs(here), *map(abs, central))
    if abs(central[0] - central[1]) > 1e-4 * scale or abs(central[1] - central[2]) > 1e-5 * scale:
        return None
    # a second difference that falls no faster than the step is a kink
    if kink[2] > 1e-3 * scale and kink[2] > 0.5 * kink[1]:
        return None
    return central[2], 1e-5 * scale


def check(program: Program, modes=("vjp", "jvp", "grad")) -> Verdict:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _check(program, modes)


def _check(program: Program, modes) -> Verdict:
    args = arguments(program.seed)
    f = oracle.run(program.source)["f"]
    rng = np.random.default_rng(program.seed)
    direction = [oracle.random_like(v, rng) for v in args[:-1]]
    try:
        # a zero adjoint times an infinite slope is not a number, in every tool: no overflow on the way
        with np.errstate(all="raise", under="ignore"):
            value = f(*copy.deepcopy(args))
            cotangent = oracle.random_like(value, rng)
            size = max(
                (float(np.max(np.abs(leaf), initial=0.0)) for leaf in oracle.leaves(value)), default=0.0
            )
            want = differences(f, args, direction, cotangent) if size < 1e4 else None
    except Exception as error:
        return Verdict("broken", f"{type(error).__name__}: {error}")
    generated = {}
    for mode in modes:
        try:
            generated[mode] = oracle.generate(program.source, "f", None, mode)
        except oracle.Refused as refused:
            if all(p.code == "AD503" for p in refused.args):
                return Verdict("constant")
            return Verdict("refused", "; ".join(sorted({f"{p.code} {p.message}" for p in refused.args})))
        except Exception as error:
            raise Fault(f"{mode}: the compiler fails: {type(error).__name__}: {error}") from error
    if want is None:
        return Verdict("rough")
    _compare(program, args, value, direction, cotangent, want, generated)
    return Verdict("right")


def _call(mode, derivative, text, args, extra):
    given, extra = copy.deepcopy(args), copy.deepcopy(extra)
    before = copy.deepcopy((given, extra))
    try:
        result = oracle.run(text)[derivative.name](*given, **extra)
    except Exception as error:
        raise Fault(f"{mode}: the derivative fails: {type(error).__name__}: {error}\n{text}") from error
    for a, b in zip(oracle.leaves_of((given, extra)), oracle.leaves_of(before), strict=True):
        if not np.array_equal(a, b):
            raise Fault(f"{mode}: an argument was changed\n{text}")
    return result


def _compare(program, args, value, direction, cotangent, want, generated) -> None:
    (want, tolerance), names = want, ["x", "a", "y", "z", "m"]
    products = {}
    for mode, (derivative, text) in generated.items():
        of = [names.index(p) for p in derivative.wrt]
        if mode == "jvp":
            extra = dict(zip(derivative.tangents, (direction[k] for k in of), strict=True))
            result, tangent = _call(mode, derivative, text, args, extra)
            if not oracle.shapes(result) == oracle.shapes(value) == oracle.shapes(tangent):
                raise Fault(
                    f"jvp: shapes {oracle.shapes(result)}, {oracle.shapes(tangent)} for {oracle.shapes(value)}\n{text}"
                )
            for got, right in zip(oracle.leaves(result), oracle.leaves(value), strict=True):
                if not np.allclose(got, right, rtol=1e-10, atol=1e-12):
                    raise Fault(f"jvp: the value is {got}, not {right}\n{text}")
            products[mode] = oracle.weighted(tangent, cotangent)
        else:
            gradients = _call(mode, derivative, text, args, {derivative.seed: cotangent})
            gradients = gradients if len(of) > 1 else (gradients,)
            for k, gradient in zip(of, gradients, strict=True):
                if oracle.shapes(gradient) != oracle.shapes(args[k]):
                    raise Fault(
                        f"{mode}: the gradient of {names[k]} has the shape {oracle.shapes(gradient)}\n{text}"
                    )
            products[mode] = sum(oracle.weighted(g, direction[k]) for k, g in zip(of, gradients, strict=True))
    first = next(iter(products.values()))
    for mode, got in products.items():
        if not abs(got - want) <= 10 * tolerance:
            raise Fault(f"{mode}: {got}, not {want} (all: {products})\n{generated[mode][1]}")
        if not abs(got - first) <= 1e-8 * max(1.0, abs(first)):
            raise Fault(f"the modes disagree: {products}\n{generated[mode][1]}")
