"""What the differentiator accepts: an allow-list of statements, expressions and calls.

Whatever is not named here is refused by name, so that a construct which no pass knows can
never get through.
"""

from __future__ import annotations

import posixpath
from dataclasses import replace

import gast

from lsp_ad.differentiate.desugar import insertions, iterators, loop_options
from lsp_ad.differentiate.desugar.comprehensions import COMPREHENSIONS, REDUCING, comprehension_names
from lsp_ad.differentiate.desugar.iterators import ITERATORS
from lsp_ad.differentiate.fence.blocks import Blocks
from lsp_ad.differentiate.fence.blocks import short as _text
from lsp_ad.differentiate.fence.containers import ContainerFence, own_containers, tables
from lsp_ad.differentiate.fence.refused import (
    DYNAMIC,
    EFFECTS,
    EXPRESSION_NAMES,
    MUTATING_CALLS,
    MUTATORS,
    STATEMENT_NAMES,
    asks_for_form,
)
from lsp_ad.differentiate.fence.writes import WriteFence
from lsp_ad.differentiate.writes import mutations
from lsp_ad.problems import Problem, Related, Span, problem
from lsp_ad.rules import ATTRIBUTES, CONSTANT_ONLY, CONSTANTS, METHODS, PASSIVE_ATTRIBUTES, RULES, Unsupported
from lsp_ad.rules.declared import Declared, declared
from lsp_ad.rules.resolve import Scope
from lsp_ad.rules.settings import settings_of
from lsp_ad.semantics.changes import grown
from lsp_ad.semantics.shapes import UNKNOWN
from lsp_ad.semantics.texts import kind_of_method
from lsp_ad.source.parse import span_of
from lsp_ad.source.trees import children


def check(function: gast.FunctionDef, scope: Scope) -> list[Problem]:
    """Every reason that the text of a function alone gives for a refusal."""
    if wrong := settings_of(scope.program).problems:
        column = function.col_offset + len("def ")
        name = Span(function.lineno, column, function.lineno, column + len(function.name))
        return [replace(p, span=name) for p in wrong]
    scope = replace(scope, local=scope.local | comprehension_names(function))
    fence = _Fence(scope, function, (function.name,))
    known = declared(scope.program, function)
    if known is not None:
        return list(known.problems)
    fence.signature(function)
    fence.own = own_containers(function, scope)
    fence.tables = tables(function, fence.own, scope)
    fence.body(function.body)
    fence.problems += [*insertions.check_names(function, scope), *loop_options.check(function, scope)]
    return fence.problems


class _Fence(Blocks, ContainerFence, WriteFence):
    def __init__(self, scope: Scope, function: gast.FunctionDef, calling: tuple[str, ...]):
        self.scope = scope
        self.function = function
        self.calling = calling
        self.problems: list[Problem] = []
        self.seen: set[str] = set()
        self.own: set[str] = set()
        self.tables: set[str] = set()

    def refuse(
        self, code: str, message: str, node: gast.AST, way_out: str = "", related: tuple[Related, ...] = ()
    ) -> None:
        self.problems.append(problem(code, message, span_of(node), way_out, related))

    def refuse_at(self, code: str, message: str, span: Span, way_out: str = "") -> None:
        self.problems.append(problem(code, message, span, way_out))

    def signature(self, function: gast.FunctionDef) -> None:
        for starred in (function.args.vararg, function.args.kwarg):
            if starred is not None:
                self.refuse(
                    "AD103",
                    f"`{starred.id}` takes any number of arguments, which generated code cannot repeat.",
                    starred,
                )
        for decorator in function.decorator_list:
            target = decorator.func if isinstance(decorator, gast.Call) else decorator
            if self.scope.canonical(target) not in ("lsp_ad.staged", "lsp_ad.grad"):
                self.refuse(
                    "AD103",
                    f"The decorator `{_text(target)}` may change what `{function.name}` computes.",
                    decorator,
                    "Differentiate the undecorated function, and decorate the result.",
                )

    # --- statements --------------------------------------------------------------------------

    def body(self, body: list[gast.stmt]) -> None:
        for position, statement in enumerate(body):
            value = statement.value if isinstance(statement, gast.Expr) else None
            if position or not isinstance(value, gast.Constant):
                self.statement(statement)

    def statement(self, s: gast.stmt) -> None:
        method = getattr(self, f"_{type(s).__name__.lower()}", None)
        if method is not None:
            method(s)
        elif not isinstance(s, (gast.Pass, gast.Break, gast.Continue)):
            name = STATEMENT_NAMES.get(type(s), type(s).__name__.lower())
            line = s.lineno
            first = Span(line, s.col_offset, line, s.col_offset + max(len(name.split()[-1]), 2))
            self.refuse_at("AD101", f"`{name}` cannot be differentiated.", first)

    def _assign(self, s: gast.Assign) -> None:
        if isinstance(s.value, gast.Call) and self.scope.canonical(s.value.func) in ITERATORS:
            self.iterable(s.value)  # `iterators.py` puts it into the loop that goes over it
        elif mutations.writes_out(s, self.scope):
            self.without_out(s.value)
        elif not self.change(s):
            self.expression(s.value)
        for target in s.targets:
            self.target(target, s)

    def _annassign(self, s: gast.AnnAssign) -> None:
        if s.value is None:
            return
        self.expression(s.value)
        self.target(s.target, s)

    def _augassign(self, s: gast.AugAssign) -> None:
        self.expression(s.value)
        self.target(s.target, s)

    def target(self, target: gast.expr, s: gast.stmt) -> None:
        if isinstance(target, (gast.Tuple, gast.List)):
            for part in target.elts:
                self.target(part, s)
        elif isinstance(target, gast.Starred):
            self.target(target.value, s)
        elif isinstance(target, gast.Subscript) and self.is_own_item(target):
            self.expression(target.slice)
        elif isinstance(target, gast.Subscript):
            self.element(target, s)
        elif isinstance(target, gast.Attribute):
            self.refuse("AD301", f"`{_text(target)} = ...` changes an attribute.", target)

    def _expr(self, s: gast.Expr) -> None:
        value = s.value
        if isinstance(value, gast.Constant) or loop_options.is_directive(s, self.scope) or self.change(s):
            return
        if isinstance(value, gast.Call) and self.scope.canonical(value.func) in EFFECTS:
            for argument in [*value.args, *(k.value for k in value.keywords)]:
                self.expression(argument)
            return
        if self.is_write(s):
            return
        before = len(self.problems)
        self.expression(value)
        known = self.scope.declared(value)
        if known is not None and known.rule is not None and known.rule.is_zero:
            return  # it is there for what it does
        if len(self.problems) == before:
            self.refuse(
                "AD101",
                f"`{_text(value)}` is a statement without a value that is used.",
                s,
                "Remove it, or assign its value to a name.",
            )

    def _return(self, s: gast.Return) -> None:
        if s.value is None:
            self.refuse("AD104", "This `return` gives no value.", s)
        else:
            self.expression(s.value)

    def _if(self, s: gast.If) -> None:
        self.expression(s.test)
        self.body(s.body)
        self.body(s.orelse)

    def _while(self, s: gast.While) -> None:
        self.expression(s.test)
        self.body(s.body)
        self.body(s.orelse)

    def _for(self, s: gast.For) -> None:
        self.target(s.target, s)
        self.iterable(s.iter)
        self.body(s.body)
        self.body(s.orelse)

    def iterable(self, node: gast.expr) -> None:
        if isinstance(node, gast.Call) and self.scope.canonical(node.func) in ITERATORS:
            if any(isinstance(a, gast.Starred) for a in node.args):
                self.refuse("AD102", f"`{_text(node)}` has a starred argument.", node)
            if node.keywords and self.scope.canonical(node.func) != "builtins.enumerate":
                self.refuse("AD202", f"`{_text(node)}` has an option that is not supported.", node)
            for argument in node.args:
                self.iterable(argument)
        elif iterators.lists_iterator(node, self.scope):
            self.iterable(node.args[0])
        else:
            self.expression(node)

    def _assert(self, s: gast.Assert) -> None:
        self.expression(s.test)
        if s.msg is not None:
            self.expression(s.msg)

    def _raise(self, s: gast.Raise) -> None:
        if isinstance(s.exc, gast.Call):
            for argument in s.exc.args:
                self.expression(argument)

    # --- expressions -------------------------------------------------------------------------

    def expression(self, node: gast.expr) -> None:
        if isinstance(node, (gast.Constant, gast.Name)):
            pass
        elif isinstance(node, gast.Call):
            self._call(node)
        elif isinstance(node, COMPREHENSIONS):
            self.comprehension(node)
        elif isinstance(node, gast.Attribute):
            self._attribute(node)
        elif isinstance(
            node,
            (
                gast.BinOp,
                gast.UnaryOp,
                gast.BoolOp,
                gast.Compare,
                gast.Subscript,
                gast.Slice,
                gast.Tuple,
                gast.List,
                gast.IfExp,
                gast.JoinedStr,
                gast.FormattedValue,
                gast.NamedExpr,
                gast.Dict,
            ),
        ):
            if self.starred_display(node):
                return
            for child in children(node):
                if isinstance(child, gast.expr):
                    self.expression(child)
        else:
            name = EXPRESSION_NAMES.get(type(node), type(node).__name__)
            self.refuse("AD102", f"A {name} cannot be differentiated.", node)

    def _attribute(self, node: gast.Attribute) -> None:
        name = self.scope.canonical(node)
        if name is not None:
            if name not in CONSTANTS and name not in RULES and self.scope.constant(node) is None:
                self.refuse("AD201", f"`{_text(node)}` ({name}) is not known{self._reason(name)}", node)
        elif node.attr in PASSIVE_ATTRIBUTES or node.attr in ATTRIBUTES:
            self.expression(node.value)
        else:
            self.refuse(
                "AD102",
                f"The attribute `{_text(node)}` is not known.",
                node,
                "Pass the value as a parameter of its own.",
            )

    def _call(self, node: gast.Call) -> None:
        if self.listed_iterator(node):
            return
        for argument in [*node.args, *(k.value for k in node.keywords)]:
            self.expression(argument)
        name = self.scope.canonical(node.func)
        known = self.scope.declared(node)
        if known is not None:
            self._declared(known, node)
        elif name in DYNAMIC and not (name == "builtins.getattr" and asks_for_form(node)):
            self.refuse("AD105", f"`{_text(node.func)}` runs or reads what the text does not show.", node)
        elif name in MUTATING_CALLS:
            self.refuse("AD301", f"`{_text(node.func)}` writes into its argument in place.", node)
        elif name in REDUCING:
            if node.keywords or not node.args:
                self.refuse(
                    "AD202",
                    f"`{_text(node)}`: the options are not supported.",
                    node,
                    f"Use np.{name.removeprefix('builtins.')} for an array.",
                )
        elif name in ITERATORS - {"builtins.range"}:
            self.refuse(
                "AD102", f"`{_text(node.func)}` is supported as what a `for` goes over, not as a value.", node
            )
        elif self.container_call(name, node):
            pass
        elif (callee := self.scope.callee(node)) is not None:
            self._callee(callee, node)
        elif name is not None:
            self._library(name, node)
        else:
            self._method(node)

    def _library(self, name: str, node: gast.Call) -> None:
        rule = RULES.get(name) or CONSTANT_ONLY.get(name)
        if any(k.arg == "out" for k in node.keywords):
            self.refuse("AD301", f"`{_text(node.func)}(..., out=...)` writes into an array in place.", node)
        elif rule is None:
            known = name if name != _text(node.func) else "it"
            self.refuse(
                "AD201",
                f"There is no derivative rule for `{_text(node.func)}`"
                + (f" ({known})" if known != "it" else "")
                + self._reason(name),
                node,
            )
        else:
            self._options(node)

    def _declared(self, known: Declared, node: gast.Call) -> None:
        self.problems += [p for p in known.problems if p not in self.problems]
        for hidden in sorted(self.scope.local & set(known.calls)):
            self.refuse(
                "AD506", f"`{hidden}`, the rule of `{_text(node.func)}`, is hidden by a variable.", node
            )
        if known.rule is not None:
            self._options(node)

    def _reason(self, name: str) -> str:
        """The end of a sentence: why the text of a function of another file is not known, if that is so."""
        reason = self.scope.program.links.reasons.get(name, "")
        return f": {reason.rstrip('.')}." if reason else "."

    def _options(self, node: gast.Call) -> None:
        operation = self.scope.operation(node)
        assert operation is not None
        try:
            operation.bind(lambda n: UNKNOWN)
        except Unsupported as error:
            self.refuse("AD202", f"`{_text(node.func)}`: {error} is not supported.", node)

    def _method(self, node: gast.Call) -> None:
        if isinstance(node.func, gast.Attribute):
            self.expression(node.func.value)
            if node.func.attr in METHODS and self.scope.operation(node) is not None:
                if any(k.arg == "out" for k in node.keywords):
                    self.refuse(
                        "AD301", f"`{_text(node.func)}(out=...)` writes into an array in place.", node
                    )
                else:
                    self._options(node)
            elif node.func.attr in MUTATORS:
                self.refuse(
                    "AD301", f"`{_text(node.func)}(...)` changes `{_text(node.func.value)}` in place.", node
                )
            elif kind_of_method(node) is None:
                self.refuse("AD201", f"The method `{_text(node.func)}` is not known.", node)
        else:
            self.refuse("AD201", f"It cannot be told what `{_text(node.func)}` is.", node)

    def _callee(self, function: gast.FunctionDef, node: gast.Call) -> None:
        """A function that is called must be acceptable itself; the reason is shown where it stands."""
        name = function.name
        if name == self.calling[0]:
            for n in sorted(grown(function.body) - own_containers(function, self.scope)):
                message = f"`{n}` is changed in place, and `{name}`, which calls itself, hands it on."
                self.refuse("AD302", message, node, f"Change a copy: `{n} = list({n})`.")
        if name in self.calling or name in self.seen:
            return
        self.seen.add(name)
        outer = Scope.of(self.scope.program, function)
        known = replace(outer, local=outer.local | comprehension_names(function))
        inner = _Fence(known, function, (*self.calling, name))
        inner.seen = self.seen
        inner.own = own_containers(function, inner.scope)
        inner.tables = tables(function, inner.own, inner.scope)
        inner.signature(function)
        for n in sorted((grown(function.body) - inner.own) | inner.written_for_caller(function)):
            message = f"`{n}` is changed in place, and may belong to the caller."
            inner.refuse("AD302", message, function.body[0], f"Change a copy: `{n} = list({n})`.")
        inner.body(function.body)
        inner.problems += insertions.check_names(function, inner.scope)
        if inner.problems:
            first = inner.problems[0]
            related = tuple(Related(p.message, p.span) for p in inner.problems)
            self.refuse(
                "AD203",
                f"`{name}`, which is called here, cannot be differentiated: {self._place(first.span)}: "
                f"{first.message}",
                node,
                first.way_out,
                related,
            )
        elif any(isinstance(a, gast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            self.refuse("AD202", f"`{_text(node)}` has starred arguments.", node)

    def _place(self, span: Span) -> str:
        home = self.scope.program.home(span)
        return f"line {span.line}" if home is None else f"{posixpath.basename(home[0])}, line {home[1].line}"
