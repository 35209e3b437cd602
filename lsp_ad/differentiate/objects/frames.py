"""One function without objects, for `records.py`: its statements and its signature."""

from __future__ import annotations

from typing import NoReturn

import gast

from lsp_ad.differentiate.fence.refused import MUTATORS
from lsp_ad.differentiate.objects.fields import Fields
from lsp_ad.differentiate.objects.outside import written
from lsp_ad.differentiate.objects.places import CLASS_VARIABLE
from lsp_ad.semantics.classes import TUPLE, Class, called
from lsp_ad.semantics.hints import from_annotation
from lsp_ad.semantics.names import bound_names, local_names
from lsp_ad.simplify.algebra import assign, name
from lsp_ad.source.printing import expression_text
from lsp_ad.source.trees import copied


class Frame(Fields):
    """Rewrites one function for arguments of known classes."""

    def run(self) -> None:
        self._find_local()
        for p in self.version.classes:
            if p in {n for s in self.function.body for n in bound_names([s])} and p not in self.made_here:
                self.refuse(f"`{p}` is assigned anew, and not always an object of one class.", self.function)
        start = [s for p in self.made_here if p in self.version.classes for s in self._copied_in(p)]
        self.function.body = [*start, *self.block(self.function.body)]
        self._refuse_writes()
        hidden = {called(self.program, c).split(".")[0] for c in self.version.classes.values()}
        if self.is_entry and (hidden := hidden & self.local):
            self.refuse(f"`{min(hidden)}` is a class, and a variable here.", self.function)
        if not self.is_entry:
            self.function.name = self.version.name
            self._signature()
        self.function.decorator_list = [] if self.version.method else self.function.decorator_list

    def _refuse_writes(self) -> None:
        fields = {n for n, says in self.version.reads.values() if not _is_immutable(says)}
        s = written(self.function, fields, lambda node: self.program.canonical(node, self.local))
        if s is not None:
            message = "This may change an attribute of an object that was passed in."
            self.refuse(message, s, "Change a copy: `w = self.w.copy()`.", "AD301")

    def _copied_in(self, p: str) -> list[gast.stmt]:
        """A parameter that is assigned anew starts as names with its fields."""
        found = []
        for steps, says in self.leaves(self.version.classes[p]):
            value = name(self._read(p, steps, says))
            found.append(gast.copy_location(assign(self.made_here[p][steps], value), self.function.body[0]))
        return found

    # --- statements ---------------------------------------------------------------------------

    def block(self, body: list[gast.stmt]) -> list[gast.stmt]:
        found: list[gast.stmt] = []
        for s in body:
            around, self.before = self.before, None if isinstance(s, gast.While) else []
            before = self.before
            rewritten = self.statement(s)
            found += [*(before or ()), *rewritten]
            self.before = around
        return found

    def statement(self, s: gast.stmt) -> list[gast.stmt]:
        if isinstance(s, gast.FunctionDef) and (hidden := local_names(s) & self.objects.keys()):
            self.refuse(f"`{min(hidden)}` stands for something else in `{s.name}`.", s)
        if isinstance(s, gast.Raise):
            if isinstance(s.exc, gast.Call):
                s.exc.args = [self.expression(a) for a in s.exc.args]
            return [s]
        value = getattr(s, "value", None)
        target = s.targets[0] if isinstance(s, gast.Assign) else getattr(s, "target", None)
        if isinstance(target, gast.Name) and target.id in self.made_here and value is not None:
            return self.bind(target.id, value, s)
        if isinstance(s, gast.Return) and value is not None and (of := self.object(value)) is not None:
            return [self._return(s, of)]
        if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Tuple):
            of = self.object(value)
            if of is not None and of.kind == TUPLE and len(of.fields) == len(s.targets[0].elts):
                parts = self.fields(value)
                if all(len(steps) == 1 for steps in parts):
                    s.value = gast.copy_location(gast.Tuple(list(parts.values()), gast.Load()), s.value)
                    return [s]
        if (
            isinstance(s, gast.Expr)
            and isinstance(value, gast.Call)
            and isinstance(value.func, gast.Attribute)
        ):
            at = self.place(value.func.value)
            if (
                at is not None
                and at.of is None
                and value.func.attr in MUTATORS
                and at.root not in self.made_here
            ):
                self._changed(value.func.value, s)
        targets = s.targets if isinstance(s, gast.Assign) else [getattr(s, "target", None)]
        for target in targets if isinstance(s, (gast.Assign, gast.AugAssign, gast.AnnAssign)) else ():
            self._target(target, s)
        for f, part in gast.iter_fields(s):
            if isinstance(part, list) and part and isinstance(part[0], gast.stmt):
                setattr(s, f, self.block(part))
            elif isinstance(part, list):
                setattr(s, f, [self._part(p) for p in part])
            elif isinstance(part, gast.AST) and f != "annotation":
                setattr(s, f, self._child(part))
        return [s]

    def _part(self, node):
        """A piece of a statement: an expression, or a clause with a block of its own."""
        if isinstance(node, gast.AST) and isinstance(getattr(node, "body", None), list):
            node.body = self.block(node.body)
            return node
        return self._child(node)

    def _target(self, target: gast.expr | None, s: gast.stmt) -> None:
        for part in target.elts if isinstance(target, (gast.Tuple, gast.List)) else [target]:
            while isinstance(part, gast.Subscript) and self.place(part) is None:
                part = part.value
            at = self.place(part) if isinstance(part, (gast.Attribute, gast.Subscript)) else None
            if at is None and isinstance(part, gast.Attribute) and self.object(part.value) is not None:
                self._changed(part, s)
            if at is not None and (at.root not in self.made_here or at.of is not None):
                self._changed(part, s)

    def _changed(self, node: gast.expr, s: gast.stmt) -> NoReturn:
        way_out = "Use a local name, or return a new object (`dataclasses.replace`)."
        message = f"`{expression_text(node)}` is changed: an attribute of an object that was passed in."
        self.refuse(message, s, way_out, "AD301")

    def _return(self, s: gast.Return, of: Class) -> gast.stmt:
        if self.is_entry:
            self.refuse(f"The result is an object of `{of.name}`.", s, "Return its fields, as a tuple.")
        if self.version.returns is not None and self.version.returns.name != of.name:
            self.refuse("The results are objects of different classes.", s)
        self.version.returns = of
        self.changed = True
        if (
            isinstance(s.value, gast.Call)
            and self._replaced(s.value) is None
            and not self.class_at(s.value.func)
        ):
            called = self.call(s.value)
            assert called is not None
            s.value = called[0]
            return s
        parts = list(self.fields(s.value).values())
        s.value = gast.copy_location(parts[0] if len(parts) == 1 else gast.Tuple(parts, gast.Load()), s.value)
        return s

    # --- the signature ------------------------------------------------------------------------

    def _signature(self) -> None:
        """The fields that are read come first; the objects are no parameters any more."""
        a = self.function.args
        dropped = {*self.version.classes, self.cls}
        positional = [*a.posonlyargs, *a.args]
        defaults: list[gast.expr | None] = [None] * (len(positional) - len(a.defaults)) + list(a.defaults)
        kept = [(p, d) for p, d in zip(positional, defaults, strict=True) if p.id not in dropped]
        first = [
            gast.copy_location(gast.Name(n, gast.Param(), says if _is_annotation(says) else None, None), a)
            if hasattr(a, "lineno")
            else gast.Name(n, gast.Param(), copied(says) if _is_annotation(says) else None, None)
            for n, says in self.version.reads.values()
        ]
        a.posonlyargs, a.args = [], [*first, *(p for p, _ in kept)]
        a.defaults = [d for _, d in kept if d is not None]
        only = [(p, d) for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True) if p.id not in dropped]
        a.kwonlyargs, a.kw_defaults = [p for p, _ in only], [d for _, d in only]


def _is_immutable(says: gast.expr | None) -> bool:
    """Whether a field holds no array and no list, as its class says."""
    known = from_annotation(says)
    return known is not None and known.type in ("number", "str", "none") and known.dtype != "float"


def _is_annotation(says: gast.expr | None) -> bool:
    """Whether what a class says of a field can stand at a parameter; that it is a float would be checked."""
    known = from_annotation(says)
    if known is not None and known.type == "number" and known.may_be_real:
        return False
    return says is not None and not isinstance(says, gast.Call) and says is not CLASS_VARIABLE
