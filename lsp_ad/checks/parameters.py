"""Where the values of parameters come from, by annotation, default, static arguments and calls."""

from __future__ import annotations

from dataclasses import replace

import gast

from lsp_ad.checks.origins import PARTS, TENSOR, TRACED, UNKNOWN, Kind, Origin, is_constant, join, related
from lsp_ad.checks.pytrees import is_pytree
from lsp_ad.checks.staged_functions import Functions, Place, Staged

_FLAG_TYPES = {"builtins.bool", "builtins.int", "builtins.str", "builtins.bytes", "builtins.type"}
_CALLABLES = {"typing.Callable", "collections.abc.Callable", "typing.Type"}
_ARRAY_TYPES = ("builtins.float", "builtins.complex", "jax.", "jaxtyping.", "numpy.", "tensorflow.")


def parameter_origins(functions: Functions, place: Place, staged: Staged | None,
                      passed: dict[str, Origin] | None = None) -> dict[str, Origin]:
    """An origin for each parameter.

    `staged` is None for a function that is not traced; `passed` has what the traced callers hand over, for a
    function that is only called by traced ones.
    """
    arguments = place.node.args
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults = defaults_of(place.node)
    found = dict.fromkeys(place.parameters, UNKNOWN)
    for parameter in [*plain, *arguments.kwonlyargs]:
        name = parameter.id
        if name == place.receiver:
            continue
        own = _parameter(functions, place, staged, parameter, defaults.get(name))
        if passed is not None and own.kind is not Kind.FLAG:
            given = passed.get(name)
            # What no call passes is its default.
            if given is not None:
                own = given
        found[name] = own
    return found


def defaults_of(function: gast.AST) -> dict[str, gast.expr]:
    """The defaults of a function, by parameter."""
    arguments = function.args
    plain = [*arguments.posonlyargs, *arguments.args]
    found = dict(zip((p.id for p in reversed(plain)), reversed(arguments.defaults), strict=False))
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return found | {p.id: d for p, d in named if d is not None}


def _parameter(functions: Functions, place: Place, staged: Staged | None, parameter: gast.Name,
               default: gast.expr | None) -> Origin:
    name = parameter.id
    where = (related(f"`{name}` is declared here.", parameter),)
    if staged and staged.static and name in staged.static:
        return Origin(Kind.FLAG, f"`{name}` is a static argument", related=where, parameter=parameter)
    flag = flag_type(functions, parameter.annotation, place.parent)
    if flag:
        way_out = ""
        if staged and staged.transform == "jax.jit" and staged.jitted and staged.static is not None:
            way_out = (f"Name `{name}` in static_argnames if that is meant: a value that jax.jit traces "
                       "fails in this test.")
        return Origin(Kind.FLAG, f"`{name}` is a Python `{flag}`", way_out, where, parameter=parameter)
    if staged is None:
        flagged = Origin(Kind.FLAG, f"`{name}` is a Python value", related=where)
        return flagged if is_constant(default) and not _is_none(default) else UNKNOWN
    if staged.static is None:
        return UNKNOWN
    if default is not None and is_constant(default):
        return replace(_defaulted(name, default, staged), parameter=parameter)
    if isinstance(default, gast.Constant):
        return UNKNOWN
    if parameter.annotation is not None:
        head = _head(parameter.annotation)
        owner = functions.classes.get(head.id) if isinstance(head, gast.Name) else None
        if owner is not None and staged.jitted and is_pytree(functions, owner):
            return replace(PARTS, owner=owner)
        canonical = functions.canonical(head, place.parent) or ""
        if not canonical.startswith(_ARRAY_TYPES):
            return UNKNOWN
        number = canonical.startswith("builtins.")
        return TENSOR if staged.jitted or staged.backend or not number else TRACED
    return PARTS if staged.jitted and default is None else TRACED


def _defaulted(name: str, default: gast.expr, staged: Staged) -> Origin:
    text = gast.unparse(default).strip()
    where = (related(f"The default of `{name}`.", default),)
    if staged.transform == "jax.jit":
        clause = f"where a call leaves out `{name}`, its default `{text}` is a Python value"
        way_out = f"Name `{name}` in static_argnames; a value that jax.jit traces fails in this test."
    else:
        clause = f"`{name}`, by default `{text}`, is not staged where it is a Python value"
        way_out = f"Annotate it (`{name}: {_type_of(default)}`) if that is meant, or always pass a tensor."
    kind = Kind.OPTIONAL if text == "None" else Kind.SILENT
    return Origin(kind, clause, way_out, where)


def _type_of(default: gast.expr) -> str:
    value = default.operand if isinstance(default, gast.UnaryOp) else default
    return "bool | None" if value.value is None else type(value.value).__name__


def _head(annotation: gast.expr) -> gast.expr:
    return annotation.value if isinstance(annotation, gast.Subscript) else annotation


def flag_type(functions: Functions, annotation: gast.expr | None, place: Place | None) -> str | None:
    """The text of an annotation that declares a Python value (`int | None`, `Literal[...]`), else None."""
    if annotation is None:
        return None
    text = gast.unparse(annotation).strip()
    if isinstance(annotation, gast.Constant) and isinstance(annotation.value, str):
        text = annotation.value.strip()
        try:
            annotation = gast.parse(text, mode="eval").body
        except (SyntaxError, ValueError):
            return None
    return text if _is_flag(functions, annotation, place) else None


def _is_flag(functions: Functions, node: gast.expr, place: Place | None) -> bool:
    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.BitOr):
        sides = [s for s in (node.left, node.right) if not _is_none(s)]
        return bool(sides) and all(_is_flag(functions, side, place) for side in sides)
    name = functions.canonical(_head(node), place)
    if isinstance(node, gast.Subscript) and name in ("typing.Optional", "typing.Union"):
        parts = node.slice.elts if isinstance(node.slice, gast.Tuple) else [node.slice]
        return all(_is_flag(functions, part, place) for part in parts if not _is_none(part))
    if name in ("typing.Literal", "typing_extensions.Literal") or name in _CALLABLES or name in _FLAG_TYPES:
        return True
    return isinstance(node, gast.Name) and node.id in _enums(functions)


def _is_none(node: gast.expr) -> bool:
    return isinstance(node, gast.Constant) and node.value is None


def _enums(functions: Functions) -> set[str]:
    return {s.name for s in functions.program.parsed.module.body if isinstance(s, gast.ClassDef)
            and any((functions.canonical(b, None) or "").startswith("enum.") for b in s.bases)}


def bind(call: gast.Call, place: Place, skip: int = 0) -> dict[str, gast.expr] | None:
    """Parameter to argument, or None where stars hide it; `skip` leading parameters are bound already."""
    if any(isinstance(a, gast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        return None
    arguments = place.node.args
    names = [p.id for p in [*arguments.posonlyargs, *arguments.args]][skip:]
    bound = dict(zip(names, call.args, strict=False))
    bound |= {k.arg: k.value for k in call.keywords if k.arg in place.parameters}
    return bound


def literal_arguments(functions: Functions, place: Place) -> dict[str, Origin]:
    """Parameters for which every call in the file writes a Python bool: no such call ever stages them."""
    sites = [(call, bind(call, place)) for call, around in functions.calls
             if functions.find(call.func, around) is place and place.receiver is None]
    if not sites or any(bound is None for _, bound in sites):
        return {}
    found = {}
    for name in place.parameters:
        values = [(bound or {}).get(name) for _, bound in sites]
        if all(isinstance(v, gast.Constant) and isinstance(v.value, bool) for v in values):
            found[name] = Origin(Kind.SILENT, f"every call passes a Python bool for `{name}`",
                                 f"Annotate it (`{name}: bool`) if that is meant, or pass a tensor.",
                                 (related(f"`{name}` is passed here.", values[0]),))
    return found


def handed_over(calls: list[tuple[gast.Call | None, dict[str, Origin] | None]], place: Place,
                own: dict[str, Origin]) -> dict[str, Origin]:
    """What the calls of traced functions pass to a function of this file, for each of its parameters.

    A call that is None stands for the function handed on as a value, a dict that is None for what cannot be
    told.
    """
    found: dict[str, Origin] = {}
    for name in place.parameters:
        values = []
        for call, bound in calls:
            if bound is None:
                values.append(TRACED if own[name].kind is Kind.TRACED else UNKNOWN)
            elif name in bound:
                origin = bound[name]
                if origin.kind is Kind.CONSTANT:  # written out for all to see
                    origin = Origin(Kind.FLAG, f"`{name}` is passed a Python value", related=origin.related)
                if call is not None:
                    origin = origin.through(related(f"`{name}` is passed here.", call))
                values.append(origin)
            elif own[name].parameter is not None and own[name].kind in (Kind.SILENT, Kind.OPTIONAL):
                left_out = f"`{name}` is left at its default"
                values.append(Origin(Kind.FLAG, left_out, related=own[name].related))
            else:
                values.append(own[name])
        found[name] = join(values) if values else own[name]
    return found

