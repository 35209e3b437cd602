"""The way through the statements of a function: branches, loops and jumps.

A jump sets a flag, as in converted code: what follows it is skipped where the flag is known, and otherwise
is a branch that the flag decides.
"""

from __future__ import annotations

import gast

from lsp_ad.checks.prediction import library
from lsp_ad.checks.prediction.expressions import OPERATORS
from lsp_ad.checks.prediction.objects import Objects
from lsp_ad.checks.prediction.values import (
    FALSE,
    NONE,
    STAGED,
    TRUE,
    UNCLEAR,
    Frame,
    Function,
    Items,
    Known,
    Meeting,
    Object,
    Python,
    Staged,
    Table,
    Unclear,
    Value,
    combined,
    has_staged,
    truth,
)
from lsp_ad.checks.staged_functions import Functions, Place
from lsp_ad.semantics.names import bound_names

_RETURNED, _VALUE = "return", "return value"  # no names of Python


class Statements(Objects):
    """Goes through a function without running it, but for its loops."""

    def __init__(self, functions: Functions, converts: bool = True):
        super().__init__(functions, converts)
        self._loops = 0  # around the statement, in this function

    def run(self, place: Place) -> Value:
        if isinstance(place.node, gast.Lambda):
            return self.plain(self.value(place.node.body))
        loops, self._loops = self._loops, 0
        names = self.frame.names
        names[_RETURNED] = FALSE
        self.block(place.node.body)
        self._loops = loops
        return self.frame.names.get(_VALUE, NONE)

    # Jumps

    def _flags(self) -> list[str]:
        return [_RETURNED, f"break {self._loops}", f"continue {self._loops}"]

    def _jumped(self) -> Value:
        """Has a jump left this block? Staged where a staged condition says so."""
        flags = [self.frame.names.get(flag, FALSE) for flag in self._flags()]
        if any(isinstance(f, Known) and f.value for f in flags):
            return TRUE
        return next((f for f in flags if not isinstance(f, Known)), FALSE)

    def _go_on(self) -> None:
        for flag in self._flags():
            self.frame.names[flag] = FALSE

    def block(self, body: list[gast.stmt]) -> None:
        for position, s in enumerate(body):
            jumped = self._jumped()
            if isinstance(jumped, Known):
                if jumped.value:
                    return
                self._statement(s)
                continue

            def rest(rest: list[gast.stmt] = body[position:]) -> None:
                self._go_on()
                self.block(rest)

            self.either(jumped, rest, lambda: None)
            return

    def _statement(self, s: gast.stmt) -> None:
        method = getattr(self, "_" + type(s).__name__.lower(), None)
        if method is not None:
            method(s)
        else:
            for name in bound_names([s]):
                self.frame.names[name] = UNCLEAR

    def _return(self, s: gast.Return) -> None:
        value = self.plain(self.value(s.value))
        self.frame.names[_VALUE] = value
        self.frame.names[_RETURNED] = TRUE

    def _raise(self, s: gast.Raise) -> None:
        self.frame.names[_RETURNED] = TRUE

    def _break(self, s: gast.Break) -> None:
        self.frame.names[f"break {self._loops}"] = TRUE

    def _continue(self, s: gast.Continue) -> None:
        self.frame.names[f"continue {self._loops}"] = TRUE

    # Statements that go one way

    def _expr(self, s: gast.Expr) -> None:
        self.value(s.value)

    def _assign(self, s: gast.Assign) -> None:
        value = self.plain(self.value(s.value))
        for target in s.targets:
            self.bind(target, value)

    def _annassign(self, s: gast.AnnAssign) -> None:
        if s.value is not None:
            self.bind(s.target, self.plain(self.value(s.value)))

    def _augassign(self, s: gast.AugAssign) -> None:
        old, new = self.plain(self.value(s.target)), self.plain(self.value(s.value))
        if isinstance(old, Object):
            own = self.method(old, f"__i{OPERATORS.get(type(s.op), '')}__", [new])
            self.bind(s.target, own if own is not None else self.binary(s.op, old, new))
            return
        if (
            isinstance(old, Items)
            and old.is_list
            and isinstance(s.op, gast.Add)
            and library.elements(new) is not None
        ):
            old.items += library.elements(new) or []
            return
        self.bind(s.target, self.binary(s.op, old, new))

    def bind(self, target: gast.AST, value: Value) -> None:
        if isinstance(target, gast.Name):
            self._owner(target.id).names[target.id] = value
        elif isinstance(target, (gast.Tuple, gast.List)):
            items = self.elements(value)
            if items is None or len(items) != len(target.elts):
                items = [value if isinstance(value, (Staged, Unclear)) else combined(value)] * len(
                    target.elts
                )
            for element, item in zip(target.elts, items, strict=True):
                self.bind(element, item)
        elif isinstance(target, gast.Subscript):
            self._store(target, value)
        elif isinstance(target, gast.Attribute):
            owner = self.plain(self.value(target.value))
            if isinstance(owner, Object):
                self.store(owner, target.attr, value)
            elif isinstance(owner, Python) and has_staged(value) and isinstance(target.value, gast.Name):
                self.bind(target.value, UNCLEAR)

    def _owner(self, name: str) -> Frame:
        """The frame whose variable a name is."""
        frame: Frame | None = self.frame
        while frame is not None:
            if name in frame.place.locals or name.startswith(_RETURNED):
                return frame
            frame = frame.parent
        return self.frame

    def _store(self, target: gast.Subscript, value: Value) -> None:
        """`a[i] = value`: of an array, staged where the index or the value is."""
        owner, index = self.plain(self.value(target.value)), self.value(target.slice)
        if isinstance(owner, Object):
            self.method(owner, "__setitem__", [index, value])
            return
        if isinstance(owner, Items) and isinstance(index, Known) and isinstance(index.value, int):
            if -len(owner.items) <= index.value < len(owner.items):
                owner.items[index.value] = value
        elif isinstance(owner, Table) and isinstance(index, Known):
            owner.entries[index.value] = value
        elif isinstance(owner, Items):
            owner.items[:] = [Meeting(index).values(item, value) for item in owner.items]
        elif isinstance(owner, Table):
            owner.entries = dict.fromkeys(owner.entries, UNCLEAR)
        elif isinstance(owner, Python) and has_staged(index, value):
            self.bind(target.value, STAGED)

    def _functiondef(self, s: gast.FunctionDef) -> None:
        self.frame.kept = True
        self.frame.names[s.name] = Function(self.functions.places[s], self.frame)

    def _assert(self, s: gast.Assert) -> None:
        self.value(s.test)

    def _with(self, s: gast.With) -> None:
        entered = []
        for item in s.items:
            manager = self.plain(self.value(item.context_expr))
            given: Value = UNCLEAR
            if isinstance(manager, Object):
                entered.append(manager)
                given = self.method(manager, "__enter__", []) or UNCLEAR
            if item.optional_vars is not None:
                self.bind(item.optional_vars, given)
        box = Frame(self.frame.place, None, {str(i): manager for i, manager in enumerate(entered)})
        self.frames.append(box)  # what goes on in the block reaches them
        self.block(s.body)
        self.frames.remove(box)
        for manager in reversed(list(box.names.values())):
            self.method(manager, "__exit__", [NONE, NONE, NONE])

    def _try(self, s: gast.Try) -> None:
        self.block([*s.body, *s.orelse])
        self.block(s.finalbody)

    def _delete(self, s: gast.Delete) -> None:
        for target in s.targets:
            if isinstance(target, gast.Name):
                self.frame.names.pop(target.id, None)

    def _pass(self, s: gast.Pass) -> None:
        pass

    _import = _importfrom = _global = _nonlocal = _pass

    # Branches

    def _if(self, s: gast.If) -> None:
        test = self.asked(self.plain(self.value(s.test)))
        self.decide(s, "if", test)
        known = truth(test)
        if isinstance(known, Known):
            self.block(s.body if known.value else s.orelse)
        else:
            self.either(test, lambda: self.block(s.body), lambda: self.block(s.orelse))

    def _match(self, s: gast.Match) -> None:
        self._cases(self.plain(self.value(s.subject)), s.cases)

    def _cases(self, subject: Value, cases: list[gast.match_case]) -> None:
        if not cases:
            return
        case, *others = cases
        test = self._matches(subject, case.pattern)
        always = isinstance(case.pattern, gast.MatchAs) and case.pattern.pattern is None
        decisive = test
        if case.guard is not None and not (isinstance(test, Known) and not test.value):
            guard = self.plain(self.value(case.guard))
            decisive = UNCLEAR if isinstance(test, Python) and has_staged(guard) else guard
            test = truth(guard) if isinstance(test, Known) else combined(test, guard)
        if not (always and case.guard is None):
            self.decide(case.pattern, "case", decisive if not isinstance(test, Staged) else test)
        if isinstance(test, Known):
            self.block(case.body) if test.value else self._cases(subject, others)
        else:
            self.either(test, lambda: self.block(case.body), lambda: self._cases(subject, others))

    def _matches(self, subject: Value, pattern: gast.AST) -> Value:
        """Does a pattern fit? The names that it binds are bound."""
        if isinstance(pattern, gast.MatchAs):
            fits = TRUE if pattern.pattern is None else self._matches(subject, pattern.pattern)
            if pattern.name is not None:
                self.frame.names[pattern.name] = subject
            return fits
        if isinstance(pattern, gast.MatchValue):
            return truth(library.comparison(gast.Eq(), subject, self.plain(self.value(pattern.value))))
        if isinstance(pattern, gast.MatchSingleton):
            return truth(library.comparison(gast.Is(), subject, Known(pattern.value)))
        if isinstance(pattern, gast.MatchOr):
            fits_one = [self._matches(subject, p) for p in pattern.patterns]
            if any(isinstance(f, Known) and f.value for f in fits_one):
                return TRUE
            return FALSE if all(isinstance(f, Known) for f in fits_one) else combined(*fits_one)
        for name in bound_names([pattern]):
            self.frame.names[name] = UNCLEAR
        return UNCLEAR
