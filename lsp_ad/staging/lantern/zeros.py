"""The shapes of adjoints that begin as numbers: `dx = 0.0` before a loop, or in one branch, is of any shape.

In the program they are arrays of the shape that the loop, or the other branch, gives the variable, if that
can be told from sizes around it; else they have size 1 in each axis and are broadcast.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lsp_ad.staging.backends.base import Spec
from lsp_ad.staging.lantern.elementwise import ELEMENTWISE
from lsp_ad.staging.lantern.ir import Array, Const, Expr, Op, Update, Var
from lsp_ad.staging.lantern.specs import dtype_name
from lsp_ad.staging.lantern.staged import Staged

if TYPE_CHECKING:
    from lsp_ad.staging.lantern.tracer import Tracer


# The names that a block binds, with what they stand for; None of those that it takes.
Bound = Mapping[str, Expr | None]


def unshaped(tracer: Tracer, spec: Spec, value: Any = None) -> Staged:
    """A number (zero) as an array of a shape that is not known: of size 1, to be broadcast."""
    builder = tracer.builder
    sizes = [size or 1 for size in spec.shape or ()]
    number = None if value is None else tracer.value(value)
    made = builder.once(("unshaped", spec, number), lambda: _full(tracer, spec, number, sizes))
    tracer.unshaped[builder.function, made] = number
    return tracer.staged(made, memory=tracer.sharing.piece())


def shaped_like(tracer: Tracer, spec: Spec, value: Any, bound: Bound, number: Any = None) -> Staged | None:
    """A number (zero) in the shape of a value of a block that binds some names; None if that is not known."""
    sizes = _Sizes(tracer, bound).of(value.value) if isinstance(value, Staged) else None
    if sizes is None:
        return None
    return tracer.staged(_full(tracer, spec, number, sizes), memory=tracer.sharing.piece())


def shaped(tracer: Tracer, spec: Spec, value: Any, later: Any, bound: Bound) -> Any:
    """A value that a loop begins with; in the shape of what its body makes of it, where it has none."""
    key = (tracer.builder.function, value.value) if isinstance(value, Staged) else None
    if key not in tracer.unshaped or value.frame is not tracer.frames[-1]:
        return value
    made = shaped_like(tracer, spec, later, bound, tracer.unshaped[key])
    return value if made is None else made


def _full(tracer: Tracer, spec: Spec, number: Any, sizes: Sequence[Any]) -> Any:
    if number is None:
        return tracer.builder.op("zeros", *sizes, dtype=dtype_name(spec.dtype))
    return tracer.builder.op("full", number, *sizes)


class _Sizes:
    """Sizes of values of code that is not yet part of the program, from what is around it."""

    def __init__(self, tracer: Tracer, bound: Bound):
        self.builder, self.bound = tracer.builder, bound
        self.scope = tracer.builder._frames[-1].scope

    def of(self, value: Expr) -> list[Var | Const] | None:
        if not isinstance(value, Var):
            return None
        if value.name not in self.bound:
            t = self.scope.get(value.name)
            return (
                [self.builder.op("size", value, axis=k) for k in range(t.rank)]
                if isinstance(t, Array)
                else None
            )
        match self.bound[value.name]:
            case Op("zeros", sizes):
                return self._all(sizes)
            case Op("unbroadcast" | "full" | "broadcast-to", (_, *sizes)):
                return self._all(sizes)
            case Op(name, args) if name in ELEMENTWISE:
                found = (self.of(a) for a in args)
                return next((sizes for sizes in found if sizes is not None), None)
            case Update(_, array):
                return self.of(array)
        return None

    def _all(self, sizes: Sequence[Expr]) -> list[Var | Const] | None:
        found = [self._number(size) for size in sizes]
        return None if None in found else found  # type: ignore[return-value]

    def _number(self, size: Expr) -> Var | Const | None:
        if isinstance(size, Const) or (isinstance(size, Var) and size.name not in self.bound):
            return size
        made = self.bound[size.name] if isinstance(size, Var) else None
        if isinstance(made, Op) and made.name == "size" and isinstance(made.args[0], Var):
            return self.builder.bind(made) if made.args[0].name not in self.bound else None
        return None
