"""Pairs of a function and its hand-written gradient: how they are loaded, compared and counted."""

from __future__ import annotations

import ast
import copy
import importlib.util
import inspect
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

SUFFIXES = ("_grad", "_vjp")


@dataclass(frozen=True)
class Pair:
    """A primal, its hand-written gradient with respect to `wrt`, and arguments to try them on.

    A name that ends in `_vjp` takes the seed last; one that ends in `_grad` has a result that is a number.
    """

    name: str
    primal: Callable
    by_hand: Callable
    wrt: tuple[str, ...]
    arguments: dict[str, Any]

    @property
    def is_vjp(self) -> bool:
        return self.by_hand.__name__.endswith("_vjp")

    def call(self, gradient: Callable) -> Any:
        """The gradients of all of wrt, in a tuple; the arguments are copied first."""
        given = copy.deepcopy(list(self.arguments.values()))
        if self.is_vjp:
            given.append(self.seed())
        found = gradient(*given)
        return found if len(self.wrt) > 1 else (found,)

    def seed(self) -> Any:
        value = self.primal(**copy.deepcopy(self.arguments))
        return np.random.default_rng(1).normal(size=np.shape(value))

    def error(self, gradient: Callable) -> float:
        """The largest error of a gradient relative to the one by hand."""
        found, wanted = leaves(self.call(gradient)), leaves(self.call(self.by_hand))
        assert [np.shape(g) for g in found] == [np.shape(w) for w in wanted]
        pairs = zip(found, wanted, strict=True)
        return max(float(np.max(np.abs(g - w) / (1.0 + np.abs(w)))) for g, w in pairs)


def load(path: Path) -> ModuleType:
    """A module of its own from a file; its name is not registered."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pairs(primals: Path, gradients: Path) -> Iterator[Pair]:
    """The pairs of two folders with files of the same names (which may be one folder), by name."""
    for path in sorted(gradients.glob("*.py")):
        if path.name == "check.py":
            continue
        hand = load(path)
        module = hand if primals == gradients else load(primals / path.name)
        for name, gradient in inspect.getmembers(hand, inspect.isfunction):
            for suffix in SUFFIXES:
                if name.endswith(suffix):
                    primal = getattr(module, name.removesuffix(suffix))
                    arguments = hand.inputs(np.random.default_rng(0))
                    yield Pair(path.stem, primal, gradient, hand.WRT, arguments)


def leaves(value: Any) -> list[np.ndarray]:
    """The arrays and numbers of a structure of tuples, lists and dictionaries."""
    if isinstance(value, dict):
        return [leaf for key in value for leaf in leaves(value[key])]
    if isinstance(value, (tuple, list)):
        return [leaf for item in value for leaf in leaves(item)]
    return [np.asarray(value, dtype=float)]


def statements(function: Callable) -> int:
    """How many statements a function has, without its docstring."""
    definition = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    found = [n for n in ast.walk(definition) if isinstance(n, ast.stmt) and n is not definition]
    return sum(not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant)) for s in found)
