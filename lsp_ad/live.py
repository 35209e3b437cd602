"""From a live function to its text, and from generated text to a live function.

Nothing here runs user code but the default module machinery that has run already: the text of a
function is looked up, checked against the bytecode that really runs, and parsed.
"""

from __future__ import annotations

import ast
import builtins
import importlib.util
import itertools
import linecache
import os
import sys
import types
import weakref
from dataclasses import dataclass, replace

import gast

from lsp_ad.differentiate import Derivative
from lsp_ad.differentiate.output.insert import preamble
from lsp_ad.problems import Span
from lsp_ad.semantics.classes import method_named
from lsp_ad.semantics.linking import link
from lsp_ad.semantics.modules import Files, NotFound
from lsp_ad.semantics.names import Program
from lsp_ad.source.document import Document
from lsp_ad.source.parse import parse
from lsp_ad.sources import GENERATED, NoSource, borrowed, definition_of, first_line, text_of

_count = itertools.count(1)


@dataclass(frozen=True)
class Primal:
    """A function, and the program in which it stands under its own name at the top level.

    `method` is its name where it is a method of a class of the file; `indent` is how far the definition was
    moved left to get there, `lines` the lines that were moved.
    """

    function: types.FunctionType
    program: Program
    indent: int = 0
    lines: range = range(0)
    method: str = ""

    @property
    def name(self) -> str:
        """What the program calls it: `loss`, `Model.loss`."""
        return self.method or self.function.__code__.co_name

    @property
    def path(self) -> str:
        return self.function.__code__.co_filename

    def place(self, span: Span) -> tuple[int, int]:
        """(line, column) in the file of a place in the program, both counted from 1."""
        return span.line, span.column + 1 + (self.indent if span.line in self.lines else 0)


def primal_of(function: types.FunctionType, of: type | None = None) -> Primal:
    """Find the text of a function, or of a method of class `of`. Raises NoSource."""
    code = function.__code__
    text = text_of(function)
    if code.co_name == "<lambda>":
        raise NoSource("a lambda has no definition of its own")
    if not text:
        raise NoSource(f"there is no text of it in {code.co_filename}")
    parsed = parse(Document(text, code.co_filename))
    if parsed.problems:
        raise NoSource(f"{code.co_filename} does not parse any more")
    definition = definition_of(parsed, code, first_line(text, code))
    program = Program(parsed)
    primal = Primal(function, program, method=_method(program, function, definition, of))
    if not primal.method and program.functions.get(code.co_name) is not definition:
        primal = _isolated(primal, definition)
    return _with_imports(primal)


class Loaded(Files):
    """The modules that the interpreter has loaded, as the text that they were loaded from."""

    def __init__(self, function: types.FunctionType):
        super().__init__()
        module = function.__globals__
        self._packages = {function.__code__.co_filename: module.get("__package__") or ""}

    def identity(self, path: str) -> str:
        return os.path.realpath(path)

    def text(self, path: str) -> str | None:
        if not os.path.isfile(path):
            return None
        linecache.checkcache(path)
        return "".join(linecache.getlines(path))

    def module(self, name: str, importer: str) -> Document:
        try:
            full = importlib.util.resolve_name(name, self._packages.get(importer, ""))
        except ImportError as error:
            raise NotFound(str(error)) from error
        module = sys.modules.get(full)
        file = getattr(module, "__file__", None)
        if module is not None and file is None and getattr(module, "__path__", None):
            file = os.path.join(next(iter(module.__path__)), "__init__.py")
        if file is None or not file.endswith(".py"):
            raise NotFound(f"the module `{full}` is not loaded from a file of text")
        self._packages[file] = getattr(module, "__package__", None) or ""
        linecache.checkcache(file)
        return Document("".join(linecache.getlines(file)), file)


def linked(primal: Primal) -> Program:
    """The program of a primal with the functions of other modules that it calls. Raises NoSource."""
    found = link(primal.program, Loaded(primal.function))
    modules = {getattr(m, "__file__", None): m for m in list(sys.modules.values())}
    for path, name in found.sources.values():
        value = getattr(modules.get(path), name, None)
        if not isinstance(value, (types.FunctionType, type)):
            raise NoSource(f"{name} of {path} is not what its text defines")
        for function in _functions(value, path):
            first_line("".join(linecache.getlines(path)), function.__code__)
    return found.program


def _functions(value: object, path: str) -> list[types.FunctionType]:
    """A function, or those of a class that its file defines (others are those that `dataclass` adds)."""
    if not isinstance(value, type):
        return [value] if isinstance(value, types.FunctionType) else []
    found = [getattr(v, "fget", getattr(v, "__func__", v)) for v in vars(value).values()]
    functions = [f for f in found if isinstance(f, types.FunctionType)]
    return [f for f in functions if os.path.realpath(f.__code__.co_filename) == os.path.realpath(path)]


def _method(
    program: Program, function: types.FunctionType, definition: gast.FunctionDef, of: type | None
) -> str:
    """The name of a method of a class of the file; of that of the object that it is bound to."""
    owner, _, name = function.__qualname__.rpartition(".")
    if of is not None and of.__module__ == function.__module__:
        owner = of.__qualname__
    known = method_named(program, f"{owner}.{name}") if owner else None
    return f"{owner}.{name}" if known is not None and known[1].function is definition else ""


def load(primal: Primal, derivative: Derivative) -> types.FunctionType:
    """A live function of generated code, in the namespace of its primal.

    Its globals *are* the globals of the primal and its free variables share the primal's cells, so that
    it sees whatever the primal sees, later rebinding included. Functions of `lsp_ad.runtime` reach it
    as free variables, through two functions around it that exist while it is made; so nothing is added
    to the user's module. The text is registered with `linecache` under a name of its own, for
    `inspect.getsource`, tracebacks and debuggers.
    """
    function = primal.function
    name = derivative.name
    filename = f"{GENERATED}{function.__module__}.{name} {next(_count)}>"
    module = ast.parse(derivative.text, filename)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    helpers = _helpers(primal, derivative)
    if clash := sorted(helpers.keys() & cells.keys()):
        raise NoSource(f"it has a variable with the name of a helper function, {clash[0]}")
    given = _defaults(function)
    for node in module.body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            _leave_out(node, given)
    # The names of the two functions around must not hide anything that the code reads.
    tree = ast.parse(
        f"def _lsp_ad_cells({', '.join(cells)}):\n"
        f" def _lsp_ad_helpers({', '.join(helpers)}):\n"
        f"  return {name}\n"
        " return _lsp_ad_helpers"
    )
    inner = tree.body[0].body[0]  # type: ignore[attr-defined]
    inner.body[:0] = module.body
    namespace: dict = {}
    exec(compile(tree, filename, "exec", dont_inherit=True), function.__globals__, namespace)
    code = namespace["_lsp_ad_cells"](*cells).__code__
    shared = tuple(cells[free] for free in code.co_freevars)
    made = types.FunctionType(code, function.__globals__, closure=shared)(**helpers)
    _dress(made, function, given)
    lines = derivative.text.splitlines(keepends=True)
    linecache.cache[filename] = (len(derivative.text), None, lines, filename)
    weakref.finalize(made.__code__, linecache.cache.pop, filename, None).atexit = False
    return made


def _isolated(primal: Primal, definition: gast.FunctionDef) -> Primal:
    """A function that is not at the top level, in a program where it is.

    The definition is moved left where it stands; the rest of the statement around it becomes blank. All
    other lines stay, so that imports and functions of the file are known and line numbers are right.
    """
    function, name, body = primal.function, definition.name, primal.program.parsed.module.body
    around = next(s for s in body if s.lineno <= definition.lineno <= s.end_lineno)
    first = min([around.lineno, *(d.lineno for d in getattr(around, "decorator_list", []))])
    document = primal.program.parsed.document
    lines = document.text.splitlines(keepends=True) if "\r" not in document.text else []
    if len(lines) != len(document.lines) - document.text.endswith("\n"):
        raise NoSource("it is nested, in a file with unusual line ends")
    moved = range(definition.lineno, definition.end_lineno + 1)
    for number in range(first, around.end_lineno + 1):
        line = lines[number - 1]
        margin = min(definition.col_offset, len(line) - len(line.lstrip(" \t")))
        lines[number - 1] = line[margin:] if number in moved else "\n"
    program = Program(parse(replace(document, text="".join(lines))))
    if name not in program.functions or not _alike(definition, program.functions[name]):
        raise NoSource("it is nested, and cannot be read apart from what is around it")
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    for variable, cell in cells.items():
        if variable == name and cell.cell_contents is function:
            continue
        if variable in program.bound or hasattr(builtins, variable):
            raise NoSource(f"its variable {variable} hides another of that name")
    return Primal(function, program, definition.col_offset, moved)


def _alike(a: gast.FunctionDef, b: gast.FunctionDef) -> bool:
    """Whether two definitions are the same but for their decorators and the margin of their docstrings."""

    def dump(node: gast.FunctionDef) -> tuple[str, ...]:
        body = node.body[1:] if gast.get_docstring(node) is not None else node.body
        return (gast.dump(node.args), *map(gast.dump, body))

    return dump(a) == dump(b)


def _with_imports(primal: Primal) -> Primal:
    """The program with imports of what the function takes from elsewhere at run time.

    In a notebook the import stands in another cell, and in generated code nowhere at all.
    """
    function, program = primal.function, primal.program
    found = borrowed(function, program.bound)
    if not found:
        return primal
    document = program.parsed.document
    text = "\n".join([document.text.rstrip("\n"), *found, ""])
    return replace(primal, program=Program(parse(replace(document, text=text))))


def _helpers(primal: Primal, derivative: Derivative) -> dict[str, object]:
    """What an insertion of the derivative would import, by local name."""
    found: dict[str, object] = {}
    lines, _ = preamble(primal.program, derivative, "import")
    place = primal.function.__globals__
    exec("\n".join(lines), {n: place[n] for n in ("__name__", "__package__") if n in place}, found)
    return found


def _defaults(function: types.FunctionType) -> dict[str, object]:
    code, values = function.__code__, function.__defaults__ or ()
    positional = code.co_varnames[: code.co_argcount]
    return dict(zip(positional[len(positional) - len(values) :], values, strict=True)) | (
        function.__kwdefaults__ or {}
    )


def _leave_out(definition: ast.FunctionDef, given: dict[str, object]) -> None:
    """Take out of a signature what was evaluated when the primal was defined, and could differ by now."""
    parameters = definition.args
    positional = [*parameters.posonlyargs, *parameters.args]
    definition.returns = None
    for parameter in [*positional, *parameters.kwonlyargs]:
        parameter.annotation = None
    with_default = positional[len(positional) - len(parameters.defaults) :]
    for index, parameter in enumerate(with_default):
        if parameter.arg in given:
            parameters.defaults[index] = ast.copy_location(ast.Constant(None), parameters.defaults[index])
    for index, parameter in enumerate(parameters.kwonlyargs):
        default = parameters.kw_defaults[index]
        if default is not None and parameter.arg in given:
            parameters.kw_defaults[index] = ast.copy_location(ast.Constant(None), default)


def _dress(made: types.FunctionType, function: types.FunctionType, given: dict[str, object]) -> None:
    """Give a generated function the defaults and annotations of its primal, and its own place and name."""
    made.__module__ = function.__module__
    made.__qualname__ = (
        function.__qualname__.rpartition(".")[0] + "." * ("." in function.__qualname__) + made.__name__
    )
    own = _defaults(made)
    if made.__defaults__:
        positional = made.__code__.co_varnames[: made.__code__.co_argcount][-len(made.__defaults__) :]
        made.__defaults__ = tuple(given.get(name, own[name]) for name in positional)
    if made.__kwdefaults__:
        made.__kwdefaults__ = {name: given.get(name, value) for name, value in made.__kwdefaults__.items()}
    count = made.__code__.co_argcount + made.__code__.co_kwonlyargcount
    parameters = made.__code__.co_varnames[:count]
    made.__annotations__ = {n: a for n, a in function.__annotations__.items() if n in parameters}
