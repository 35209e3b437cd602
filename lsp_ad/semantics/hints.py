"""What a signature and a docstring say about the parameters.

These are statements of the user's about the inputs for which the function is meant; generated
code that relies on them checks them on entry.
"""

from __future__ import annotations

import re

import gast

from lsp_ad.semantics.names import parameters
from lsp_ad.semantics.shapes import BOOL, FLOAT, INT, NONE, OTHER, STR, UNKNOWN, Kind, Opaque

_NUMBERS = {"float": FLOAT, "int": INT, "bool": BOOL, "str": STR, "complex": Kind("number", "complex", ())}
_ARRAYS = ("ndarray", "NDArray", "ArrayLike", "Array", "array", "array_like", "Tensor", "matrix", "vector")
_HEADER = re.compile(
    r"^[ \t]*(?P<names>\*{0,2}\w+(?:\s*,\s*\w+)*)\s*(?::|\()\s*(?P<text>[^\n]*)$", re.MULTILINE
)
_SHAPE = re.compile(r"\(([\w\s,]*)\)")


def parameter_kinds(function: gast.FunctionDef) -> dict[str, Kind]:
    """The kind of each parameter, as annotation and docstring say; the shape of others is their own."""
    kinds = {}
    documented = _from_docstring(gast.get_docstring(function) or "")
    annotations = {a.id: a.annotation for a in _arguments(function)}
    for name in parameters(function):
        kind = from_annotation(annotations.get(name)) or documented.get(name) or UNKNOWN
        if kind.shape is None and kind.type in ("numeric", "array"):
            kind = Kind(kind.type, kind.dtype, Opaque(name))
        kinds[name] = kind
    return kinds


def declared_shapes(function: gast.FunctionDef) -> dict[str, tuple]:
    """The shapes that annotations and docstring declare, for the parameters where they do."""
    documented = _from_docstring(gast.get_docstring(function) or "")
    found = {}
    for argument in _arguments(function):
        kind = from_annotation(argument.annotation) or documented.get(argument.id)
        if kind is not None and isinstance(kind.shape, tuple):
            found[argument.id] = kind.shape
    return found


def default_values(function: gast.FunctionDef) -> dict[str, gast.expr]:
    """The default of each parameter that has one."""
    a = function.args
    positional = [*a.posonlyargs, *a.args]
    found = {
        p.id: d for p, d in zip(positional[len(positional) - len(a.defaults) :], a.defaults, strict=True)
    }
    found.update({p.id: d for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True) if d is not None})
    return found


def _arguments(function: gast.FunctionDef) -> list[gast.Name]:
    a = function.args
    return [*a.posonlyargs, *a.args, *a.kwonlyargs]


def default_is_other(default: gast.expr | None) -> bool:
    """Whether a default value says that the parameter is meant to be something other than float.

    It is a hint for the choice of wrt only: `n=10` may still be called with an array.
    """
    if not isinstance(default, gast.Constant):
        return isinstance(default, (gast.Tuple, gast.List, gast.Dict, gast.Lambda))
    return not isinstance(default.value, float)


def from_annotation(node: gast.expr | None) -> Kind | None:
    """What an annotation says of a value, None where it says nothing."""
    if node is None:
        return None
    if isinstance(node, gast.Constant) and isinstance(node.value, str):
        try:
            return from_annotation(gast.parse(node.value.strip(), mode="eval").body)
        except SyntaxError:
            return None
    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.BitOr):
        sides = {from_annotation(node.left), from_annotation(node.right)} - {NONE}
        return sides.pop() if len(sides) == 1 else None
    if isinstance(node, gast.Constant) and node.value is None:
        return NONE
    name = _last(node)
    if isinstance(node, gast.Subscript):
        if name in ("list", "List", "Sequence", "tuple", "Tuple"):
            return Kind("tuple" if name.lower() == "tuple" else "list")
        if name in ("dict", "Dict", "Mapping"):
            return Kind("dict")
        if name in ("Callable", "set", "Literal"):
            return OTHER
        if name in ("Float", "Float32", "Float64", "Shaped", "Num", "Real", "Inexact"):
            return Kind("array", "float", _jaxtyping(node.slice))
        if name in ("Complex", "Complex64", "Complex128"):
            return Kind("array", "complex", _jaxtyping(node.slice))
        if name in ("Int", "Integer", "Bool"):
            return Kind("array", "bool" if name == "Bool" else "int", _jaxtyping(node.slice))
        if name == "NDArray":
            return Kind("array", _dtype(_last(node.slice)))
        if name in _ARRAYS:
            return Kind("array")
        return None
    if name in _NUMBERS:
        return _NUMBERS[name]
    if name in ("float64", "float32", "float16", "floating"):
        return FLOAT
    if name in ("int64", "int32", "integer"):
        return INT
    if name in ("complex128", "complex64", "complexfloating"):
        return _NUMBERS["complex"]
    if name in ("ArrayLike", "array_like"):
        return UNKNOWN
    if name in _ARRAYS:
        return Kind("array")
    if name in ("list", "List", "Sequence"):
        return Kind("list")
    if name in ("tuple", "Tuple"):
        return Kind("tuple")
    if name in ("dict", "Dict", "Mapping"):
        return Kind("dict")
    if name in ("Callable", "set", "Any", "object"):
        return None if name in ("Any", "object") else OTHER
    return None


def _last(node: gast.expr) -> str:
    if isinstance(node, gast.Subscript):
        return _last(node.value)
    return node.attr if isinstance(node, gast.Attribute) else node.id if isinstance(node, gast.Name) else ""


def _dtype(name: str) -> str | None:
    for dtype in ("float", "int", "bool", "complex"):
        if name.startswith(dtype):
            return dtype
    return None


def _jaxtyping(index: gast.expr) -> tuple | None:
    """The dimensions in `Float[Array, "n d"]`, where they are plain."""
    if isinstance(index, gast.Tuple) and len(index.elts) == 2 and isinstance(index.elts[1], gast.Constant):
        words = str(index.elts[1].value).split()
        if all(w.isidentifier() or w.isdigit() for w in words):
            return tuple(int(w) if w.isdigit() else w for w in words)
    return None


def _from_docstring(text: str) -> dict[str, Kind]:
    """Kinds of parameters in a docstring: `w : ndarray, shape (d,)`, `a, b :
    ndarray, shapes (n,), (m,)`, `t : float`.
    """
    found: dict[str, Kind] = {}
    for match in _HEADER.finditer(text):
        names = [n.strip().lstrip("*") for n in match["names"].split(",")]
        words = match["text"]
        shapes = (
            [_dimensions(s) for s in _SHAPE.findall(words)] if re.search(r"\bshapes?\b|\(", words) else []
        )
        first = re.match(r"\W*([\w.]+)", words)
        word = first[1].split(".")[-1] if first else ""
        for position, name in enumerate(names):
            shape = None
            if len(shapes) == len(names):
                shape = shapes[position]
            elif len(shapes) == 1 and "shapes" not in words:
                shape = shapes[0]
            if shape is not None and ("shape" in words or any(a in words for a in _ARRAYS)):
                found[name] = Kind("array" if shape else "number", _dtype_word(words), shape)
            elif word in _NUMBERS and not re.search(r"\bor\b|array|optional list", words):
                found[name] = _NUMBERS[word]
            elif word in ("ndarray", "array", "matrix", "vector") and not re.search(r"\bor\b", words):
                found[name] = Kind("array", _dtype_word(words))
    return found


def _dtype_word(words: str) -> str | None:
    for word, dtype in (("float", "float"), ("int", "int"), ("bool", "bool"), ("complex", "complex")):
        if re.search(rf"\b{word}\w*\b", words):
            return dtype
    return None


def _dimensions(text: str) -> tuple | None:
    parts = [p.strip() for p in text.split(",") if p.strip()]
    if all(p.isidentifier() or p.isdigit() for p in parts):
        return tuple(int(p) if p.isdigit() else p for p in parts)
    return None
