"""Expressions of a function without objects, for `records.py`: fields as names, methods as functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gast

from lsp_ad.differentiate.objects.places import Places, Steps, Target
from lsp_ad.rules import literal
from lsp_ad.rules.rule import UNKNOWN_VALUE
from lsp_ad.semantics.classes import PLAIN, Class, class_of, initialised
from lsp_ad.semantics.hints import default_values
from lsp_ad.semantics.names import bound_names, parameters
from lsp_ad.simplify.algebra import assign, name, store, substitute
from lsp_ad.source.printing import expression_text
from lsp_ad.source.trees import copied

if TYPE_CHECKING:
    from lsp_ad.differentiate.objects.records import Version

_SCOPES = (gast.Lambda, gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)


class Fields(Places):
    """Rewrites the expressions of one function for arguments of known classes."""

    # --- calls --------------------------------------------------------------------------------

    def call(self, node: gast.Call) -> tuple[gast.Call, Class | None] | None:
        """A call with fields as arguments, and the class of the result; None for a call without objects."""
        target = self.target(node)
        if target is None:
            return None
        version = self._version(target, node)
        if version.made is None and version not in self.taker.active and target.method is None:
            return None
        return self._called(version, target, node), version.returns

    def _called(self, version: Version, target: Target, node: gast.Call) -> gast.Call:
        self.changed = True
        given = self._given(target, node)
        for (p, steps), of in list(version.relied.items()):
            self._rely(given[p], steps, of)
        if target.method is not None and target.receiver is not None:
            assert target.own is not None
            self._rely(target.receiver, (), target.own)
        missing = [p for p in version.classes if p not in given]
        assert not missing
        first = [self.part(given[p], steps, node) for p, steps in list(version.reads)]
        objects = {id(a) for p, a in given.items() if p in version.classes}
        args = [self.expression(a) for a in node.args if id(a) not in objects]
        keywords = [
            gast.keyword(k.arg, self.expression(k.value)) for k in node.keywords if id(k.value) not in objects
        ]
        return gast.copy_location(gast.Call(name(version.name), [*first, *args], keywords), node)

    def _rely(self, node: gast.expr, steps: Steps, of: Class) -> None:
        """Note that an object that was passed in has to be of exactly one class."""
        at = self.place(node)
        if at is not None and at.root not in self.made_here:
            self.version.relied[at.root, (*at.steps, *steps)] = of

    def part(self, node: gast.expr, steps: Steps, at: gast.expr) -> gast.expr:
        """The expression of a field of the object that an expression gives."""
        place = self.place(node)
        if place is not None:
            for f in steps:
                below = self._field(place, f)
                if below is None:
                    self.refuse(f"`{expression_text(node)}` has no field `{f}`.", at)
                place = below
            return gast.copy_location(name(self.leaf(place, at)), at)
        fields = self.fields(node)
        if steps not in fields:
            self.refuse(f"`{expression_text(node)}` has no field `{'.'.join(steps)}`.", at)
        return copied(fields[steps])

    def fields(self, node: gast.expr) -> dict[Steps, gast.expr]:
        """The fields of an object that is made or handed on by an expression, each as an expression."""
        of = self.object(node)
        assert of is not None
        at = self.place(node)
        if at is not None:
            if self.writes_fields:
                self.refuse("An object gets a second name in a function that changes fields.", node)
            return {steps: self.part(node, steps, node) for steps, _ in self.leaves(of)}
        assert isinstance(node, gast.Call)
        replaced = self._replaced(node)
        if replaced is not None:
            found = self.fields(replaced)
            given: dict[str, gast.expr | None] = {k.arg: k.value for k in node.keywords if k.arg is not None}
            if of.unbuilt or len(given) != len(node.keywords) or not given.keys() <= of.fields.keys():
                self.refuse(f"`{expression_text(node)}` cannot be followed.", node)
        elif self.class_at(node.func) is not None:
            found, given = {}, self._initialised(of, node) if of.kind == PLAIN else self._arguments(of, node)
        else:
            self.hold(node, of)
            return self.fields(node)
        for f, value in given.items():
            found = {steps: v for steps, v in found.items() if steps[0] != f}
            inner = class_of(self.program, of.attributes[f])
            if value is None:
                self.refuse(f"What `{of.name}` has as `{f}` by default cannot be told.", node, "Pass it.")
            if inner is None:
                found[(f,)] = self.expression(value)
            elif self.object(value) is not inner:
                self.refuse(f"`{expression_text(value)}` is not known to be of class `{inner.name}`.", node)
            else:
                found.update({(f, *steps): v for steps, v in self.fields(value).items()})
        order = {steps: position for position, (steps, _) in enumerate(self.leaves(of))}
        return dict(sorted(found.items(), key=lambda item: order.get(item[0], 0)))

    def hold(self, node: gast.Call, of: Class) -> None:
        """Give the object that a call gives a name, before the statement."""
        if self.before is None:
            message = f"The result of `{expression_text(node.func)}` is an object that only some runs make."
            self.refuse(message, node, "Give it a name first.")
        held = self._new(of.name.lower())
        self.objects[held] = of
        self.made_here[held] = {steps: self._new(f"{held}_{'_'.join(steps)}") for steps, _ in self.leaves(of)}
        statements = self.bind(held, node, node)
        self.held[id(node)] = (node, held)
        self.before += statements

    def bind(self, target: str, value: gast.expr, s: gast.stmt) -> list[gast.stmt]:
        names = self.made_here[target]
        if (
            isinstance(value, gast.Call)
            and self._replaced(value) is None
            and self.class_at(value.func) is None
        ):
            if self.writes_fields and any(self.object(a) for a in (*value.args, value.func)):
                self.refuse("An object may get a second name in a function that changes fields.", value)
            called = self.call(value)
            assert called is not None
            stores = [store(n) for n in names.values()]
            whole = stores[0] if len(stores) == 1 else gast.Tuple(stores, gast.Store())
            return [gast.copy_location(gast.Assign([whole], called[0], None), s)]
        parts = self.fields(value)
        pairs = [(names[steps], part) for steps, part in parts.items()]
        pairs = [(n, v) for n, v in pairs if not (isinstance(v, gast.Name) and v.id == n)]
        written: set[str] = set()
        for n, v in pairs:
            if written & {x.id for x in gast.walk(v) if isinstance(x, gast.Name)}:
                stores = gast.Tuple([store(n) for n, _ in pairs], gast.Store())
                values = gast.Tuple([v for _, v in pairs], gast.Load())
                return [gast.copy_location(gast.Assign([stores], values, None), s)]
            written.add(n)
        return [gast.copy_location(assign(n, v), s) for n, v in pairs] or [gast.copy_location(gast.Pass(), s)]

    def _refuse_unbuilt(self, of: Class, node: gast.Call) -> None:
        if of.problem or of.unbuilt:
            reason = of.problem or of.unbuilt
            self.refuse(f"`{of.name}` {reason}: an object that is made here cannot be followed.", node)

    def _initialised(self, of: Class, node: gast.Call) -> dict[str, gast.expr | None]:
        """Attribute to value in the construction of a plain class: what its `__init__` assigns."""
        self._refuse_unbuilt(of, node)
        init = of.methods["__init__"].function
        own, *known = parameters(init)
        given = self._given(Target(init), gast.Call(node.func, [name(own), *node.args], node.keywords))
        for p, default in default_values(init).items():
            if p not in given and isinstance(default, (gast.Constant, gast.UnaryOp)):
                given[p] = copied(default)
        starred = any(isinstance(a, gast.Starred) for a in node.args)
        if starred or len(node.args) > len(known) or given.keys() != {own, *known}:
            self.refuse(f"`{expression_text(node)}` does not fit the `__init__` of `{of.name}`.", node)
        assigned = {t.attr: s.value for s in init.body if (t := initialised(s)) is not None}
        if later := sorted(of.attributes.keys() - assigned.keys()):
            self.refuse(f"`{of.name}.__init__` does not assign `{later[0]}`: it comes later.", node)
        reads = [n.id for v in assigned.values() for n in gast.walk(v) if isinstance(n, gast.Name)]
        outside = set(reads) - set(known)
        if outside & self.local or (outside and of.name in self.program.links.classes):
            message = f"`{of.name}.__init__` reads `{min(outside)}`, which may be something else here."
            self.refuse(message, node)
        for p in known:
            if reads.count(p) > 1 and isinstance(given[p], (gast.Call, gast.BinOp)):
                given[p] = self._named(p, given[p], node)
        return {a: substitute(copied(v), given) for a, v in assigned.items()}

    def _named(self, wanted: str, value: gast.expr, node: gast.Call) -> gast.expr:
        """A value that is read more than once, under a name of its own, bound before the statement."""
        if self.before is None or self.object(value) is not None:
            return value
        kept = self._new(wanted)
        self.before.append(gast.copy_location(assign(kept, self.expression(value)), node))
        return name(kept)

    def _arguments(self, of: Class, node: gast.Call) -> dict[str, gast.expr | None]:
        """Field to argument in a construction."""
        self._refuse_unbuilt(of, node)
        names = list(of.fields)
        given: dict[str, gast.expr | None] = dict(
            zip([] if of.keyword_only else names, node.args, strict=False)
        )
        wrong = len(given) != len(node.args) or any(isinstance(a, gast.Starred) for a in node.args)
        for k in node.keywords:
            wrong = wrong or k.arg is None or k.arg in given or k.arg not in names
            given[k.arg or ""] = k.value
        for f in names:
            if f not in given:
                default = of.defaults.get(f)
                known = default is not None and literal(default) is not UNKNOWN_VALUE
                wrong = wrong or f not in of.defaults
                given[f] = copied(default) if known else None
        if wrong:
            self.refuse(f"`{expression_text(node)}` does not fit the fields of `{of.name}`.", node)
        return {f: given[f] for f in names}

    # --- expressions --------------------------------------------------------------------------

    def expression(self, node: gast.expr) -> gast.expr:
        """An expression without objects."""
        if isinstance(node, (gast.Name, gast.Attribute, gast.Subscript)):
            at = self.place(node)
            if at is not None and at.of is None:
                return gast.copy_location(name(self.leaf(at, node)), node)
            if at is not None:
                text = expression_text(node)
                self.refuse(f"`{text}` is used as a whole: only fields of it can be followed.", node)
        if self._is_check(node):
            return node
        if isinstance(node, gast.Attribute):
            base = self.object(node.value)
            if base is not None and node.attr in base.attributes and isinstance(node.value, gast.Call):
                return self.part(node.value, (node.attr,), node)
            if base is not None:
                return self._member(node, base)
        if isinstance(node, gast.Call):
            called = self.call(node)
            if called is not None and called[1] is not None:
                self.refuse(f"`{expression_text(node)}` gives an object.", node, "Give it a name first.")
            if called is not None:
                return called[0]
            if (of := self.class_at(node.func)) is not None:
                self.fields(node)
                self.refuse(
                    f"An object of `{of.name}` is used as a whole here.", node, "Give it a name first."
                )
        if isinstance(node, _SCOPES) and (hidden := bound_in(node) & self.objects.keys()):
            self.refuse(f"`{min(hidden)}` stands for something else in here.", node)
        before = self.before
        if isinstance(node, (*_SCOPES, gast.IfExp, gast.BoolOp)):
            self.before = None
        for f, value in gast.iter_fields(node):
            if isinstance(value, list):
                setattr(node, f, [self._child(v) for v in value])
            elif isinstance(value, gast.AST):
                setattr(node, f, self._child(value))
        self.before = before
        return node

    def _is_check(self, node: gast.expr) -> bool:
        """Whether it is `type(p)` or `isinstance(p, C)` of a parameter that the function still has."""
        if not isinstance(node, gast.Call) or not node.args or not self.is_entry:
            return False
        at = self.place(node.args[0])
        asked = self.program.canonical(node.func, self.local) in ("builtins.type", "builtins.isinstance")
        return asked and at is not None and at.root not in self.made_here

    def _child(self, node):
        if isinstance(node, gast.expr):
            return self.expression(node)
        if isinstance(node, gast.AST):
            for f, value in gast.iter_fields(node):
                if isinstance(value, list):
                    setattr(node, f, [self._child(v) for v in value])
                elif isinstance(value, gast.AST):
                    setattr(node, f, self._child(value))
        return node

    def _member(self, node: gast.Attribute, of: Class) -> gast.expr:
        """A property, or what there is no such attribute of."""
        method = of.methods.get(node.attr)
        if method is None and node.attr in of.constants:
            return gast.Attribute(
                name(self.program.links.called.get(of.name, of.name)), node.attr, gast.Load()
            )
        if method is None or method.kind != "property":
            what = (
                "is a method, and not called"
                if method is not None
                else f"is nothing that `{of.name}` assigns"
            )
            self.refuse(f"`{expression_text(node)}` {what}.", node)
        if method.problem:
            self.refuse(f"`{of.name}.{node.attr}` {method.problem}.", node, code="AD103")
        target = Target(method.function, method, of, node.value)
        call = gast.copy_location(gast.Call(node, [], []), node)
        version = self._version(target, call)
        if version.returns is not None:
            self.refuse(f"`{expression_text(node)}` gives an object.", node)
        return self._called(version, target, call)


def bound_in(node: gast.expr) -> set[str]:
    """The names that a lambda or a comprehension binds for itself."""
    if isinstance(node, gast.Lambda):
        a = node.args
        return {p.id for p in (*a.posonlyargs, *a.args, a.vararg, *a.kwonlyargs, a.kwarg) if p is not None}
    return bound_names([g.target for g in node.generators])
