"""The shapes of adjoints that begin as numbers: `dx = 0.0` before a loop, or in one branch, is of any shape.

In the program they are arrays of the shape that the loop, or the other branch, gives the variable, if that
can be told from sizes around it, or from what the first iteration takes from a list (a tape); else they have
size 1 in each axis and are broadcast.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lsp_ad.staging.backends.base import Spec
from lsp_ad.staging.lantern.elementwise import ELEMENTWISE
from lsp_ad.staging.lantern.ir import Array, Const, Expr, Op, Update, Var, walk
from lsp_ad.staging.lantern.specs import dtype_name
from lsp_ad.staging.lantern.staged import Staged

if TYPE_CHECKING:
    from lsp_ad.staging.lantern.tracer import Tracer


# The names that a block binds, with what they stand for; None of those that it takes.
Bound = Mapping[str, Expr | None]
Entry = Mapping[str, Any]


def unshaped(tracer: Tracer, spec: Spec, value: Any = None) -> Staged:
    """A number (zero) as an array of a shape that is not known: of size 1, to be broadcast."""
    builder = tracer.builder
    sizes = [size or 1 for size in spec.shape or ()]
    number = None if value is None else tracer.value(value)
    made = builder.once(("unshaped", spec, number), lambda: _full(tracer, spec, number, sizes))
    tracer.unshaped[builder.function, made] = number
    return tracer.staged(made, memory=tracer.sharing.piece())


def shaped_like(tracer: Tracer, spec: Spec, value: Any, bound: Bound) -> Staged | None:
    """A zero in the shape of a value of a block that binds some names; None if that is not known."""
    sizes = _Sizes(tracer, bound, {}).of(value.value) if isinstance(value, Staged) else None
    return None if sizes is None else _staged(tracer, spec, None, sizes)


def shaped(tracer: Tracer, spec: Spec, value: Any, later: Any, name: str, bound: Bound, entry: Entry) -> Any:
    """A value that a loop begins with; where it has no shape, in that of what its body makes of it.

    If that is not known, in the shape of what it meets in the first iteration, if there is one such thing.
    `name`: what the body calls it; `entry`: what the names that it takes are in the first iteration.
    """
    key = (tracer.builder.function, value.value) if isinstance(value, Staged) else None
    if key not in tracer.unshaped or value.frame is not tracer.frames[-1]:
        return value
    sizes = _Sizes(tracer, bound, {}).of(later.value) if isinstance(later, Staged) else None
    met = _met(name, bound) if sizes is None else None
    sizes = sizes if met is None else _Sizes(tracer, bound, entry).of(met)
    return value if sizes is None else _staged(tracer, spec, tracer.unshaped[key], sizes)


def _met(name: str, bound: Bound) -> Expr | None:
    """The other operand of the elementwise operation that reads a name, if nothing else does."""
    values = [value for value in bound.values() if value is not None]
    if sum(e == Var(name) for value in values for e in walk(value)) != 1:
        return None
    for value in values:
        match value:
            case Op(operation, (one, other)) if operation in ELEMENTWISE and Var(name) in (one, other):
                return other if one == Var(name) else one
    return None


def _staged(tracer: Tracer, spec: Spec, number: Any, sizes: Sequence[Any]) -> Staged:
    return tracer.staged(_full(tracer, spec, number, sizes), memory=tracer.sharing.piece())


def _full(tracer: Tracer, spec: Spec, number: Any, sizes: Sequence[Any]) -> Any:
    if number is None:
        return tracer.builder.op("zeros", *sizes, dtype=dtype_name(spec.dtype))
    return tracer.builder.op("full", number, *sizes)


class _Sizes:
    """Sizes of values of code that is not yet part of the program, from what is around it."""

    def __init__(self, tracer: Tracer, bound: Bound, entry: Entry):
        self.tracer, self.builder, self.bound, self.entry = tracer, tracer.builder, bound, entry
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
            name, axis = made.args[0].name, made.param("axis")
            return self.builder.bind(made) if name not in self.bound else self._size_at_first(name, axis)
        return None

    def _size_at_first(self, name: str, axis: Any) -> Var | Const | None:
        """The size of what the first iteration takes from a list; 1 where nothing is there to take."""
        made = self.bound[name]
        if not (isinstance(made, Op) and made.name == "list-get"):
            return None
        items, index = map(self._at_first, made.args)
        if items is None or index is None:
            return None
        b = self.builder
        count = b.op("list-len", items)
        inside = b.op("and", b.op(">=", index, b.op("neg", count)), b.op("<", index, count))
        taken = lambda: b.op("size", b.op("list-get", items, index), axis=axis)  # noqa: E731
        return b.branch(inside, taken, lambda: 1)

    def _at_first(self, value: Expr) -> Var | Const | None:
        """A list or an index, as the first iteration has it."""
        if not isinstance(value, Var) or value.name not in self.bound:
            return value if isinstance(value, Var | Const) else None
        if value.name in self.entry:
            return self.tracer.value(self.entry[value.name])
        match self.bound[value.name]:
            case Op("+" | "-", args) as made:
                found = [self._at_first(a) for a in args]
                return None if None in found else self.builder.op(made.name, *found)  # type: ignore[arg-type]
        return None
