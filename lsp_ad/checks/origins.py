"""Where a value comes from, as seen by a function that is being traced.

An *origin* is the one fact the staging rules need of a value: is it known only when the traced function
runs, or is it a Python value that decides a branch while it is traced, and who put it there.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass, replace

import gast

from lsp_ad.problems import Related
from lsp_ad.source.parse import span_of


class Kind(enum.IntEnum):
    """In the order of who wins where values are combined: `x.ndim == LIMIT` is a test of form."""

    CONSTANT = 0  # a literal
    GLOBAL = 1    # a global that is bound once
    FORM = 2      # shape, dtype, type, `is None`: known for traced values too
    FLAG = 3      # a Python value by declaration: annotated, static, a loop index
    SILENT = 4    # a Python value that nothing declares: a default, a rebound global, a closure
    OPTIONAL = 5  # a parameter that is None by default: its truth is decided in Python, its value is not
    UNKNOWN = 6
    TRACED = 7    # known when the function runs

    @property
    def decided(self) -> bool:
        """Is the truth of such a value known while the function is traced?"""
        return self < Kind.UNKNOWN

    @property
    def deliberate(self) -> bool:
        return self in (Kind.FORM, Kind.FLAG)


class Sure(enum.IntEnum):
    """How sure it is that a value with the kind TRACED is traced."""

    MAYBE = 0   # by the arguments of a call: a tensor or a number
    FIELD = 1   # an attribute of something traced, which may have settings among its fields
    PARTS = 2   # a traced value, or a container of them
    ITSELF = 3  # a traced value


@dataclass(frozen=True)
class Origin:
    """`clause` says what the value is (a main clause without its stop), `related` where it was put there.

    `parameter`: the one that it is, of the function that is looked at. `owner`: the class of a traced object.
    """

    kind: Kind
    clause: str = ""
    way_out: str = ""
    related: tuple[Related, ...] = ()
    sure: Sure = Sure.MAYBE
    parameter: gast.Name | None = None
    owner: gast.ClassDef | None = None

    def through(self, related: Related) -> Origin:
        """The same origin, handed on by one more place; the first place and the last one are kept."""
        if not self.kind.decided or related in self.related:
            return self
        return replace(self, related=(*self.related[:1], related))


def frozen(text: str, what: str = "a global", kind: Kind = Kind.GLOBAL,
           related: tuple[Related, ...] = ()) -> Origin:
    """A value outside the function, which tracing reads once."""
    return Origin(kind, f"`{text}` is {what}, and a later change of it has no effect", "", related)


UNKNOWN = Origin(Kind.UNKNOWN)
TRACED = Origin(Kind.TRACED)
PARTS = Origin(Kind.TRACED, sure=Sure.PARTS)
TENSOR = Origin(Kind.TRACED, sure=Sure.ITSELF)
FIELD = Origin(Kind.TRACED, sure=Sure.FIELD)
_BY_CERTAINTY = (TRACED, FIELD, PARTS, TENSOR)


def join(origins: Iterable[Origin]) -> Origin:
    """The origin of a value that is one of several."""
    found = list(origins)
    result = max(found, key=lambda o: o.kind, default=Origin(Kind.CONSTANT))
    if all(o is result for o in found):
        return result
    return _BY_CERTAINTY[min(o.sure for o in found)] if result.kind is Kind.TRACED else result


def derived(origins: Iterable[Origin]) -> Origin:
    """The origin of a value computed from others: nothing but None itself is None, so OPTIONAL is lost."""
    found = list(origins)
    result = max(found, key=lambda o: o.kind, default=Origin(Kind.CONSTANT))
    if result.kind is Kind.TRACED:
        return _BY_CERTAINTY[max(o.sure for o in found)]
    return UNKNOWN if result.kind is Kind.OPTIONAL else result


def computed(origins: Iterable[Origin]) -> Origin:
    """The origin of a number computed from others: of traced parts it is traced itself."""
    result = derived(origins)
    return TENSOR if result.sure else result


def held(origins: Iterable[Origin]) -> Origin:
    """The origin of a container of values."""
    result = derived(origins)
    return PARTS if result.sure else result


def outside(origin: Origin) -> Origin:
    """The origin of a value that is made outside the traced function: an array has its numbers there."""
    return TRACED if origin.kind is Kind.TRACED else origin


def merge(*environments: dict[str, Origin]) -> dict[str, Origin]:
    """The state after control flow comes together again."""
    result = dict(environments[0])
    for environment in environments[1:]:
        for name, origin in environment.items():
            result[name] = join((result[name], origin)) if name in result else origin
    return result


def widens(known: dict[str, Origin], new: dict[str, Origin]) -> bool:
    """Does a state say anything of a name that an earlier one does not cover?"""
    return any(
        n not in known or known[n].kind < o.kind or (known[n].kind is o.kind and known[n].sure > o.sure)
        for n, o in new.items()
    )


def is_constant(node: gast.AST | None) -> bool:
    """A bool, int, string or None: plainly a Python value (a float may stand for an array)."""
    if isinstance(node, gast.UnaryOp):
        node = node.operand
    return isinstance(node, gast.Constant) and isinstance(node.value, (bool, int, str, type(None)))


def related(message: str, node: gast.AST) -> Related:
    return Related(message, span_of(node))
