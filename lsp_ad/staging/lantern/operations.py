"""The primitives: their names, how many operands they take, their parameters, and their type rules.

Semantics are NumPy's where `elementwise.py` does not say otherwise. Dtypes mix as NumPy's do (`promote`):
nothing else is converted silently.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from lsp_ad.staging.lantern import arrays, elementwise, lists
from lsp_ad.staging.lantern.dtypes import Mismatch, Params
from lsp_ad.staging.lantern.elementwise import BINARY, UNARY
from lsp_ad.staging.lantern.ir import NEVER, Scalar, Tuple, Type


@dataclass(frozen=True)
class Operation:
    """`least` to `most` operands (None: any number), and the rule from their types to the result's."""

    name: str
    rule: Callable[[list[Type], Params], Type]
    least: int
    most: int | None
    params: frozenset[str] = field(default_factory=frozenset)


_REDUCTIONS = {
    arrays.total: "sum prod",
    arrays.mean: "mean",
    arrays.extreme: "max min",
    arrays.quantifier: "any all",
    arrays.position: "argmax argmin",
}
REDUCTIONS = frozenset(" ".join(_REDUCTIONS.values()).split())


def _operations() -> list[Operation]:
    axis, kept = frozenset({"axis"}), frozenset({"axis", "keepdims"})
    dtype = frozenset({"dtype"})
    unary = [Operation(n, rule, 1, 1) for rule, names in UNARY.items() for n in names.split()]
    binary = [Operation(n, rule, 2, 2) for rule, names in BINARY.items() for n in names.split()]
    reductions = [Operation(n, r, 1, 1, kept) for r, names in _REDUCTIONS.items() for n in names.split()]
    return [
        *unary,
        *binary,
        *reductions,
        Operation("select", elementwise.select, 3, 3),
        Operation("cast", elementwise.cast, 1, 1, dtype),
        Operation("cumsum", arrays.cumulative, 1, 1, axis),
        Operation("cumprod", arrays.cumulative, 1, 1, axis),
        Operation("sort", arrays.sorted_, 1, 1, axis),
        Operation("argsort", arrays.argsort, 1, 1, axis),
        Operation("matmul", arrays.matmul, 2, 2),
        Operation("solve", arrays.solve, 2, 2),
        Operation("inv", lambda types, _: arrays.square_matrix(types), 1, 1),
        Operation("det", lambda types, _: Scalar(arrays.square_matrix(types).dtype), 1, 1),
        Operation("cholesky", lambda types, _: arrays.square_matrix(types), 1, 1),
        Operation("size", arrays.size, 1, 1, axis),
        Operation("reshape", arrays.reshape, 1, None),
        Operation("broadcast-to", arrays.broadcast, 1, None),
        Operation("unbroadcast", arrays.unbroadcast, 2, None),
        Operation("transpose", arrays.transpose, 1, 1, frozenset({"axes"})),
        Operation("concatenate", arrays.concatenate, 1, None, axis),
        Operation("stack", arrays.stack, 1, None, axis),
        Operation("zeros", arrays.zeros, 1, None, dtype),
        Operation("full", arrays.full, 2, None),
        Operation("arange", arrays.arange, 3, 3),
        Operation("nonzero", arrays.nonzero, 1, 1),
        Operation("tuple", lambda types, _: Tuple(tuple(types)), 0, None),
        Operation("list-new", lists.new_list, 0, 0, frozenset({"item"})),
        Operation("list-append", lists.append, 2, 2),
        Operation("list-pop", lists.pop, 1, 1),
        Operation("list-get", lists.list_get, 2, 2),
        Operation("list-set", lists.list_set, 3, 3),
        Operation("list-len", lists.list_len, 1, 1),
        Operation("list-stack", lists.list_stack, 1, 1),
    ]


OPERATIONS = {operation.name: operation for operation in _operations()}


def result_type(name: str, types: list[Type], params: Params) -> Type:
    """The type of an operation's result, or a `Mismatch` that says what it needs."""
    if any(t == NEVER for t in types):
        return NEVER
    operation = OPERATIONS.get(name)
    if operation is None:
        raise Mismatch(f"there is no operation {name}")
    if len(types) < operation.least or (operation.most is not None and len(types) > operation.most):
        raise Mismatch(f"{name} does not take {len(types)} operands")
    unknown = [key for key in params if key not in operation.params]
    if unknown:
        raise Mismatch(f"{name} has no parameter :{unknown[0]}")
    return operation.rule(types, params)
