"""`if`, `while` and `for` become calls of operators, with their blocks as functions inside.

    if x > 0:               def get_state():
        y = x                   return (y,)
    else:                   def set_state(values):
        y = -x                  nonlocal y
                                (y,) = values
                            def if_body():
                                nonlocal y
                                y = x
                            def else_body():
                                nonlocal y
                                y = -x
                            ag.if_(x > 0, if_body, else_body, ag.State("y", get_state, set_state, 1))

The state is what a block may change and someone may read: names, and attributes and entries by their text.
The blocks change the function's own variables, so that code on plain values does to them exactly what it did.
"""

from __future__ import annotations

import gast

from lsp_ad.semantics import flow
from lsp_ad.source.trees import copied, walk
from lsp_ad.staging.converters.building import (
    at,
    constant,
    define,
    later,
    name,
    of_operators,
    operator,
    store,
)
from lsp_ad.staging.converters.scopes import Scopes, composite, mutated


class ControlFlow:
    """Converts the statements of one function; `names` hands out names for functions inside."""

    def __init__(self, scopes: Scopes, names: Names, guarded: set[str]):
        self.scopes, self.names, self.guarded = scopes, names, guarded
        self.unbound: set[str] = set()
        self.first: set[str] = set()  # variables to be marked as unbound where the function starts
        self.marked: set[str] = set()  # those so marked just before the statement whose block begins here

    def block(self, body: list[gast.stmt]) -> list[gast.stmt]:
        made: list[gast.stmt] = []
        for s in body:
            made += self.statement(s)
            self.marked = set()
        return made

    def statement(self, s: gast.stmt) -> list[gast.stmt]:
        if isinstance(s, (gast.If, gast.While, gast.For)):
            made = self._if(s) if isinstance(s, gast.If) else self._loop(s)
            return [at(m, s) for m in made]
        for block in flow.blocks(s):
            block[:] = self.block(block)
        return [s]

    def _if(self, s: gast.If) -> list[gast.stmt]:
        before, state = self._state(s, [s.body, s.orelse])
        self.marked = unbound = self.unbound
        functions, bodies = [], []
        for base, block in (("if_body", s.body), ("else_body", s.orelse)):
            self.marked = unbound
            if _does_nothing(block):
                bodies.append(later(constant(None)))
            else:
                functions.append(self._function(base, [], block, state))
                bodies.append(name(functions[-1].name))
        call = operator("if_", s.test, *bodies, *state.value)
        stands_for = getattr(s, "stands_for", None)
        if stands_for == "":
            call.func = of_operators("if_jumped")
        elif stands_for is not None:
            call.keywords = [gast.keyword("construct", constant(stands_for))]
        return [*before, *functions, gast.Expr(call)]

    def _loop(self, s: gast.While | gast.For) -> list[gast.stmt]:
        before, state = self._state(s, [s.body])
        self.marked = set()
        if isinstance(s, gast.While):
            test = operator("unless", name(s.stopped_by), later(s.test)) if s.stopped_by else s.test
            tested = at(define(self.names.new("loop_test"), [], [gast.Return(test)]), s.test)
            body = self._function("loop_body", [], s.body, state)
            call = operator("while_", name(tested.name), name(body.name), *state.value)
            call.keywords = _options(s)
            return [*before, tested, body, gast.Expr(call)]
        parameter, start = self._target(s, state)
        body = self._function("loop_body", [parameter], [*start, *s.body], state)
        value = state.value
        if s.stopped_by:
            goes_on = later(operator("negated", name(s.stopped_by)))
            value = [*(value or [of_operators("NOTHING")]), goes_on]
        call = operator("for_", s.iter, name(body.name), *value)
        call.keywords = _options(s)
        return [*before, body, gast.Expr(call)]

    def _target(self, s: gast.For, state: _State) -> tuple[str, list[gast.stmt]]:
        """The parameter of the body of a `for`, and what binds its target to it."""
        if isinstance(s.target, gast.Name) and s.target.id not in state.names:
            return s.target.id, []
        item = self.names.new("item")
        return item, [at(gast.Assign([s.target], name(item), None), s.target)]

    def _function(
        self, base: str, parameters: list[str], body: list[gast.stmt], state: _State
    ) -> gast.FunctionDef:
        written = flow.writes(body)
        kept = [n for n in state.names if n in written and n not in parameters]
        outer = [n for n in kept if n not in self.scopes.globals]
        made: list[gast.stmt] = [gast.Nonlocal(outer)] if outer else []
        if len(outer) < len(kept):
            made.append(gast.Global([n for n in kept if n in self.scopes.globals]))
        function = self.names.new(base)
        return define(function, parameters, [*made, *self.block(body)] or [gast.Pass()])

    def _state(self, s: gast.stmt, blocks: list[list[gast.stmt]]) -> tuple[list[gast.stmt], _State]:
        """The state of a statement: what goes before it, and the expression that stands for it."""
        changed: set[str] = set()
        for block in blocks:
            changed |= flow.writes(block) | mutated(block)
            if any(isinstance(n, gast.Call) for part in block for n in walk(part)):
                changed |= self.scopes.rebound
        if isinstance(s, gast.For):
            changed |= flow.stored(s.target)
        changed &= self.scopes.local | self.scopes.globals
        before, after = self.scopes.live_at(s), self.scopes.live_after(s) | self.scopes.outside
        outputs = sorted(changed & (after if isinstance(s, gast.If) else after | before))
        inputs = sorted((changed & before) - set(outputs)) if isinstance(s, gast.If) else []
        if isinstance(s, gast.If):
            # what a block reads before it sets it must be put back before the other block runs
            inputs = sorted((changed & self._read_inside(s)) - set(outputs))
        parts = composite([part for block in blocks for part in block])
        unbound = [n for n in [*outputs, *inputs] if self.scopes.maybe_unbound(n, s)]
        marks: list[gast.stmt] = []
        for n in unbound:
            if n in before:
                self.first.add(n)
            elif n not in self.marked:
                marks.append(gast.Assign([store(n)], operator("undefined", constant(n)), None))
        self.unbound = set(unbound)
        state = self._described(outputs, inputs, parts)
        return [*marks, *state.functions], state

    def _read_inside(self, s: gast.If) -> set[str]:
        found: set[str] = set()
        for block in (s.body, s.orelse):
            if block:
                found |= self.scopes.live_at(block[0])
        return found

    def _described(self, outputs: list[str], inputs: list[str], parts: dict[str, gast.expr]) -> _State:
        names = [*outputs, *inputs]
        if not names and not parts:
            return _State([], [], [])
        get, set_ = self.names.new("get_state"), self.names.new("set_state")
        values = [
            operator("peek", later(_loaded(node)), constant(text)) for text, node in sorted(parts.items())
        ]
        texts = sorted(parts)
        loaded = [name(n) for n in outputs] + values + [name(n) for n in inputs]
        got = define(get, [], [gast.Return(gast.Tuple(loaded, gast.Load()))])
        temporary = {text: self.names.new("value") for text in texts}
        targets = (
            [store(n) for n in outputs] + [store(temporary[t]) for t in texts] + [store(n) for n in inputs]
        )
        body: list[gast.stmt] = []
        given = self.names.steady("values")
        outer = [n for n in names if n not in self.scopes.globals]
        if outer:
            body.append(gast.Nonlocal(outer))
        if len(outer) < len(names):
            body.append(gast.Global([n for n in names if n in self.scopes.globals]))
        body.append(gast.Assign([gast.Tuple(targets, gast.Store())], name(given), None))
        for text in texts:
            body.append(gast.Expr(_set(parts[text], temporary[text])))
        setter = define(set_, [given], body)
        got.made = setter.made = True
        label = ", ".join([*outputs, *texts, *inputs])
        arguments = [constant(label), name(get), name(set_), constant(len(outputs) + len(texts))]
        guarded = [n for n in outputs if n in self.guarded]
        if guarded:
            arguments.append(gast.Tuple([constant(n) for n in guarded], gast.Load()))
        return _State(names, [got, setter], [operator("State", *arguments)])


def _does_nothing(body: list[gast.stmt]) -> bool:
    return all(isinstance(s, gast.Pass) for s in body)


def _options(s: gast.For | gast.While) -> list[gast.keyword]:
    given = {"options": getattr(s, "options", None)}
    if getattr(s, "tests_inside", False):
        given["tests_inside"] = constant(True)
    return [gast.keyword(key, value) for key, value in given.items() if value is not None]


class _State:
    """`names` of variables, the `functions` that get and set them, and what describes them in a call."""

    def __init__(self, names: list[str], functions: list[gast.stmt], value: list[gast.expr]):
        self.names, self.functions, self.value = names, functions, value


def _loaded(node: gast.expr) -> gast.expr:
    made = copied(node)
    made.ctx = gast.Load()
    return made


def _set(node: gast.expr, value: str) -> gast.expr:
    """What sets an attribute or an entry, or takes it away where there is no value."""
    if isinstance(node, gast.Attribute):
        return operator("set_attribute", node.value, constant(node.attr), name(value))
    return operator("set_entry", node.value, node.slice, name(value))


class Names:
    """New names for functions inside a converted one: `if_body`, `if_body_2`."""

    def __init__(self, used: set[str]):
        self.used = used
        self.made: set[str] = set()
        self.count: dict[str, int] = {}
        self.kept: dict[str, str] = {}

    def steady(self, base: str) -> str:
        """The same name every time, which is none of the user's."""
        if base not in self.kept:
            self.kept[base] = self.new(base)
        return self.kept[base]

    def new(self, base: str) -> str:
        number = self.count.get(base, 0) + 1
        made = base if number == 1 else f"{base}_{number}"
        while made in self.used:
            number += 1
            made = f"{base}_{number}"
        self.count[base] = number
        self.used.add(made)
        self.made.add(made)
        return made
