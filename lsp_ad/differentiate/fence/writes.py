"""What the fence lets through of writes into arrays."""

from __future__ import annotations

from abc import ABC, abstractmethod

import gast

from lsp_ad.differentiate.fence.blocks import short
from lsp_ad.differentiate.fence.containers import own_containers
from lsp_ad.differentiate.writes import mutations
from lsp_ad.differentiate.writes.writers import DONE
from lsp_ad.differentiate.writes.written import arrays_written, is_copied, sharing_in
from lsp_ad.rules.resolve import Scope
from lsp_ad.semantics import flow
from lsp_ad.semantics.aliases import Given
from lsp_ad.semantics.memory import root
from lsp_ad.semantics.names import parameters


class WriteFence(ABC):
    """The part of the fence for arrays that are changed in place."""

    scope: Scope

    @abstractmethod
    def expression(self, node: gast.expr) -> None: ...

    @abstractmethod
    def refuse(self, code: str, message: str, node: gast.AST) -> None: ...

    def element(self, target: gast.Subscript, s: gast.AST) -> None:
        """A target `a[s]`: a part of what has a name."""
        self.expression(target.value)
        self.expression(target.slice)
        key = isinstance(getattr(target.slice, "value", None), str)
        if root(target) is None or isinstance(s, gast.For) or key:
            message = f"`{short(target)} = ...` writes into `{short(target.value)}` in place."
            self.refuse("AD301", message, target)

    def is_write(self, s: gast.Expr) -> bool:
        """Whether a statement is a call that writes into an array, in a way that is known; its arguments are
        checked."""
        call = s.value
        if not isinstance(call, gast.Call) or not mutations.is_mutation(call, self.scope):
            return False
        if mutations.writes_out(s, self.scope):
            self.without_out(call)
            return True
        parts = [call.func.value] if self.scope.canonical(call.func) is None else []
        for argument in [*parts, *call.args]:
            self.expression(argument)
        return True

    def without_out(self, call: gast.Call) -> None:
        """`f(x, out=a)` as a statement of its own is `a[...] = f(x)`."""
        kept = [k for k in call.keywords if k.arg != "out"]
        self.expression(gast.copy_location(gast.Call(call.func, call.args, kept), call))

    def written_for_caller(self, function: gast.FunctionDef) -> set[str]:
        """The names of a function that write into arrays of its caller's."""
        if function.name in self.scope.program.derived.get(DONE, ()):
            return set()
        lists, statements = own_containers(function, self.scope), flow.statements(function.body)
        written = [(s, r) for s in statements for r in arrays_written(s, lists, self.scope)]
        if not written:
            return set()
        own = {p for p in parameters(function) if is_copied(function, p, self.scope)}
        given = Given(function.body, parameters(function), sharing_in(function, self.scope).edges)
        return {r for s, r in written if given.at(s, r) - own}
