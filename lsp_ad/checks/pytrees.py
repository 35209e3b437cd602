"""Classes of a file that JAX traces by their fields, and which of these stay Python values."""

from __future__ import annotations

import gast

from lsp_ad.checks.staged_functions import Functions

_BASES = {
    "equinox.Module", "flax.struct.PyTreeNode", "typing.NamedTuple", "jax_dataclasses.PytreeDataclass",
    "penzai.core.struct.Struct",
}  # fmt: skip
_DECORATORS = {
    "flax.struct.dataclass", "chex.dataclass", "jax_dataclasses.pytree_dataclass",
    "jax.tree_util.register_dataclass", "tree_math.struct",
}  # fmt: skip
_STATIC_TYPES = ("jax_dataclasses.Static", "typing.ClassVar")


def is_pytree(functions: Functions, owner: gast.ClassDef) -> bool:
    """Is it a class whose annotated fields JAX traces?"""
    return _decorator(functions, owner) is not None or any(
        _named(functions, b) in _BASES for b in owner.bases
    )


def fields(functions: Functions, owner: gast.ClassDef) -> dict[str, tuple[gast.AnnAssign, bool]]:
    """The annotated fields of a class, each with where it is declared, and if it stays a Python value."""
    decorator = _decorator(functions, owner)
    static = _static_names(decorator) if isinstance(decorator, gast.Call) else set()
    return {
        s.target.id: (s, s.target.id in static or _is_static(functions, s))
        for s in owner.body
        if isinstance(s, gast.AnnAssign) and isinstance(s.target, gast.Name)
    }


def _decorator(functions: Functions, owner: gast.ClassDef) -> gast.expr | None:
    return next((d for d in owner.decorator_list if _named(functions, d) in _DECORATORS), None)


def _named(functions: Functions, node: gast.expr) -> str:
    """The library function that is called, also by functools.partial."""
    if isinstance(node, gast.Call):
        name = functions.canonical(node.func, None) or ""
        return _named(functions, node.args[0]) if name == "functools.partial" and node.args else name
    return functions.canonical(node.value if isinstance(node, gast.Subscript) else node, None) or ""


def _static_names(decorator: gast.Call) -> set[str]:
    given = next((k.value for k in decorator.keywords if k.arg == "meta_fields"), None)
    elements = given.elts if isinstance(given, (gast.List, gast.Tuple)) else []
    return {e.value for e in elements if isinstance(e, gast.Constant) and isinstance(e.value, str)}


def _is_static(functions: Functions, field: gast.AnnAssign) -> bool:
    if _named(functions, field.annotation) in _STATIC_TYPES:
        return True
    if not isinstance(field.value, gast.Call):
        return False
    given = {k.arg: k.value for k in field.value.keywords}
    return any(
        isinstance(given.get(name), gast.Constant) and given[name].value is wanted
        for name, wanted in (("static", True), ("pytree_node", False))
    )
