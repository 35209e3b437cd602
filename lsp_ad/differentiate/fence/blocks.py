"""What the differentiator accepts of `with`, `try`, `match`, `del` and the declarations of names."""

from __future__ import annotations

import gast

from lsp_ad.differentiate.desugar import checkpoints, insertions, matches, tries, withs
from lsp_ad.differentiate.writes import mutations
from lsp_ad.problems import Problem, Related, Span
from lsp_ad.rules.resolve import Scope
from lsp_ad.semantics import flow
from lsp_ad.semantics.changes import changed_by
from lsp_ad.semantics.names import bound_names, imported
from lsp_ad.source.printing import expression_text


class Blocks:
    """The part of the fence for these statements; the methods below are those of the whole."""

    scope: Scope
    function: gast.FunctionDef
    problems: list[Problem]

    def refuse(
        self, code: str, message: str, node: gast.AST, way_out: str = "", related: tuple[Related, ...] = ()
    ) -> None:
        raise NotImplementedError

    def refuse_at(self, code: str, message: str, span: Span, way_out: str = "") -> None:
        raise NotImplementedError

    def expression(self, node: gast.expr) -> None:
        raise NotImplementedError

    def body(self, body: list[gast.stmt]) -> None:
        raise NotImplementedError

    # --- with --------------------------------------------------------------------------------

    def _with(self, s: gast.With) -> None:
        if insertions.is_insertion(s, self.scope):
            self.problems += insertions.check(s, self.scope, self.expression)
            return
        if checkpoints.is_checkpoint(s, self.scope):
            self.problems += checkpoints.check(s, self.scope)
            self.body(s.body)
            return
        for item in s.items:
            manager = item.context_expr
            if not withs.is_known(manager, self.scope):
                self.refuse(
                    "AD101",
                    f"`with {short(manager)}` may change what its block computes.",
                    manager,
                    f"Known are {', '.join(f'`{m}`' for m in withs.MANAGERS)}.",
                )
                continue
            for argument in [*manager.args, *(k.value for k in manager.keywords)]:
                self.expression(argument)
            if item.optional_vars is not None:
                self.refuse(
                    "AD101",
                    f"`with {short(manager)} as ...` binds a name to something that is no number.",
                    item.optional_vars,
                    "Leave the `as` out.",
                )
        self.body(s.body)

    # --- try ---------------------------------------------------------------------------------

    def _try(self, s: gast.Try) -> None:
        self.body(s.body)
        for handler in s.handlers:
            self.body(handler.body)
        self.body(s.orelse)
        for reason in tries.reasons(s, self.scope):
            self.refuse("AD101", reason.message, reason.node, reason.way_out)
        for statement in s.finalbody:
            if isinstance(statement, gast.Expr) and not self._changes(statement):
                self._expr(statement)
            elif not isinstance(statement, gast.Pass):
                self.refuse(
                    "AD101",
                    "What `finally` does is done on paths that the derivative does not know.",
                    statement,
                    "Do it after the `try`.",
                )

    def _expr(self, s: gast.Expr) -> None:
        raise NotImplementedError

    def _changes(self, s: gast.Expr) -> bool:
        """Whether a call that stands as a statement changes an array, a list or a name."""
        inside = any(isinstance(n, gast.NamedExpr) or changed_by(n) for n in flow.walk(s))
        return inside or bool(mutations.changed_by(s, self.scope))

    # --- match -------------------------------------------------------------------------------

    def _match(self, s: gast.Match) -> None:
        self.expression(s.subject)
        for case in s.cases:
            if not matches.supported(case):
                self.refuse(
                    "AD101",
                    "A pattern of `match` that is more than constants and one name cannot be differentiated.",
                    case.pattern,
                    "Compare with `if`.",
                )
            if case.guard is not None:
                self.expression(case.guard)
            self.body(case.body)

    # --- names -------------------------------------------------------------------------------

    def _delete(self, s: gast.Delete) -> None:
        for target in s.targets:
            if not isinstance(target, gast.Name):
                self.refuse(
                    "AD301", f"`del {short(target)}` changes `{short(target.value)}` in place.", target
                )

    def _global(self, s: gast.Global) -> None:
        if bound := sorted(set(s.names) & bound_names(self.function.body)):
            self._keyword(s, f"The global `{bound[0]}` is assigned here.", "Return its value instead.")

    def _import(self, s: gast.Import | gast.ImportFrom) -> None:
        names = imported(s)
        if not names or not set(names) <= set(self.scope.imports):
            self._keyword(
                s,
                "An `import` under a condition, or of a name with another meaning, cannot be followed.",
                "Import at the top of the file.",
            )

    _importfrom = _import

    def _keyword(self, s: gast.stmt, message: str, way_out: str) -> None:
        """Refuse a statement, pointing at its first word."""
        width = len("from" if isinstance(s, gast.ImportFrom) else type(s).__name__)
        span = Span(s.lineno, s.col_offset, s.lineno, s.col_offset + width)
        self.refuse_at("AD101", message, span, way_out)


def short(node: gast.AST) -> str:
    """The text of an expression, cut where it is long."""
    text = expression_text(node)
    return text if len(text) <= 40 else text[:37] + "..."
