"""Classes as trees of named fields: dataclasses, named tuples, plain classes with what their methods assign.

What is known of a class is what its text says: the fields in order, what each is, and the methods, those of
its bases included. A class that takes attribute access or construction into its own hands is not followed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import gast

from lsp_ad.semantics.names import HERE, Program

DATACLASS, TUPLE, PLAIN = "dataclass", "named tuple", "class"
_NEUTRAL = {"builtins.object", "abc.ABC", "typing.Generic", "typing.Protocol"}
_DATACLASS = ("dataclasses.dataclass",)
_TUPLES = ("typing.NamedTuple", "collections.namedtuple")
_HARMLESS = {"frozen", "eq", "order", "repr", "slots", "kw_only", "match_args", "unsafe_hash"}
_OWN_HANDS = {
    *("__getattr__", "__getattribute__", "__setattr__", "__delattr__", "__new__", "__init_subclass__"),
    *("__class_getitem__", "__get__", "__set__"),
}
_SCOPES = (gast.Lambda, gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp, gast.NamedExpr)
_KINDS = {
    "builtins.staticmethod": "static",
    "builtins.classmethod": "class",
    "builtins.property": "property",
}


@dataclass(frozen=True)
class Method:
    """A method: `kind` is "method", "static", "class" or "property"; `owner` is the class that defines it."""

    function: gast.FunctionDef
    kind: str
    owner: str
    problem: str = ""


@dataclass(frozen=True)
class Class:
    """What the text of a class says.

    `fields` are in the order of construction, with their annotations, and `others` what methods assign (with
    the call of a class where that is assigned); `defaults` stand for those that are not given, None where
    that cannot be told; `constants` are attributes of the class itself. `problem`: why its instances cannot
    be followed; `unbuilt`: why they cannot be constructed.
    """

    name: str
    kind: str
    fields: dict[str, gast.expr | None] = field(default_factory=dict)
    others: dict[str, gast.expr | None] = field(default_factory=dict)
    defaults: dict[str, gast.expr | None] = field(default_factory=dict)
    keyword_only: bool = False
    methods: dict[str, Method] = field(default_factory=dict)
    constants: frozenset[str] = frozenset()
    base: Class | None = None
    problem: str = ""
    unbuilt: str = ""

    @property
    def attributes(self) -> dict[str, gast.expr | None]:
        return {**self.fields, **self.others}

    def method_of(self, owner: str, name: str) -> Method | None:
        """The method that `super().name` is in a method that class `owner` defines."""
        above: Class | None = self
        while above is not None and above.name != owner:
            above = above.base
        return above.base.methods.get(name) if above is not None and above.base is not None else None


def class_of(program: Program, node: gast.expr | None) -> Class | None:
    """The class that an expression names or constructs; also as an annotation."""
    if isinstance(node, gast.Constant) and isinstance(node.value, str):
        try:
            node = gast.parse(node.value.strip(), mode="eval").body
        except SyntaxError:
            return None
    if isinstance(node, gast.Call):
        node = node.func
    if not isinstance(node, (gast.Name, gast.Attribute)):
        return None
    name = _class_name(program, node)
    if name is None:
        return None
    key = ("class", name)
    if key not in program.derived:
        program.derived[key] = None  # a class that is its own base is none
        program.derived[key] = _read(program, name)
    return program.derived[key]


def called(program: Program, of: Class) -> str:
    """What a file calls a class."""
    return program.links.called.get(of.name, of.name)


def method_named(program: Program, name: str) -> tuple[Class, Method] | None:
    """The method that `Model.loss` names, in a class of the file."""
    of, _, method = name.partition(".")
    found = class_of(program, gast.Name(of, gast.Load(), None, None)) if method else None
    return (found, found.methods[method]) if found is not None and method in found.methods else None


def has_classes(program: Program) -> bool:
    """Whether there is any class to follow."""
    if "has classes" not in program.derived:
        program.derived["has classes"] = bool(program.links.classes) or any(
            isinstance(s, gast.ClassDef) or (isinstance(s, gast.Assign) and _tuple_call(program, s.value))
            for s in program.parsed.module.body
        )
    return program.derived["has classes"]


def _class_name(program: Program, node: gast.expr) -> str | None:
    canonical = program.canonical(node)
    if canonical is not None and not canonical.startswith((HERE, "builtins.")):
        target = program.links.targets.get(canonical)
        known = target in program.links.classes or _is_here(program, target)
        return target if known else None
    if not isinstance(node, gast.Name):
        return None
    return node.id if node.id in program.links.classes or _is_here(program, node.id) else None


def _is_here(program: Program, name: str | None) -> bool:
    bindings = program.bindings(name or "")
    return len(bindings) == 1 and isinstance(bindings[0], (gast.ClassDef, gast.Assign))


def _read(program: Program, name: str) -> Class | None:
    node = program.links.classes.get(name)
    node = node if node is not None else program.bindings(name)[0]
    if isinstance(node, gast.Assign):
        return _from_call(program, name, node.value)
    return _Reader(program, node, name).read()


def _tuple_call(program: Program, node: gast.expr) -> bool:
    return isinstance(node, gast.Call) and program.canonical(node.func) == "collections.namedtuple"


def _from_call(program: Program, name: str, node: gast.expr) -> Class | None:
    """`namedtuple("Point", "x y")`."""
    if not _tuple_call(program, node) or len(node.args) != 2 or node.keywords:
        return None
    given = node.args[1]
    if isinstance(given, gast.Constant) and isinstance(given.value, str):
        names = given.value.replace(",", " ").split()
    elif isinstance(given, (gast.List, gast.Tuple)) and all(isinstance(e, gast.Constant) for e in given.elts):
        names = [e.value for e in given.elts]
    else:
        return None
    return Class(name, TUPLE, dict.fromkeys(names))


class _Reader:
    def __init__(self, program: Program, node: gast.ClassDef, name: str):
        self.program = program
        self.node = node
        self.name = name
        self.kind = PLAIN
        self.base: Class | None = None
        self.problem = self.unbuilt = ""
        self.keyword_only = self.makes_fields = False

    def read(self) -> Class:
        self._bases()
        self._decorators()
        base = self.base
        fields = dict(base.fields) if base else {}
        defaults = dict(base.defaults) if base else {}
        methods = dict(base.methods) if base else {}
        constants = set(base.constants) if base else set()
        own: set[str] = set()
        for s in self.node.body:
            if isinstance(s, gast.FunctionDef):
                methods[s.name] = self._method(s, methods.get(s.name) if s.name in own else None)
                own.add(s.name)
            elif isinstance(s, gast.AnnAssign) and isinstance(s.target, gast.Name):
                self._declared(s, fields, defaults, constants)
            elif isinstance(s, gast.Assign) and all(isinstance(t, gast.Name) for t in s.targets):
                constants |= {t.id for t in s.targets} - {"__slots__"}
            elif not isinstance(s, gast.Pass) and not _is_docstring(s):
                self.problem = self.problem or f"has a {type(s).__name__.lower()} statement in its body"
        for name in sorted(own & _OWN_HANDS):
            self.problem = self.problem or f"defines `{name}`"
        if "__post_init__" in methods:
            self.unbuilt = "has a `__post_init__`"
        if self.kind == PLAIN:
            plain = "__init__" in methods and _only_assigns(methods["__init__"].function)
            self.unbuilt = "" if plain else "has no `__init__` that only assigns its attributes"
        elif "__init__" in own:
            self.unbuilt = "has an `__init__` of its own"
        others = dict(base.others) if base else {}
        if self.kind == PLAIN:
            others, fields = {**others, **fields}, {}
        for name, known in _assigned(self.node).items():
            if name not in fields:
                others[name] = known if others.get(name, known) is known else None
        if clash := sorted(methods.keys() & {*fields, *others}):
            self.problem = self.problem or f"has `{clash[0]}` as an attribute and as a method"
        return Class(
            self.name,
            self.kind,
            fields,
            others,
            defaults,
            self.keyword_only,
            methods,
            frozenset(constants - {*fields, *others}),
            base,
            self.problem or (base.problem if base else ""),
            self.unbuilt,
        )

    def _bases(self) -> None:
        if self.node.keywords:
            self.problem = "has a metaclass, or options"
        for node in self.node.bases:
            plain = node.value if isinstance(node, gast.Subscript) else node
            canonical = self.program.canonical(plain)
            known = class_of(self.program, plain)
            if canonical in _NEUTRAL:
                continue
            if canonical == "typing.NamedTuple" and self.base is None:
                self.kind, self.makes_fields = TUPLE, True
            elif known is None:
                self.problem = f"has a base, `{gast.unparse(plain).strip()}`, that is not known"
            elif self.base is not None:
                self.problem = "has more than one base"
            else:
                self.base, self.kind = known, known.kind
                self.keyword_only = known.keyword_only
                self.unbuilt = known.unbuilt

    def _decorators(self) -> None:
        for node in self.node.decorator_list:
            call = node if isinstance(node, gast.Call) else None
            canonical = self.program.canonical(call.func if call else node)
            if canonical not in _DATACLASS or self.kind == TUPLE:
                self.problem = self.problem or "has a decorator that may change it"
                continue
            self.kind, self.makes_fields = DATACLASS, True
            for option in call.keywords if call else ():
                if option.arg == "kw_only" and getattr(option.value, "value", None) is True:
                    self.keyword_only = True
                elif option.arg not in _HARMLESS:
                    self.unbuilt = f"is a dataclass with `{option.arg}`"

    def _declared(self, s: gast.AnnAssign, fields: dict, defaults: dict, constants: set[str]) -> None:
        name, annotation = s.target.id, s.annotation
        inner = annotation.value if isinstance(annotation, gast.Subscript) else annotation
        says = self.program.canonical(inner)
        if says == "typing.ClassVar" or (self.kind != PLAIN and not self.makes_fields):
            # without a decorator of its own, the annotations of a class make no fields
            constants |= {name} if s.value is not None else set()
            return
        if says in ("dataclasses.KW_ONLY", "dataclasses.InitVar"):
            self.unbuilt = f"has `{says.rpartition('.')[2]}`"
        fields[name] = annotation
        if s.value is None:
            return
        if isinstance(s.value, gast.Call):
            # dataclasses.field: a factory, or a field that is not an argument
            defaults[name] = None
            if any(k.arg in ("init", "kw_only") for k in s.value.keywords):
                self.unbuilt = f"has a field, `{name}`, that is not an argument like the others"
        else:
            defaults[name] = s.value

    def _method(self, function: gast.FunctionDef, before: Method | None) -> Method:
        kind, problem = "method", ""
        if before is not None and before.kind == "property" and _is_setter(function):
            return before
        if before is not None:
            problem = "is defined twice"
        for node in function.decorator_list:
            canonical = self.program.canonical(node)
            if canonical in _KINDS and kind == "method":
                kind = _KINDS[canonical]
            elif canonical not in ("abc.abstractmethod", "lsp_ad.staged", "lsp_ad.grad"):
                problem = "has a decorator that may change what it computes"
        return Method(function, kind, self.name, problem)


def _is_setter(function: gast.FunctionDef) -> bool:
    return any(
        isinstance(d, gast.Attribute) and d.attr in ("setter", "deleter") for d in function.decorator_list
    )


def _is_docstring(s: gast.stmt) -> bool:
    return isinstance(s, gast.Expr) and isinstance(s.value, gast.Constant)


def _only_assigns(init: gast.FunctionDef) -> bool:
    """Whether an `__init__` does nothing but assign each attribute once, from what it is given."""
    own = init.args.args[0].id if init.args.args else ""
    body = init.body[_is_docstring(init.body[0]) :]
    targets = [initialised(s) for s in body]
    names = [t.attr for t in targets if t is not None and getattr(t.value, "id", "") == own]
    values = [n for s in body for n in gast.walk(s) if isinstance(n, (gast.Name, *_SCOPES))]
    return (
        not (init.decorator_list or init.args.vararg or init.args.kwarg)
        and len(names) == len(set(names)) == len(body)
        and sum(getattr(n, "id", own) == own for n in values) == len(body)
    )


def initialised(s: gast.stmt) -> gast.Attribute | None:
    """The attribute that a statement of an `__init__` assigns."""
    if isinstance(s, gast.Assign) and len(s.targets) == 1:
        return s.targets[0] if isinstance(s.targets[0], gast.Attribute) else None
    is_one = isinstance(s, gast.AnnAssign) and s.value is not None and isinstance(s.target, gast.Attribute)
    return s.target if is_one else None


def _assigned(node: gast.ClassDef) -> dict[str, gast.expr | None]:
    """The attributes that the methods of a class assign, with the annotation or the class of the value."""
    found: dict[str, gast.expr | None] = {}
    for method in node.body:
        if not isinstance(method, gast.FunctionDef) or not method.args.args:
            continue
        own = method.args.args[0].id
        annotations = {a.id: a.annotation for a in (*method.args.args, *method.args.kwonlyargs)}
        for s in gast.walk(method):
            targets = s.targets if isinstance(s, gast.Assign) else [getattr(s, "target", None)]
            if not isinstance(s, (gast.Assign, gast.AugAssign, gast.AnnAssign)):
                continue
            for target in targets:
                for t in target.elts if isinstance(target, gast.Tuple) else [target]:
                    if isinstance(t, gast.Attribute) and isinstance(t.value, gast.Name) and t.value.id == own:
                        known = _known(s, annotations)
                        found[t.attr] = known if found.get(t.attr, known) is known else None
    return found


def _known(s: gast.stmt, annotations: dict[str, gast.expr | None]) -> gast.expr | None:
    """What an assignment to an attribute says of it: an annotation, or the name of a class that is called."""
    if isinstance(s, gast.AnnAssign):
        return s.annotation
    if isinstance(s, gast.Assign) and len(s.targets) == 1 and not isinstance(s.targets[0], gast.Tuple):
        if isinstance(s.value, gast.Name):
            return annotations.get(s.value.id)
        if isinstance(s.value, gast.Call):
            return s.value
    return None
