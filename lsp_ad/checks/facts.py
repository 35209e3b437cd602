"""What is known of a whole file: the values of its globals, imports and attributes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from dataclasses import field as _field
from functools import cached_property
from typing import NamedTuple

import gast

from lsp_ad.checks.origins import PARTS, UNKNOWN, Kind, Origin, frozen, is_constant, join, outside, related
from lsp_ad.checks.parameters import parameter_origins
from lsp_ad.checks.pytrees import fields, is_pytree
from lsp_ad.checks.staged_functions import Functions, Place
from lsp_ad.semantics.names import bound_names, imported

# Methods that run before an object is used.
CONSTRUCTORS = {"__init__", "__post_init__", "__new__", "setup", "build", "init", "compile"}
_FORM_NAMES = ("typing.TYPE_CHECKING", "sys.", "jax.", "tensorflow.", "numpy.", "math.", "lsp_ad.",
               "absl.flags.")


class _Store(NamedTuple):
    """Where an attribute gets a value: is it plainly a Python value there, and is it set by a constructor?"""

    node: gast.AST
    is_flag: bool
    first: bool = True


@dataclass
class Facts:
    """Shared by all flows through a file; `evaluate` gives the origin of an expression at its top level."""

    functions: Functions
    evaluate: Callable[[Facts, gast.expr], Origin]
    origins: dict[str, Origin] = _field(default_factory=dict)
    results: dict[Place, Origin] = _field(default_factory=dict)  # what the traced functions give
    _classes: dict[gast.ClassDef, dict[str, list[_Store]]] = _field(default_factory=dict)

    @cached_property
    def assignments(self) -> dict[str, list[tuple[gast.AST, gast.expr | None]]]:
        """For each top-level name, what binds it, with the value where it is an assignment."""
        found: dict[str, list[tuple[gast.AST, gast.expr | None]]] = {}
        module = self.functions.program.parsed.module
        for statement in module.body:
            plain = _assigned(statement)
            for name in bound_names([statement]):
                found.setdefault(name, []).append((statement, plain.get(name) or _one_of(statement, name)))
        for place in self.functions.places.values():
            if isinstance(place.node, gast.Lambda):
                continue
            declared = {n for s in gast.walk(place.node) if isinstance(s, gast.Global) for n in s.names}
            if declared:
                for node in gast.walk(place.node):
                    plain = _assigned(node)
                    for name in declared & set(plain):
                        found.setdefault(name, []).append((node, plain[name]))
        return found

    def of_global(self, name: str) -> Origin:
        """The origin of a name of the module, seen from a function that is traced."""
        if name not in self.origins:
            self.origins[name] = UNKNOWN  # what a definition in a circle gets
            self.origins[name] = self._of_global(name)
        return self.origins[name]

    def _of_global(self, name: str) -> Origin:
        found = self.assignments.get(name, [])
        if not found:
            return Origin(Kind.FORM, f"`{name}` is fixed") if name in ("__debug__", "__name__") else UNKNOWN
        values = [UNKNOWN if value is None else self.evaluate(self, value) for _, value in found]
        first = found[0][1]
        if values[0].kind.decided and not (isinstance(first, gast.Constant) and first.value is None):
            # A setter, `def set_debug(on): global debug; debug = on`, hands over another such value.
            values = [o for o in values if o.kind is not Kind.UNKNOWN]
        known = outside(join(values))
        where = [related(f"`{name}` is assigned here.", found[0][0])]
        if len(found) > 1:
            where.append(related(f"`{name}` is assigned again here.", found[-1][0]))
        if known.kind is Kind.FORM and len(found) == 1:
            return known
        if known.kind.decided or (known.kind is Kind.UNKNOWN and name.isupper() and first is not None):
            kind = Kind.GLOBAL if len(found) == 1 else Kind.SILENT
            return frozen(name, kind=kind, related=tuple(where))
        return known

    def imported_name(self, canonical: str, root: str) -> Origin:
        """The origin of `config.debug` or of an imported `DEBUG`."""
        if canonical.startswith(_FORM_NAMES):
            return Origin(Kind.FORM, f"`{canonical}` is a setting of a library")
        text = canonical.lstrip(".")
        where = tuple(related("It is imported here.", s) for s in self.functions.program.parsed.module.body
                      if root in imported(s))[:1]
        return frozen(text, related=where)

    def attribute(self, owner: gast.ClassDef, name: str) -> Origin:
        """The origin of `self.name`: decided in Python if all that the class assigns to it is.

        An attribute that only constructors set, and that nothing in the file sets from outside, is a flag.
        """
        if is_pytree(self.functions, owner) and fields(self.functions, owner).get(name, (None, False))[1]:
            return self.field(owner, name)
        found = self._attributes(owner).get(name, [])
        if not found or not all(store.is_flag for store in found):
            return UNKNOWN
        where = related(f"`{name}` is assigned here.", found[0].node)
        again = next((s.node for s in found if not s.first), self._set_from_outside.get(name))
        if again is None:
            return Origin(Kind.FLAG, f"`{name}` is an attribute that is set once", "", (where,))
        later = related(f"`{name}` is assigned again here.", again)
        return frozen(name, "an attribute", Kind.SILENT, (where, later))

    def field(self, owner: gast.ClassDef, name: str) -> Origin:
        """The origin of a field of a traced object."""
        declared, is_static = fields(self.functions, owner).get(name, (None, False))
        if declared is None:
            return UNKNOWN  # a property or a method
        if is_static:
            where = (related(f"`{name}` is declared here.", declared),)
            return Origin(Kind.FLAG, f"`{name}` is a static field", related=where)
        annotation = declared.annotation
        inner = self.functions.classes.get(annotation.id) if isinstance(annotation, gast.Name) else None
        if inner is None:
            return PARTS
        return replace(PARTS, owner=inner) if is_pytree(self.functions, inner) else UNKNOWN

    @cached_property
    def _set_from_outside(self) -> dict[str, gast.AST]:
        """The attributes that the file assigns to objects other than `self`, each with a place."""
        found: dict[str, gast.AST] = {}
        receivers = {id(n): p for p in self.functions.places.values() if p.receiver
                     for n in gast.walk(p.node) if isinstance(n, gast.Name) and n.id == p.receiver}
        for node in gast.walk(self.functions.program.parsed.module):
            if isinstance(node, gast.Attribute) and isinstance(node.ctx, gast.Store) \
                    and id(node.value) not in receivers:
                found.setdefault(node.attr, node)
        return found

    def _attributes(self, owner: gast.ClassDef) -> dict[str, list[_Store]]:
        """For each attribute that the class assigns: where."""
        if owner in self._classes:
            return self._classes[owner]
        found: dict[str, list[_Store]] = {}
        for statement in owner.body:
            for name, value in _assigned(statement).items():
                found.setdefault(name, []).append(_Store(statement, is_constant(value)))
        for place in self.functions.places.values():
            if place.owner is not owner or place.receiver is None:
                continue
            values: dict[gast.AST, gast.expr | None] = {}
            for node in gast.walk(place.node):
                if isinstance(node, gast.Assign):
                    values |= dict.fromkeys(node.targets, node.value)
                elif isinstance(node, (gast.AnnAssign, gast.AugAssign)):
                    values[node.target] = node.value
                elif (isinstance(node, gast.Attribute) and isinstance(node.ctx, gast.Store)
                        and isinstance(node.value, gast.Name) and node.value.id == place.receiver):
                    # What a loop or a `with` assigns has no value here, and counts as unknown.
                    flag = self._is_flag(place, values.get(node))
                    first = place.name in CONSTRUCTORS
                    found.setdefault(node.attr, []).append(_Store(node, flag, first))
        self._classes[owner] = found
        return found

    def _is_flag(self, place: Place, value: gast.expr | None) -> bool:
        if isinstance(value, gast.Name) and value.id in place.parameters:
            return parameter_origins(self.functions, place, None)[value.id].kind is Kind.FLAG
        return is_constant(value) and not (isinstance(value, gast.Constant) and value.value is None)


def _one_of(statement: gast.stmt, name: str) -> gast.expr | None:
    """A value that a conditional or `try` gives a name, where it gives constants only."""
    if not isinstance(statement, (gast.If, gast.Try)):
        return None
    stores = [n for n in gast.walk(statement) if isinstance(n, gast.Name) and n.id == name
              and isinstance(n.ctx, gast.Store)]
    plain = [_assigned(s)[name] for s in gast.walk(statement) if name in _assigned(s)]
    if len(plain) != len(stores) or not all(is_constant(v) for v in plain):
        return None
    return next((v for v in plain if not (isinstance(v, gast.Constant) and v.value is None)), None)


def _assigned(node: gast.AST) -> dict[str, gast.expr]:
    """Name to value, for a plain assignment to names."""
    if isinstance(node, gast.Assign):
        return {t.id: node.value for t in node.targets if isinstance(t, gast.Name)}
    if isinstance(node, (gast.AnnAssign, gast.AugAssign)) and isinstance(node.target, gast.Name):
        return {node.target.id: node.value} if node.value is not None else {}
    return {}
