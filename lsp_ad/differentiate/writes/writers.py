"""Functions that write into their arguments give the new values back instead.

Before:                                 After:
    def axpy(y, a, x):                      def axpy_values(y, a, x):
        y += a * x                              y += a * x
                                                return y

    axpy(u, 2.0, v)                         u[...] = axpy_values(u, 2.0, v)

The new function works on a copy of what it is given. A function without a result is differentiated in what it
gives back, too: the parameters that it writes into, in their order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import gast

from lsp_ad.differentiate.fence.containers import own_containers
from lsp_ad.differentiate.fresh import plain
from lsp_ad.differentiate.functions.arguments import match
from lsp_ad.differentiate.writes.written import arrays_written, is_copied, sharing_in
from lsp_ad.problems import Refusal, problem
from lsp_ad.rules.declared import declared
from lsp_ad.rules.resolve import Scope
from lsp_ad.semantics import flow
from lsp_ad.semantics.aliases import Given
from lsp_ad.semantics.hints import parameter_kinds
from lsp_ad.semantics.memory import Sharing, are_apart, root
from lsp_ad.semantics.names import Program, parameters
from lsp_ad.simplify.algebra import assign, constant, expression, name
from lsp_ad.source.parse import span_of
from lsp_ad.source.printing import expression_text
from lsp_ad.source.trees import copied

DONE = "gives back what it writes into"  # a key of Program.derived


def giving_back(program: Program, entry: str) -> Program:
    """The program in which `entry`, and all that it calls, write into no argument.

    Raises Refusal (AD302) where a call of a function that writes stands inside of an expression.
    """
    found = _Writers(program)
    found.reach(entry)
    if not any(found.writes.values()):
        return program
    found.close()
    return found.program_without(entry)


class _Writers:
    def __init__(self, program: Program):
        self.program = program
        self.writes: dict[str, dict[str, bool]] = {}
        self.calls: dict[str, list[tuple[gast.stmt, gast.Call, str]]] = {}
        self._given: dict[str, Given] = {}
        self._groups: dict[str, dict[str, frozenset[str]]] = {}
        self.functions: dict[str, gast.FunctionDef] = {}

    def reach(self, start: str) -> None:
        """Find the functions that are called from one, and the parameters that each writes into.

        A parameter that is only changed by `p += e` is written into if it is an array.
        """
        pending = [self.program.functions[start]]
        while pending:
            function = pending.pop()
            title = self.title(function)
            if title in self.writes or declared(self.program, function) is not None:
                continue  # of a declared function its rule says all
            scope = Scope.of(self.program, function)
            self.writes[title] = self._written(function, scope)
            self.calls[title] = []
            for s, node in _calls(function):
                callee = scope.callee(node)
                if callee is not None:
                    self.calls[title].append((s, node, self.title(callee)))
                    pending.append(callee)

    def title(self, function: gast.FunctionDef) -> str:
        """A name for a function that no other has: functions of other files may be called alike."""
        title, number = function.name, 2
        while self.functions.setdefault(title, function) is not function:
            title, number = f"{function.name}{number}", number + 1
        return title

    def groups(self, title: str) -> dict[str, frozenset[str]]:
        """For each name of a function those that it may share memory with."""
        if title not in self._groups:
            self._groups[title] = self._sharing(title).groups(self._function(title).body)
        return self._groups[title]

    def given(self, title: str) -> Given:
        """Where the names of a function may share memory with its arguments."""
        if title not in self._given:
            function = self._function(title)
            self._given[title] = Given(function.body, parameters(function), self._sharing(title).edges)
        return self._given[title]

    def _sharing(self, title: str) -> Sharing:
        function = self._function(title)
        return sharing_in(function, Scope.of(self.program, function))

    def _written(self, function: gast.FunctionDef, scope: Scope) -> dict[str, bool]:
        """Each parameter that a function itself writes into; True: surely an array."""
        title, kinds = self.title(function), parameter_kinds(function)
        found: dict[str, bool] = {}
        statements = flow.statements(function.body)
        writing = any(arrays_written(s, set(), scope) for s in statements)
        lists = own_containers(function, scope) if writing else set()
        for s in statements:
            changed, sure = arrays_written(s, lists, scope), True
            if isinstance(s, gast.AugAssign) and isinstance(s.target, gast.Name):
                changed, sure = {s.target.id}, False
            for p in {p for n in changed for p in self.given(title).at(s, n)}:
                if not (kinds[p].is_structure or kinds[p].type == "number" or is_copied(function, p, scope)):
                    found[p] = found.get(p, False) or sure
        return {p: found[p] for p in parameters(function) if p in found}

    def close(self) -> None:
        """What a callee writes into is written by the caller, too, if it is one of its parameters."""
        changed = True
        while changed:
            changed = False
            for caller, calls in self.calls.items():
                for s, call, callee in calls:
                    for p, sure in list(self.writes.get(callee, {}).items()):
                        changed |= self._hand_up(caller, s, call, callee, p, sure)

    def _hand_up(self, caller: str, s: gast.stmt, call: gast.Call, callee: str, p: str, sure: bool) -> bool:
        """Note for the caller that a callee writes into the argument for `p`; whether that is new."""
        function = self._function(caller)
        given = match(call, self._function(callee), Scope.of(self.program, function))
        array = root(given[p]) if p in given else None
        if array is None:
            return False
        changed = False
        for q in sorted(self.given(caller).at(s, array.id)):
            known = self.writes[caller].get(q)
            if known is None or sure > known:
                self.writes[caller][q] = sure
                changed = True
        return changed

    def _function(self, title: str) -> gast.FunctionDef:
        return self.functions[title]

    # --- the program without them ----------------------------------------------------------------

    def program_without(self, entry: str) -> Program:
        made = dict(self.program.made)
        written = dict(self.program.written)
        taken = self.program.bound | {n.id for f in self.writes for n in _names(self._function(f))}
        titles = {f: _new(f"{f}_values", taken) for f, writes in self.writes.items() if writes}
        for title, writes in self.writes.items():
            touched = writes or any(callee in titles for *_, callee in self.calls[title])
            if not touched or (title == entry and not self._changes(title, titles)):
                continue
            function = copied(self._function(title))
            self._rewrite_calls(title, function, titles)
            chosen = titles.get(title, title)
            if title == entry:
                chosen = title
                if not _is_valued(function):
                    _give_back(function, list(writes))
            elif writes:
                _give_back(function, list(writes))
                self._on_copies(title, function)
            function.name = chosen
            made[chosen] = function
            written.setdefault(chosen, self.program.written.get(title, self._function(title)))
        program = replace(self.program, made=made, written=written)
        program.derived.update(self.program.derived)
        program.derived[DONE] = frozenset(titles.values())
        return program

    def _on_copies(self, title: str, function: gast.FunctionDef) -> None:
        """Let a function leave its arguments alone: arrays are copied first, `p += e` is `p = p + e`."""
        numpy = self.program.numpy
        copies: list[gast.stmt] = []
        for p, sure in self.writes[title].items():
            if sure:
                copies.append(assign(p, expression(f"{numpy}.array({p})")))
            elif len(self.groups(title).get(p, {p})) > 1:
                message = f"`{p}`, which `{title}` changes in place, has another name there."
                raise Refusal(problem("AD302", message, span_of(function.body[0])))

        def block(body: list[gast.stmt]) -> list[gast.stmt]:
            for s in body:
                for inner in flow.blocks(s):
                    inner[:] = block(inner)
            return [self._plain(s, title) for s in body]

        function.body = [*(gast.copy_location(c, function.body[0]) for c in copies), *block(function.body)]

    def _plain(self, s: gast.stmt, title: str) -> gast.stmt:
        if not isinstance(s, gast.AugAssign) or not isinstance(s.target, gast.Name):
            return s
        if self.writes[title].get(s.target.id) is not False:
            return s
        made = gast.Assign([s.target], gast.BinOp(name(s.target.id), s.op, s.value), None)
        return gast.copy_location(made, s)

    def _changes(self, title: str, titles: dict[str, str]) -> bool:
        void = bool(self.writes[title]) and not _is_valued(self._function(title))
        return void or any(callee in titles for *_, callee in self.calls[title])

    def _rewrite_calls(self, title: str, function: gast.FunctionDef, titles: dict[str, str]) -> None:
        scope = Scope.of(self.program, self._function(title))
        taken = {n.id for n in _names(function)}

        def block(body: list[gast.stmt]) -> list[gast.stmt]:
            found: list[gast.stmt] = []
            for s in body:
                for inner in flow.blocks(s):
                    inner[:] = block(inner)
                callee = scope.callee(s.value) if isinstance(getattr(s, "value", None), gast.Call) else None
                if callee is None or self.title(callee) not in titles:
                    self._refuse_inside(s, scope, titles)
                    found.append(s)
                    continue
                made = self._call(s, title, callee, titles[self.title(callee)], taken)
                found += [m if m is s else gast.copy_location(m, s) for m in made]
            return found

        function.body = block(function.body)

    def _refuse_inside(self, s: gast.stmt, scope: Scope, titles: dict[str, str]) -> None:
        for part in flow.header(s):
            for node in flow.walk(part):
                callee = scope.callee(node) if isinstance(node, gast.Call) else None
                if callee is not None and self.title(callee) in titles:
                    message = f"`{callee.name}` writes into its argument, in the middle of an expression."
                    way_out = "Call it in a statement of its own."
                    raise Refusal(problem("AD302", message, span_of(node), way_out))

    def _call(
        self, s: gast.stmt, caller: str, callee: gast.FunctionDef, title: str, taken: set[str]
    ) -> list[gast.stmt]:
        """A call that is a statement or the whole value of one, with what the function gives back."""
        given = match(s.value, callee, Scope.of(self.program, self._function(caller)))
        writes = self.writes[self.title(callee)]
        self._refuse_shared(s, caller, callee, given)
        call = copied(s.value)
        call.func = name(title)
        valued = _is_valued(callee)
        kept = _new("values", taken)
        values: gast.expr = name(kept)
        found: list[gast.stmt] = [assign(kept, call)]
        count = len(writes) + valued
        for position, (p, sure) in enumerate(writes.items(), int(valued)):
            item = values if count == 1 else gast.Subscript(copied(values), constant(position), gast.Load())
            found += self._put(given.get(p), item, sure)
        if not valued and not isinstance(s, gast.Expr):
            raise Refusal(
                problem("AD104", f"`{callee.name}` gives no value.", span_of(s), "Call it as a statement.")
            )
        if not isinstance(s, gast.Expr):
            s.value = gast.Subscript(name(kept), constant(0), gast.Load())
            found.append(s)
        return found

    def _refuse_shared(
        self, s: gast.stmt, caller: str, callee: gast.FunctionDef, given: dict[str, gast.expr]
    ) -> None:
        """The new function works on copies: refused where another argument may be the same array, which the
        writes would change as well, and where the value may be the array itself, which is then another."""
        inside = self.groups(self.title(callee))
        here = sharing_in(self._function(caller), Scope.of(self.program, self._function(caller)))
        there = sharing_in(callee, Scope.of(self.program, callee))
        returns = [r for r in flow.statements(callee.body) if isinstance(r, gast.Return)]
        returned = {n for r in returns for n in there.sources(r.value)}
        for p in self.writes[self.title(callee)]:
            array = root(given[p]) if p in given else None
            if array is None:
                continue
            shared = self.groups(caller).get(array.id, frozenset([array.id]))
            apart = self._is_array(caller, array.id)
            others = [a for q, a in given.items() if q != p and not (apart and are_apart(a, given[p]))]
            if any(here.sources(a) & shared for a in others):
                message = f"`{array.id}`, which `{callee.name}` writes into, may be in another argument, too."
                raise Refusal(problem("AD302", message, span_of(s), "Copy one of them first."))
            if isinstance(s, (gast.Assign, gast.AnnAssign)) and returned & inside.get(p, frozenset([p])):
                message = f"`{callee.name}` writes into `{array.id}`, and may return it or a part of it."
                raise Refusal(problem("AD302", message, span_of(s), "Return a copy, or nothing."))

    def _is_array(self, caller: str, n: str) -> bool:
        """Whether a name stands for an argument, or for what an operation makes: a list of the
        function's own may hold one array twice."""
        function = self._function(caller)
        scope = Scope.of(self.program, function)
        bound = [s for s in flow.statements(function.body) if n in flow.header_writes(s)]
        made = all(isinstance(s, gast.Assign) and scope.operation(s.value) is not None for s in bound)
        return made and (bool(bound) or n in parameters(function))

    def _put(self, argument: gast.expr | None, item: gast.expr, sure: bool) -> list[gast.stmt]:
        """What is given back for an argument goes into its array; what was no array is left alone."""
        if argument is None or root(argument) is None:
            return []
        part = gast.Subscript(copied(argument), constant(Ellipsis), gast.Store())
        if isinstance(argument, gast.Subscript):
            part = gast.Subscript(copied(argument.value), copied(argument.slice), gast.Store())
        write: gast.stmt = gast.Assign([part], item, None)
        if sure:
            return [write]
        numpy = self.program.numpy
        test = expression(f"{numpy}.ndim(({expression_text(argument)})) != 0")
        return [gast.If(test, [write], [])]


def _calls(function: gast.FunctionDef) -> Iterator[tuple[gast.stmt, gast.Call]]:
    """The calls in a function, each with its statement."""
    for s in flow.statements(function.body):
        for part in flow.header(s):
            yield from ((s, n) for n in flow.walk(part) if isinstance(n, gast.Call))


def _names(function: gast.FunctionDef) -> list[gast.Name]:
    return [n for n in flow.walk(function) if isinstance(n, gast.Name)]


def _new(base: str, taken: set[str] | frozenset[str]) -> str:
    chosen, number = base, 2
    while chosen in taken:
        chosen, number = f"{base}{number}", number + 1
    if isinstance(taken, set):
        taken.add(chosen)
    return chosen


def _is_valued(function: gast.FunctionDef) -> bool:
    """Whether a function returns a value on some path."""
    return any(
        isinstance(s, gast.Return) and not (s.value is None or getattr(s.value, "value", 0) is None)
        for s in flow.statements(function.body)
    )


def _give_back(function: gast.FunctionDef, writes: list[str]) -> None:
    """Let a function return the parameters that it writes into, after its value if it has one."""
    bound = {n for s in flow.statements(function.body) for n in flow.header_writes(s) if not _updates(s)}
    for p in writes:
        if p in bound:
            message = f"`{plain(p)}` is written into and assigned anew in `{function.name}`."
            raise Refusal(
                problem("AD302", message, span_of(function.body[0]), "Give one of them a new name.")
            )
    valued = _is_valued(function)

    def result(value: gast.expr | None) -> gast.expr:
        parts = [*([value] if valued and value is not None else []), *(name(p) for p in writes)]
        return parts[0] if len(parts) == 1 else gast.Tuple(parts, gast.Load())

    for s in flow.statements(function.body):
        if isinstance(s, gast.Return):
            s.value = result(s.value)
    if not valued:
        last = function.body[-1]
        if not isinstance(last, gast.Return):
            function.body = [*function.body, gast.copy_location(gast.Return(result(None)), last)]


def _updates(s: gast.stmt) -> bool:
    return isinstance(s, gast.AugAssign)
