"""What expressions of a function are, for `records.py`: objects, fields of named objects, calls of methods.

A *place* is a path of fields from a name. The names of objects are parameters, or are assigned objects of one
class wherever they are assigned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

import gast

from lsp_ad.problems import Refusal, problem
from lsp_ad.rules import literal
from lsp_ad.semantics.classes import TUPLE, Class, Method, class_of
from lsp_ad.semantics.names import bound_names, local_names
from lsp_ad.simplify.algebra import name
from lsp_ad.source.parse import span_of
from lsp_ad.source.printing import expression_text
from lsp_ad.source.trees import copied

if TYPE_CHECKING:
    from lsp_ad.differentiate.objects.records import Taker, Version

Steps = tuple[str, ...]
CLASS_VARIABLE = gast.Name("ClassVar", gast.Load(), None, None)
_SCOPES = (gast.Lambda, gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)
_DEEPEST = 6


@dataclass(frozen=True)
class Place:
    """A field of an object that has a name; of class `of`, or a value where that is None."""

    root: str
    steps: Steps
    of: Class | None
    says: gast.expr | None = None


@dataclass(frozen=True)
class Target:
    """What a call calls: a function, as a method of the class `own`, with what comes before its arguments."""

    function: gast.FunctionDef
    method: Method | None = None
    own: Class | None = None
    receiver: gast.expr | None = None

    @property
    def parameters(self) -> list[str]:
        a = self.function.args
        found = [p.id for p in (*a.posonlyargs, *a.args)]
        return found[1:] if self.method is not None and self.method.kind == "class" else found


class Places:
    """What is known of the objects in one function, for arguments of known classes."""

    def __init__(self, taker: Taker, version: Version, is_entry: bool):
        self.taker = taker
        self.program = taker.program
        self.version = version
        self.is_entry = is_entry
        self.function = copied(version.function)
        self.local = local_names(version.function)
        self.words = self.local | {n.id for n in gast.walk(version.function) if isinstance(n, gast.Name)}
        self.words |= {n for n, _ in version.reads.values()}
        a = version.function.args
        first = [*a.posonlyargs, *a.args][:1]
        is_class = version.method is not None and version.method.kind == "class"
        self.cls = first[0].id if is_class and first else ""
        self.objects = dict(version.classes)
        self.made_here: dict[str, dict[Steps, str]] = {}
        self.writes_fields = False
        self.held: dict[int, tuple[gast.expr, str]] = {}
        self.before: list[gast.stmt] | None = None  # where what is evaluated first goes, if anywhere
        self.changed = bool(version.classes) or version.own is not None

    def refuse(self, message: str, node: gast.AST, way_out: str = "", code: str = "AD404") -> NoReturn:
        raise Refusal(problem(code, message, span_of(node), way_out))

    # --- objects that are made here -----------------------------------------------------------

    def _find_local(self) -> None:
        """The names that hold objects of one class wherever they are assigned."""
        bindings: dict[str, list[gast.expr | None]] = {}
        for s in _statements(self.function.body):
            if isinstance(s, gast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], gast.Name):
                bindings.setdefault(s.targets[0].id, []).append(s.value)
            elif isinstance(s, gast.AnnAssign) and isinstance(s.target, gast.Name) and s.value is not None:
                bindings.setdefault(s.target.id, []).append(s.value)
            else:
                for n in bound_names(_own(s)):
                    bindings.setdefault(n, []).append(None)
        for node in gast.walk(self.function):
            if isinstance(node, gast.NamedExpr):
                bindings.setdefault(node.target.id, []).append(None)
            elif isinstance(node, (gast.Global, gast.Nonlocal)):
                bindings.update({n: [None] for n in node.names})
            elif isinstance(node, gast.Attribute) and not isinstance(node.ctx, gast.Load):
                self.writes_fields = True
        bindings = {n: v for n, v in bindings.items() if None not in v and self._may_be_object(v)}
        found: dict[str, Class] = {}
        while True:
            self.objects = {**self.version.classes, **found}
            more = {}
            for n, values in bindings.items():
                classes = {c.name: c for v in values if (c := self.object(v)) is not None}
                if n in self.version.classes:
                    classes[self.version.classes[n].name] = self.version.classes[n]
                if len(classes) == 1:
                    more[n] = next(iter(classes.values()))
            if more.keys() == found.keys():
                break
            found = more
        while lost := [n for n in found if any(self.object(v) is None for v in bindings[n])]:
            for n in lost:
                del found[n]
            self.objects = {**self.version.classes, **found}
        for n, c in found.items():
            self.made_here[n] = {steps: self._new(f"{n}_{'_'.join(steps)}") for steps, _ in self.leaves(c)}
            self.changed = True

    def _may_be_object(self, values: list[gast.expr | None]) -> bool:
        return all(isinstance(v, (gast.Name, gast.Attribute, gast.Call, gast.Subscript)) for v in values)

    def leaves(self, of: Class, depth: int = 0) -> list[tuple[Steps, gast.expr | None]]:
        """The fields of a class, those of its fields included, down to plain values."""
        if depth > _DEEPEST:
            self.refuse(f"An object of `{of.name}` holds one of its own kind.", self.function)
        found: list[tuple[Steps, gast.expr | None]] = []
        for f, says in of.attributes.items():
            inner = class_of(self.program, says)
            if inner is None:
                found.append(((f,), says))
            else:
                found += [((f, *steps), s) for steps, s in self.leaves(inner, depth + 1)]
        return found

    # --- places -------------------------------------------------------------------------------

    def place(self, node: gast.expr) -> Place | None:
        """The field of an object with a name that an expression reads, or that object itself."""
        if id(node) in self.held:
            held = self.held[id(node)][1]
            return Place(held, (), self.objects[held])
        if isinstance(node, gast.Name):
            of = self.objects.get(node.id)
            return Place(node.id, (), of) if of is not None else None
        if isinstance(node, gast.Subscript):
            base = self.place(node.value)
            index = literal(node.slice)
            if base is None or base.of is None or base.of.kind != TUPLE or not isinstance(index, int):
                return None
            fields = list(base.of.fields)
            if not -len(fields) <= index < len(fields):
                return None
            return self._field(base, fields[index])
        if isinstance(node, gast.Attribute):
            base = self.place(node.value)
            if base is None or base.of is None:
                return None
            if base.of.problem:
                self.refuse(f"`{base.of.name}` {base.of.problem}: its attributes cannot be followed.", node)
            if node.attr.startswith("__") and not node.attr.endswith("__"):
                self.refuse(f"`{node.attr}` has another name outside of its class.", node)
            return self._field(base, node.attr)
        return None

    def _field(self, base: Place, f: str) -> Place | None:
        assert base.of is not None
        if f in base.of.attributes:
            says = base.of.attributes[f]
            return Place(base.root, (*base.steps, f), class_of(self.program, says), says)
        if f in base.of.constants and base.root not in self.made_here:
            return Place(base.root, (*base.steps, f), None, CLASS_VARIABLE)
        return None

    def leaf(self, at: Place, node: gast.expr) -> str:
        """The name that stands for a field."""
        if at.root not in self.made_here:
            return self._read(at.root, at.steps, at.says)
        known = self.made_here[at.root].get(at.steps)
        if known is None:
            self.refuse(f"`{expression_text(node)}` is not assigned where the object is made.", node)
        return known

    def _read(self, root: str, steps: Steps, says: gast.expr | None) -> str:
        reads = self.version.reads
        if (root, steps) not in reads:
            last = steps[-1]
            wanted = (
                last if last not in self.words and last not in self.taker.taken else "_".join((root, *steps))
            )
            reads[root, steps] = (self._new(wanted), says)
        return reads[root, steps][0]

    def _new(self, wanted: str) -> str:
        chosen, number = wanted, 2
        while chosen in self.words or chosen in self.taker.taken:
            chosen, number = f"{wanted}{number}", number + 1
        self.words.add(chosen)
        return chosen

    # --- what an expression is ----------------------------------------------------------------

    def class_at(self, node: gast.expr) -> Class | None:
        """The class that an expression names."""
        root = node
        while isinstance(root, gast.Attribute):
            root = root.value
        if isinstance(root, gast.Name) and root.id in self.local:
            return self.version.own if node is root and root.id == self.cls else None
        return class_of(self.program, node) if isinstance(node, (gast.Name, gast.Attribute)) else None

    def object(self, node: gast.expr | None) -> Class | None:
        """The class of the object that an expression gives, if it gives one."""
        if node is None:
            return None
        at = self.place(node)
        if at is not None:
            return at.of
        if not isinstance(node, gast.Call):
            return None
        made = self.class_at(node.func)
        if made is not None:
            return made
        replaced = self._replaced(node)
        if replaced is not None:
            return self.object(replaced)
        target = self.target(node)
        return self._version(target, node).returns if target is not None else None

    def _replaced(self, node: gast.Call) -> gast.expr | None:
        """The object that `dataclasses.replace(p, ...)` or `p._replace(...)` starts from."""
        if self.program.canonical(node.func, self.local) == "dataclasses.replace" and len(node.args) == 1:
            return node.args[0]
        if isinstance(node.func, gast.Attribute) and node.func.attr == "_replace" and not node.args:
            return node.func.value if self.object(node.func.value) is not None else None
        return None

    def target(self, node: gast.Call) -> Target | None:
        """The function whose text is known that a call calls."""
        f = node.func
        called = self.object(f)
        if called is not None:
            return self._as_method(called, called.methods.get("__call__"), f, node)
        if isinstance(f, gast.Attribute):
            of, receiver = self.object(f.value), f.value
            method = of.methods.get(f.attr) if of is not None else None
            if of is None and self._is_super(f.value):
                of, method = self.version.own, self._above(f.attr, node)
                receiver = name(self.version.function.args.args[0].id)
            if of is None and (of := self.class_at(f.value)) is not None:
                method, receiver = of.methods.get(f.attr), None
            if of is not None:
                return self._as_method(of, method, receiver, node)
        callee = self.program.callee(self.program.canonical(f, self.local))
        return Target(callee) if callee is not None else None

    def _as_method(
        self, of: Class, method: Method | None, receiver: gast.expr | None, node: gast.Call
    ) -> Target | None:
        if of.problem:
            self.refuse(f"`{of.name}` {of.problem}: its methods cannot be followed.", node)
        if method is None or method.kind == "property":
            return None
        if method.problem:
            self.refuse(f"`{of.name}.{method.function.name}` {method.problem}.", node, code="AD103")
        return Target(method.function, method, of, receiver if method.kind == "method" else None)

    def _is_super(self, node: gast.expr) -> bool:
        return (
            isinstance(node, gast.Call)
            and not node.args
            and self.program.canonical(node.func, self.local) == "builtins.super"
            and self.version.method is not None
            and self.version.method.kind == "method"
        )

    def _above(self, attribute: str, node: gast.Call) -> Method:
        own, method = self.version.own, self.version.method
        assert own is not None and method is not None
        found = own.method_of(method.owner, attribute)
        if found is None:
            self.refuse(f"It cannot be told what `super().{attribute}` is.", node)
        return found

    def _given(self, target: Target, node: gast.Call) -> dict[str, gast.expr]:
        """Parameter to argument, without defaults; whether the call is right is found out elsewhere."""
        args = [*([target.receiver] if target.receiver is not None else []), *node.args]
        given = dict(zip(target.parameters, args, strict=False))
        given.update({k.arg: k.value for k in node.keywords if k.arg is not None})
        return given

    def _version(self, target: Target, node: gast.Call) -> Version:
        given = self._given(target, node)
        starred = any(isinstance(a, gast.Starred) for a in node.args) or any(
            k.arg is None for k in node.keywords
        )
        classes = {}
        for p, a in given.items():
            of = None if isinstance(a, gast.Starred) else self.object(a)
            if of is not None and starred:
                self.refuse("An object is passed along with starred arguments.", node)
            if of is not None:
                classes[p] = of
        return self.taker.version(target.function, classes, target.method, target.own)


def _statements(body: list[gast.stmt]):
    for s in body:
        yield s
        for part in _own_blocks(s):
            yield from _statements(part)


def _own_blocks(s: gast.stmt) -> list[list[gast.stmt]]:
    if isinstance(s, (gast.FunctionDef, gast.ClassDef)):
        return []
    found = [getattr(s, f) for f in ("body", "orelse", "finalbody") if isinstance(getattr(s, f, None), list)]
    for clause in (*getattr(s, "handlers", ()), *getattr(s, "cases", ())):
        found.append(clause.body)
    return found


def _own(s: gast.stmt) -> list[gast.AST]:
    """A statement without its blocks, as far as names that it binds go."""
    if not _own_blocks(s):
        return [s]
    found: list[gast.AST] = []
    for f, value in gast.iter_fields(s):
        if f not in ("body", "orelse", "finalbody"):
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, gast.AST) and not isinstance(getattr(part, "body", None), list):
                    found.append(part)
    return found
