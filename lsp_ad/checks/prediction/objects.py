"""Objects of the classes of a file: how they are made, their attributes, and what operators do with them."""

from __future__ import annotations

import gast

from lsp_ad.checks.parameters import defaults_of, flag_type
from lsp_ad.checks.prediction import library
from lsp_ad.checks.prediction.calls import Calls, member
from lsp_ad.checks.prediction.classes import Class, class_of
from lsp_ad.checks.prediction.values import (
    FALSE,
    NONE,
    UNCLEAR,
    Frame,
    Items,
    Known,
    Library,
    Method,
    Object,
    Python,
    Staged,
    Super,
    Type,
    Value,
    combined,
)
from lsp_ad.checks.staged_functions import Place

_BY_METHOD = {
    "abs": "__abs__", "float": "__float__", "int": "__int__", "complex": "__complex__", "round": "__round__",
    "next": "__next__",
}  # fmt: skip


class Objects(Calls):
    """Knows what objects do."""

    def receiver(self, place: Place) -> Value:
        """The object that a method is called with, as its constructor makes it of what nobody knows."""
        kind = class_of(self.functions, place.owner.name) if place.owner is not None else None
        if kind is None or kind.node is not place.owner:
            return UNCLEAR
        made = kind.member("__init__")
        places = list(made.methods.values()) if made is not None else []
        if kind.is_tuple or kind.is_dataclass or len(places) > 1:
            return UNCLEAR
        given: dict[str, Value] = {}
        if places:
            names = places[0].parameters[1:]
            given = {n: Python() if n in defaults_of(places[0].node) else UNCLEAR for n in names}
            given |= {n: o for n, o in self.declared(places[0]).items() if n in given}
        return self._made_before(kind, [], given)

    def global_object(self, made: gast.Call) -> Value | None:
        """The object of a class of the file that a global stands for."""
        kind = class_of(self.functions, made.func.id) if isinstance(made.func, gast.Name) else None
        if kind is None:
            return None
        if self._globals is None:
            self._globals = Frame(self.frame.place, None)
            self.frames.append(self._globals)
        name = f"{made.lineno}:{made.col_offset}"
        if name not in self._globals.names:
            frame, self.frame = self.frame, Frame(self.frame.place, None)
            given = [self.plain(v) for v in self.values(made.args)]
            named = {k.arg or "**": self.plain(self.value(k.value)) for k in made.keywords}
            self.frame = frame
            self._globals.names[name] = self._made_before(kind, given, named)
        return self._globals.names[name]

    def _made_before(self, kind: Class, arguments: list[Value], named: dict[str, Value]) -> Value:
        """An object that is made before anything is traced."""
        mark = len(self._found)
        found = self.made(kind, arguments, named)
        self.forget(mark)
        if isinstance(found, Object):
            # A number may be another by the time that it is read.
            found.fields = {n: Python() if isinstance(v, Known) else v for n, v in found.fields.items()}
        return found

    def declared(self, place: Place) -> dict[str, Value]:
        """The parameters that are annotated as numbers, texts or flags of Python."""
        arguments = place.node.args
        flags = [
            p.id
            for p in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
            if flag_type(self.functions, p.annotation, None)
        ]
        return {name: Python() for name in flags}

    def made(self, kind: Class, arguments: list[Value], named: dict[str, Value]) -> Value:
        """A new object of a class."""
        made = Object(kind)
        if kind.member("__init__") is not None:
            name = "__init__"
            box = Frame(self.frame.place, None, {"made": made})
            self.frames.append(box)  # so that what goes on in `__init__` reaches it
            self.method(made, name, arguments, named)
            self.frames.remove(box)
            found = box.names["made"]
            return found if isinstance(found, Object) else UNCLEAR
        if kind.is_tuple or kind.is_dataclass:
            return self._with_fields(made, arguments, named)
        return made if not arguments and not named else UNCLEAR

    def _with_fields(self, made: Object, arguments: list[Value], named: dict[str, Value]) -> Value:
        """The object of a dataclass or named tuple."""
        given = list(arguments)
        for name, default in made.kind.fields.items():
            options = {k.arg: k.value for k in default.keywords} if isinstance(default, gast.Call) else {}
            init = options.get("init")
            if isinstance(init, gast.Constant) and init.value is False:
                continue
            if given:
                made.fields[name] = given.pop(0)
            elif name in named:
                made.fields[name] = named[name]
            elif default is None:
                return UNCLEAR
            else:
                value = options.get("default", default if not options else None)
                made.fields[name] = self.value(value) if value is not None else UNCLEAR
        if made.kind.member("__post_init__") is None:
            return made
        box = Frame(self.frame.place, None, {"made": made})
        self.frames.append(box)
        self.method(made, "__post_init__", [])
        self.frames.remove(box)
        return box.names["made"]

    def _super(self) -> Value:
        """`super()`, in a method of a class that is followed."""
        place = self.frame.place
        own = self.frame.names.get(place.receiver or "")
        return Super(own, place.owner) if isinstance(own, Object) and place.owner is not None else UNCLEAR

    def of_object(self, name: str, arguments: list[Value], named: dict[str, Value]) -> Value | None:
        """What a builtin gives of an object of a class of the file; None where there is none."""
        if name == "super" and not arguments:
            return self._super()
        if not arguments:
            return None
        first = arguments[0]
        if name == "isinstance" and len(arguments) == 2:
            return _is_instance(first, arguments[1])
        if name in ("sum", "max", "min", "list", "tuple", "enumerate", "zip", "iter", "sorted", "any", "all"):
            several = [self._as_items(a) for a in arguments]
            if all(s is a for s, a in zip(several, arguments, strict=True)):
                return first if name == "iter" else None
            return several[0] if name == "iter" else library.call(f"builtins.{name}", several, {}, self.sizes)
        if not isinstance(first, Object):
            return None
        if name == "len":
            found = self.method(first, "__len__", [])
            return found or (Known(len(first.fields)) if first.kind.is_tuple else UNCLEAR)
        if name == "bool":
            return self.asked(first)
        if name == "dataclasses.replace":
            return Object(first.kind, first.fields | named) if first.kind.is_dataclass else UNCLEAR
        if name in ("setattr", "getattr", "hasattr", "vars", "type", "id"):
            return self._by_name(name, first, arguments[1:])
        return self.method(first, _BY_METHOD[name], arguments[1:]) if name in _BY_METHOD else None

    def _by_name(self, name: str, owner: Object, arguments: list[Value]) -> Value | None:
        key = arguments[0].value if arguments and isinstance(arguments[0], Known) else None
        if name == "type":
            return Type(owner.kind)
        if name == "getattr" and isinstance(key, str):
            return self.attribute(owner, key)
        if name == "setattr" and isinstance(key, str):
            self.store(owner, key, arguments[1])
            return NONE
        return UNCLEAR

    def _as_items(self, value: Value) -> Value:
        """An object that is gone over, as what it gives."""
        items = self.elements(value) if isinstance(value, Object) else None
        return value if items is None else Items(items, False)

    def elements(self, value: Value) -> list[Value] | None:
        """What a loop over a value goes over, if that is known."""
        if not isinstance(value, Object):
            return library.elements(value)
        if value.kind.is_tuple:
            return list(value.fields.values())
        given = self.method(value, "__iter__", [])
        return None if given is None or isinstance(given, Object) else library.elements(given)

    def attribute(self, owner: Value, name: str) -> Value:
        """An attribute of an object or class: a field, what a property gives, a method that may be called."""
        found = member(owner, name)
        object_ = owner.object if isinstance(owner, Super) else owner
        fields = object_.fields if isinstance(object_, Object) and not isinstance(owner, Super) else {}
        if name in fields and (found is None or "property" not in found.methods):
            return fields[name]
        if found is None:
            if name == "_replace":
                return Method(owner, name)
            if isinstance(owner, Object) and member(owner, "__getattr__") is not None:
                return self.method(owner, "__getattr__", [Known(name)]) or UNCLEAR
            return UNCLEAR
        if found.value is not None:
            return self._from_class(object_, found.value)
        kind = next(iter(found.methods), None)
        if kind in ("property", "cached_property") and isinstance(object_, Object):
            return self._property(object_, found.methods[kind], name if kind == "cached_property" else "")
        return Method(owner, name) if kind is not None else UNCLEAR

    def _property(self, owner: Object, place: Place, kept_as: str) -> Value:
        box = Frame(self.frame.place, None, {"owner": owner})
        self.frames.append(box)
        given = self.run_function(place, None, [owner], {})
        self.frames.remove(box)
        now = box.names["owner"]
        if kept_as and isinstance(now, Object):
            now.fields[kept_as] = given
        return given

    def _from_class(self, owner: Value, value: gast.expr) -> Value:
        """What a class has under a name, of which a descriptor makes something for an object."""
        found = self.value(value)
        if isinstance(found, Object) and member(found, "__get__") is not None:
            return self.method(found, "__get__", [owner, NONE]) or UNCLEAR
        return found

    def store(self, owner: Object, name: str, value: Value) -> None:
        """Give an attribute of an object a value."""
        found = member(owner, name)
        if found is not None and "setter" in found.methods:
            self.run_function(found.methods["setter"], None, [owner, value], {})
        else:
            owner.fields[name] = value

    # What operators do

    def operated(self, op: str, left: Value, right: Value) -> Value | None:
        """What a binary operator gives where an operand is an object with a method for it."""
        for owner, other, side in ((left, right, ""), (right, left, "r")):
            if isinstance(owner, Object) and member(owner, f"__{side}{op}__") is not None:
                return self.method(owner, f"__{side}{op}__", [other])
        objects = isinstance(left, Object) or isinstance(right, Object)
        return UNCLEAR if objects else None

    def compared(self, op: gast.AST, left: Value, right: Value) -> Value | None:
        """What a comparison gives where an operand is an object."""
        if isinstance(op, (gast.In, gast.NotIn)):
            given = self.method(right, "__contains__", [left]) if isinstance(right, Object) else None
            return given if given is not None else UNCLEAR if isinstance(right, Object) else None
        if not isinstance(left, Object) and not isinstance(right, Object):
            return None
        names = _METHODS.get(type(op))
        if names is None:
            return None  # identity
        for owner, other, name in ((left, right, names[0]), (right, left, names[1])):
            if isinstance(owner, Object) and member(owner, name) is not None:
                return self.method(owner, name, [other])
        if isinstance(op, gast.NotEq):
            return self.compared(gast.Eq(), left, right)
        kinds = [v.kind for v in (left, right) if isinstance(v, Object)]
        equal = isinstance(op, gast.Eq) and any(k.is_dataclass or k.is_tuple for k in kinds)
        if len(kinds) == 2 and kinds[0].node is kinds[1].node and (equal or kinds[0].has_order):
            return combined(left, right)
        return Python() if isinstance(op, gast.Eq) else UNCLEAR

    def asked(self, value: Value) -> Value:
        """What says if a value is true: of an object what its method gives."""
        if not isinstance(value, Object):
            return value
        for name in ("__bool__", "__len__"):
            given = self.method(value, name, [])
            if given is not None:
                return given
        return value


_METHODS: dict[type, tuple[str, str]] = {
    gast.Eq: ("__eq__", "__eq__"), gast.NotEq: ("__ne__", "__ne__"), gast.Lt: ("__lt__", "__gt__"),
    gast.Gt: ("__gt__", "__lt__"), gast.LtE: ("__le__", "__ge__"), gast.GtE: ("__ge__", "__le__"),
}  # fmt: skip


def _is_instance(value: Value, wanted: Value) -> Value | None:
    """`isinstance(value, wanted)`, where one of both is of the file."""
    if isinstance(value, Object) and isinstance(wanted, Type):
        return Known(value.kind.is_kind_of(wanted.kind))
    if isinstance(wanted, Type) and isinstance(value, (Staged, Known, Items)):
        return FALSE
    if isinstance(value, Object) and isinstance(wanted, Library):
        return Known(wanted.name == "builtins.tuple" and value.kind.is_tuple)
    return Python() if isinstance(value, Object) else None
