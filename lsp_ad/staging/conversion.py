"""From live functions to converted live functions.

A converted function has the globals, the cells, the defaults of the one that it stands for; its code has the
file and the lines of the user's own text, so that tracebacks, debuggers and breakpoints show these.
"""

from __future__ import annotations
import __future__

import ast
import functools
import inspect
import operator
import types
import weakref
from dataclasses import dataclass
from typing import Any, NamedTuple

import gast

from lsp_ad.problems import Refusal
from lsp_ad.source.trees import walk
from lsp_ad.sources import NoSource, codes
from lsp_ad.staging import operators
from lsp_ad.staging.converters.building import is_immediate
from lsp_ad.staging.converters.function import convert
from lsp_ad.staging.errors import (
    CONVERTED,
    GENERATED,
    MADE,
    SURVIVORS,
    TRIES,
    ConversionError,
    Unsupported,
    place,
)
from lsp_ad.staging.generated import backward_line, docstring_of, is_generated
from lsp_ad.staging.locating import located
from lsp_ad.staging.operators.builtins import BY_NAME
from lsp_ad.staging.operators.calls import call_alone
from lsp_ad.staging.text import converted_text

_FUTURES = functools.reduce(
    operator.or_, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
)


@dataclass(frozen=True)
class Template:
    """The converted code of a function, for all functions made of the same code."""

    text: str
    alias: str  # what the operators are called in it
    code: types.CodeType  # of two functions around it, of its free variables and of `ag`
    name: str


# By file, too: codes of two files are equal where the functions are the same and stand in the same line.
_templates: weakref.WeakKeyDictionary[types.CodeType, dict[str, Template]] = weakref.WeakKeyDictionary()


def converted(function: types.FunctionType) -> types.FunctionType:
    """A function converted, whatever module it is of: the same one every time. Raises ConversionError."""
    if function.__code__ in CONVERTED:
        return function
    # kept with the function, so that both go together
    before = function.__dict__.get(MADE)
    if before is not None and before[0] is function and before[1] is function.__code__:
        made: types.FunctionType = before[2]
        if made.__defaults__ is function.__defaults__ and made.__kwdefaults__ is function.__kwdefaults__:
            return made
    made = _made(function, template_of(function))
    function.__dict__[MADE] = function, function.__code__, made
    return made


def converted_alone(function: types.FunctionType) -> types.FunctionType:
    """A function converted, but not what it calls. Raises ConversionError."""
    alone = types.SimpleNamespace(**{name: getattr(operators, name) for name in operators.__all__})
    alone.__dict__.update(BY_NAME, call=call_alone)
    return _made(function, template_of(function), alone)


def _made(function: types.FunctionType, template: Template, ag: Any = operators) -> types.FunctionType:
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    namespace: dict[str, Any] = {}
    exec(template.code, function.__globals__, namespace)
    around = namespace["_lsp_ad_cells"](*cells).__code__
    shared = tuple(cells[free] for free in around.co_freevars)
    made = types.FunctionType(around, function.__globals__, closure=shared)(ag)
    made.__defaults__, made.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    made.__name__, made.__qualname__ = function.__name__, function.__qualname__
    made.__module__, made.__doc__ = function.__module__, function.__doc__
    made.__annotations__ = function.__annotations__
    made.__dict__.update({k: v for k, v in function.__dict__.items() if k not in ("__wrapped__", MADE)})
    made.__lsp_ad_unstaged__ = function
    return made


def template_of(function: types.FunctionType) -> Template:
    """The converted code of a function, made once for its code."""
    code = function.__code__
    known = _templates.setdefault(code, {})
    if code.co_filename not in known:
        known[code.co_filename] = _template(function)
    return known[code.co_filename]


def _template(function: types.FunctionType) -> Template:
    code = function.__code__
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise ConversionError(
            f"{place(function)}: {function.__qualname__} is `async`, which cannot be staged."
            " Mark it by `lsp_ad.do_not_convert` if it needs no conversion."
        )
    try:
        found = located(function)
    except NoSource as error:
        raise ConversionError(
            f"{place(function)}: {function.__qualname__} cannot be converted: {error}."
            " Mark it by `lsp_ad.do_not_convert` if it needs no conversion."
        ) from None
    node = found.node
    tries = [
        (n.body[0].lineno, n.body[-1].end_lineno or n.body[-1].lineno)
        for n in walk(node)
        if isinstance(n, (gast.Try, gast.With)) and not _lets_errors_through(n)
    ]
    try:
        blocks, alias, survivors = convert(node, found.program, found.owner, {*code.co_freevars})
    except Unsupported as unsupported:
        raise ConversionError(f"{code.co_filename}:{unsupported.line}: {unsupported}") from None
    except Refusal as refusal:
        problem = refusal.problems[0]
        raise ConversionError(
            f"{code.co_filename}:{problem.span.line}: {problem.message} {problem.way_out}".rstrip()
        ) from None
    node.decorator_list = []
    text = converted_text(node, found.program.parsed)
    _without_header(node)
    lambdas = {n.lineno for n in walk(node) if isinstance(n, gast.Lambda) and not is_immediate(n)}
    made = _registered(_enclosed(node, code, alias), _Blocks(blocks, lambdas), "")
    SURVIVORS.update((c, survivors) for c in codes(made))
    if tries:
        TRIES.update((c, tries) for c in codes(made))
    if is_generated(docstring_of(node)):
        line = backward_line(node, found.program.parsed.comments)
        GENERATED.update((c, line) for c in codes(made))
    return Template(text, alias, made, node.name)


def _lets_errors_through(block: gast.stmt) -> bool:
    """Whether nothing happens at the end of a `with` block where an error leaves it."""
    managers = [item.context_expr for item in block.items] if isinstance(block, gast.With) else [block]
    return all(isinstance(m, gast.Call) and getattr(m.func, "attr", "") == "errstate" for m in managers)


class _Blocks(NamedTuple):
    """The names of blocks, and the lines where lambdas of the user's start."""

    names: set[str]
    lambdas: set[int]

    def has(self, code: types.CodeType) -> bool:
        """Whether a code object is a block of the function around it, or an operand of an operator."""
        later = code.co_name == "<lambda>" and code.co_firstlineno not in self.lambdas
        return later or code.co_name in self.names


def _registered(code: types.CodeType, blocks: _Blocks, around: str) -> types.CodeType:
    """The code, with the converted functions in it known as such; blocks have the name of their function."""
    ours = code.co_name in ("<module>", "_lsp_ad_cells", "_lsp_ad_ag")
    block = blocks.has(code)
    name = around if block else code.co_name
    inner = tuple(
        _registered(c, blocks, "" if ours else name) if isinstance(c, types.CodeType) else c
        for c in code.co_consts
    )
    made = code.replace(co_consts=inner, co_name=name)
    if not ours:
        CONVERTED[made] = block
    return made


def _enclosed(function: gast.FunctionDef, code: types.CodeType, alias: str) -> types.CodeType:
    """The code of a definition inside a function of `ag`, inside one of its free variables."""
    outer = ast.parse(
        f"def _lsp_ad_cells({', '.join(code.co_freevars)}):\n"
        f" def _lsp_ad_ag({alias}):\n  return {function.name}\n"
        " return _lsp_ad_ag"
    )
    plain = gast.gast_to_ast(gast.Module([function], []))
    outer.body[0].body[0].body[:0] = plain.body  # type: ignore[attr-defined]
    ast.fix_missing_locations(outer)
    flags = code.co_flags & _FUTURES
    return compile(outer, code.co_filename, "exec", flags=flags, dont_inherit=True)


def _without_header(node: gast.FunctionDef) -> None:
    """Without annotations and defaults, which would be evaluated again: those of the function are taken."""
    node.returns = None
    for part in walk(node.args):
        if isinstance(part, gast.Name):
            part.annotation = None
    node.args.defaults = [gast.Constant(None, None) for _ in node.args.defaults]
    node.args.kw_defaults = [d and gast.Constant(None, None) for d in node.args.kw_defaults]


_DECIDING = (gast.If, gast.While, gast.IfExp, gast.BoolOp, gast.Assert, gast.Match)


def has_control_flow(function: types.FunctionType) -> bool:
    """Whether the text of a function decides anything by values, or there is no text that could tell."""
    try:
        return any(isinstance(part, _DECIDING) for part in walk(located(function).node))
    except NoSource:
        return True
