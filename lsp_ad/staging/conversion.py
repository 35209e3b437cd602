"""From live functions to converted live functions.

A converted function has the globals, the cells, the defaults of the one that it stands for; its code has the
file and the lines of the user's own text, so that tracebacks, debuggers and breakpoints show these.
"""

from __future__ import annotations

import ast
import functools
import inspect
import os
import sysconfig
import types
import weakref
from dataclasses import dataclass
from typing import Any

import gast

from lsp_ad.problems import Refusal
from lsp_ad.semantics.names import Program
from lsp_ad.source.document import Document
from lsp_ad.source.parse import Parsed, parse
from lsp_ad.source.trees import copied, walk
from lsp_ad.sources import NoSource, codes, definition_of, first_line, text_of
from lsp_ad.staging import operators
from lsp_ad.staging.converters.function import convert
from lsp_ad.staging.errors import CONVERTED, ConversionError
from lsp_ad.staging.text import converted_text

MARK = "__lsp_ad_do_not_convert__"
_THEIRS = tuple(
    os.path.realpath(path) + os.sep
    for path in {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    if path
)
_OWN = os.path.dirname(os.path.realpath(__file__)) + os.sep


@dataclass(frozen=True)
class Template:
    """The converted code of a function, for all functions made of the same code."""

    text: str
    code: types.CodeType  # of two functions around it, of its free variables and of `ag`
    name: str


_templates: weakref.WeakKeyDictionary[types.CodeType, Template] = weakref.WeakKeyDictionary()


def converted(function: types.FunctionType) -> types.FunctionType:
    """A function converted, whatever module it is of. Raises ConversionError."""
    if function.__code__ in CONVERTED:
        return function
    template = template_of(function)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    namespace: dict[str, Any] = {}
    exec(template.code, function.__globals__, namespace)
    around = namespace["_lsp_ad_cells"](*cells).__code__
    shared = tuple(cells[free] for free in around.co_freevars)
    made = types.FunctionType(around, function.__globals__, closure=shared)(operators)
    for code in (made.__code__, *codes(made.__code__)):
        CONVERTED.add(code)
    made.__defaults__, made.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    made.__name__, made.__qualname__ = function.__name__, function.__qualname__
    made.__module__, made.__doc__ = function.__module__, function.__doc__
    made.__annotations__ = function.__annotations__
    made.__dict__.update({k: v for k, v in function.__dict__.items() if k != "__wrapped__"})
    made.__lsp_ad_unstaged__ = function
    return made


def template_of(function: types.FunctionType) -> Template:
    """The converted code of a function, made once for its code."""
    code = function.__code__
    if code not in _templates:
        _templates[code] = _template(function)
    return _templates[code]


def _template(function: types.FunctionType) -> Template:
    code = function.__code__
    try:
        parsed, node = _located(function)
    except NoSource as error:
        raise ConversionError(
            f"{_place(function)}: {function.__qualname__} cannot be converted: it has no text: {error}."
            " Mark it by `lsp_ad.do_not_convert` if it needs no conversion."
        ) from None
    program = Program(parsed)
    try:
        convert(node, program.canonical)
    except Refusal as refusal:
        found = refusal.problems[0]
        raise ConversionError(
            f"{code.co_filename}:{found.span.line}: {found.message} {found.way_out}".rstrip()
        ) from None
    node.decorator_list = []
    _without_annotations(node)
    text = converted_text(node, parsed)
    free = [*code.co_freevars]
    outer = ast.parse(
        f"def _lsp_ad_cells({', '.join(free)}):\n"
        f" def _lsp_ad_ag(ag):\n  return {node.name}\n"
        " return _lsp_ad_ag"
    )
    plain = gast.gast_to_ast(gast.Module([node], []))
    outer.body[0].body[0].body[:0] = plain.body  # type: ignore[attr-defined]
    ast.fix_missing_locations(outer)
    return Template(text, compile(outer, code.co_filename, "exec", dont_inherit=True), node.name)


def _without_annotations(node: gast.FunctionDef) -> None:
    """Annotations would be evaluated again."""
    node.returns = None
    for part in walk(node.args):
        if isinstance(part, gast.Name):
            part.annotation = None
    node.args.defaults = [gast.Constant(None, None) for _ in node.args.defaults]
    node.args.kw_defaults = [d and gast.Constant(None, None) for d in node.args.kw_defaults]


def _located(function: types.FunctionType) -> tuple[Parsed, gast.FunctionDef]:
    """The file of a function, and a copy of its definition."""
    code = function.__code__
    text = text_of(function)
    if not text:
        raise NoSource(f"there is no text of it in {code.co_filename}")
    parsed = parse(Document(text, code.co_filename))
    if parsed.problems:
        raise NoSource(f"{code.co_filename} does not parse any more")
    if code.co_name == "<lambda>":
        return parsed, _lambda(parsed, function)
    node = definition_of(parsed, code, first_line(text, code))
    return parsed, copied(node)


def _lambda(parsed: Parsed, function: types.FunctionType) -> gast.FunctionDef:
    """A lambda as a function that returns its value."""
    code = function.__code__
    found = [
        n for n in gast.walk(parsed.module) if isinstance(n, gast.Lambda) and n.lineno == code.co_firstlineno
    ]
    positions = (
        {p[2] for p in code.co_positions() if p[0] == code.co_firstlineno}
        if hasattr(code, "co_positions")
        else set()
    )
    if len(found) > 1 and positions:
        found = [
            n
            for n in found
            if any(p is not None and n.col_offset <= p < n.end_col_offset for p in positions)
            and n.args.args is not None
            and [a.id for a in n.args.args] == list(code.co_varnames[: code.co_argcount])
        ]
        inner = min(found, key=lambda n: n.end_col_offset - n.col_offset, default=None)
        found = [inner] if inner is not None else []
    if len(found) != 1:
        raise NoSource("there are several lambdas in its line")
    node = copied(found[0])
    made = gast.FunctionDef(
        "lambda_", node.args, [gast.copy_location(gast.Return(node.body), node)], [], None, None, []
    )
    return gast.copy_location(made, node)


def converted_callee(function: Any) -> tuple[Any, str]:
    """What is to be called in place of a callable, and why it is left alone, if it is."""
    if getattr(function, MARK, False):
        return function, "it is marked do_not_convert"
    if isinstance(function, functools.partial):
        inner, why = converted_callee(function.func)
        return (
            (functools.partial(inner, *function.args, **function.keywords), "")
            if not why
            else (function, why)
        )
    if isinstance(function, types.MethodType):
        inner, why = converted_callee(function.__func__)
        return (types.MethodType(inner, function.__self__), "") if not why else (function, why)
    if isinstance(function, types.FunctionType):
        if function.__code__ in CONVERTED:
            return function, ""
        if is_library(function.__code__.co_filename):
            return function, "it is a library's"
        if inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function):
            raise ConversionError(
                f"{_place(function)}: {function.__qualname__} is a generator or a coroutine, which cannot be"
                " converted. Return a list, or mark it by `lsp_ad.do_not_convert`."
            )
        return converted(function), ""
    if isinstance(function, (types.BuiltinFunctionType, types.MethodWrapperType, type)):
        return function, "it is a class" if isinstance(function, type) else "it is built in"
    method = vars(type(function)).get("__call__")
    if isinstance(method, types.FunctionType) and not is_library(method.__code__.co_filename):
        return types.MethodType(converted(method), function), ""
    return function, "it is a library's"


def _place(function: types.FunctionType) -> str:
    return f"{function.__code__.co_filename}:{function.__code__.co_firstlineno}"


def is_library(filename: str) -> bool:
    """Whether a file belongs to Python, to an installed package or to lsp-ad: nothing of the user's."""
    path = os.path.realpath(filename)
    return path.startswith(_THEIRS) or path.startswith(_OWN) or filename.startswith("<frozen")
