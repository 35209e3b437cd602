"""Derivatives with respect to objects: objects of the same class where that can be, else dicts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import gast

from lsp_ad.differentiate.normal.paths import Path, Step
from lsp_ad.semantics.classes import PLAIN, Class
from lsp_ad.semantics.hints import from_annotation
from lsp_ad.semantics.shapes import Kind, Opaque
from lsp_ad.simplify.algebra import constant, expression

Parts = dict[Path, gast.expr]


@dataclass(frozen=True)
class Apart:
    """What stands for what in a function whose objects were taken apart.

    `parts`: the names that stand for fields of parameters, with what their class says of these; `fixed` are
    those of the class, not of the object. `title`: what the user calls it, if it is a method. `classes`: the
    classes of parameters, `inner` those of fields. `relied`: what has to be of exactly one class. `called`:
    what the file calls a class.
    """

    parts: dict[str, tuple[Path, gast.expr | None]] = field(default_factory=dict)
    fixed: frozenset[str] = frozenset()
    title: str = ""
    classes: dict[str, Class] = field(default_factory=dict)
    inner: Callable[[gast.expr | None], Class | None] = lambda says: None
    relied: dict[Path, str] = field(default_factory=dict)
    called: Callable[[Class], str] = lambda of: of.name

    @property
    def paths(self) -> dict[str, Path]:
        return {n: path for n, (path, _) in self.parts.items()}

    def kind(self, n: str) -> Kind:
        """What the class says of a field."""
        known = from_annotation(self.parts[n][1])
        if known is None:
            return Kind(shape=Opaque(n))
        if known.type in ("number", "numeric", "array") and known.may_be_real:
            # nothing checks that a float is no array
            return Kind("array" if known.type == "array" else "numeric", known.dtype, Opaque(n))
        return known

    def moves(self, n: str) -> bool:
        """Whether a derivative with respect to a name can exist."""
        return n not in self.parts or (n not in self.fixed and self.kind(n).may_be_real)

    def _is_built(self, of: Class, steps: list[tuple[str, ...]]) -> bool:
        """Whether a derivative is an object of the class, for the fields that have one."""
        if of.kind == PLAIN or of.problem or of.unbuilt:
            return False
        return all(s[0] in of.fields or s[0] in of.constants for s in steps)

    def tangent(self, path: Path, root: str) -> Path:
        """Where the tangent of a parameter has the one of a field."""
        of: Class | None = self.classes[path.parameter]
        steps = [p.keys for p in self.paths.values() if p.parameter == path.parameter]
        keys: list[str] = []
        for key in path.keys:
            assert of is not None
            keys.append(key if self._is_built(of, steps) else str(key))
            of, steps = self.inner(of.attributes.get(key)), [s[1:] for s in steps if s[0] == key]
        return Path(root, tuple(keys))

    def gradient(self, parameter: str, parts: Parts, zero: Callable[[gast.expr], gast.expr]) -> gast.expr:
        """The derivative with respect to an object, of those with respect to its fields.

        `zero` is that of a field that does not matter.
        """
        steps = [p.keys for p in self.paths.values() if p.parameter == parameter]
        return self._gradient(self.classes[parameter], Path(parameter, ()), steps, parts, zero)

    def _gradient(
        self,
        of: Class,
        at: Path,
        steps: list[tuple[str, ...]],
        parts: Parts,
        zero: Callable[[gast.expr], gast.expr],
    ) -> gast.expr:
        is_built = self._is_built(of, steps)
        found: dict[str, gast.expr] = {}
        for f, says in of.attributes.items():
            here, inner = Path(at.parameter, (*at.keys, Step(f))), self.inner(says)
            below = [s[1:] for s in steps if s[0] == f]
            if here in parts:
                found[f] = parts[here]
            elif inner is not None and (is_built or below):
                found[f] = self._gradient(inner, here, below, parts, zero)
            elif is_built:
                found[f] = _number(says) or zero(here.expression())
        if is_built:
            return gast.Call(expression(self.called(of)), [], [gast.keyword(f, v) for f, v in found.items()])
        return gast.Dict([constant(f) for f in found], list(found.values()))


def _number(says: gast.expr | None) -> gast.expr | None:
    """The zero of a field that is annotated as a number, or as nothing numeric."""
    known = from_annotation(says)
    if known is None or known.type not in ("number", "str", "none"):
        return None
    return constant(0.0 if known.type == "number" else None)
