"""The passes of differentiation, in their order.

text -> fence -> inline -> structure -> webs -> kinds -> activity -> normal form    (unit.py)
     -> reverse sweep -> saves -> tapes -> simplification -> names                    (reverse/sweep.py)
     -> text, line by line, with its origins                                          (output/emit.py)
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Sequence, Set
from dataclasses import replace

import gast

from lsp_ad.differentiate.derivative import MODES, Derivative, Line
from lsp_ad.differentiate.forward.sweep import sweep_forward
from lsp_ad.differentiate.functions.lift import lift
from lsp_ad.differentiate.objects.records import take_apart
from lsp_ad.differentiate.options import DEFAULT, Options
from lsp_ad.differentiate.output.emit import emit, emit_made, emit_tangent
from lsp_ad.differentiate.output.insert import import_line, with_dependencies
from lsp_ad.differentiate.output.pair import emit_pair
from lsp_ad.differentiate.output.products import hessian_product, refuse_structures, stacked
from lsp_ad.differentiate.quoting import binding_place
from lsp_ad.differentiate.reverse.calls import Callees, Pair, Tangent
from lsp_ad.differentiate.reverse.sweep import sweep
from lsp_ad.differentiate.reverse.values import name_taken
from lsp_ad.differentiate.unit import float_parameters, name_span, prepare
from lsp_ad.differentiate.writes.writers import giving_back
from lsp_ad.problems import Problem, Refusal, Related, Span, problem
from lsp_ad.rules.helpers import helper_sources, is_our_helper
from lsp_ad.semantics import flow
from lsp_ad.semantics.classes import Class, Method, method_named
from lsp_ad.semantics.names import Program, parameters
from lsp_ad.source.pragmas import parsed_with_options
from lsp_ad.source.trees import copied, no_collection, walk


def differentiable_parameters(program: Program, name: str) -> tuple[str, ...]:
    """The parameters of a function that are not known to be something other than float: what wrt=None means.

    Raises KeyError where the file has no such function.
    """
    owner = method_named(program, name)
    return float_parameters(program, program.functions[name] if owner is None else owner[1].function)


def differentiate(
    program: Program,
    name: str,
    wrt: Sequence[str | int] | None = None,
    mode: str = "grad",
    options: Options = DEFAULT,
) -> tuple[Derivative | None, tuple[Problem, ...]]:
    """The derivative of function `name` of a file, or None and the problems that forbid it.

    `wrt` names or counts parameters (None: every float one). Nothing is raised at bad input: an
    unknown function or parameter is a problem too (AD504, AD501), with the span of the function or of the
    file's start.
    Raises ValueError for an unknown mode.
    """
    if mode not in MODES:
        raise ValueError(f"mode must be one of {', '.join(MODES)}, not {mode!r}")
    try:
        if program.parsed.problems:
            return None, program.parsed.problems
        program = _with_numpy(program)
        owner = method_named(program, name)
        if owner is not None:
            program, function = _method(program, *owner)
        elif name in program.functions:
            function = program.functions[name]
        else:
            raise Refusal(_no_function(program, name))
        names = None if wrt is None else resolve_wrt(function, wrt)
        with no_collection():
            return replace(_derivative(program, function, names, mode, owner, options), primal=name), ()
    except Refusal as refusal:
        return None, tuple(_at_home(program, found, name) for found in refusal.problems)
    except RecursionError:
        where = name_span(program.functions[name])
        return None, (problem("AD101", f"`{name}` is nested too deeply.", where, "Split it into functions."),)


def _with_numpy(program: Program) -> Program:
    """The program with `np` at hand where the file does not import NumPy; it is imported if it is used."""
    if program.alias_of("numpy") is not None:
        return program
    if "with numpy" not in program.derived:
        taken = any(isinstance(n, gast.Name) and n.id == "np" for n in walk(program.parsed.module))
        imports = {**program.links.imports, "np": ("numpy", import_line("numpy"))}
        known = replace(program, links=replace(program.links, imports=imports))
        program.derived["with numpy"] = program if taken or "np" in program.bound else known
    return program.derived["with numpy"]


def _method(program: Program, of: Class, method: Method) -> tuple[Program, gast.FunctionDef]:
    """A method as a function `Model_loss` of the file."""
    span = name_span(method.function)
    if method.problem or method.kind == "class":
        message = f"`{of.name}.{method.function.name}` {method.problem or 'is a method of the class'}."
        raise Refusal(problem("AD103", message, span, "Differentiate a function that does the same."))
    function = copied(method.function)
    function.name, function.decorator_list = f"{of.name}_{method.function.name}", []
    if function.name in program.bound:
        where = binding_place(function.name, function, program)
        raise Refusal(name_taken(function.name, f"`{of.name}.{method.function.name}`", where))
    made = {**program.made, function.name: function}
    return replace(program, made=made, written={**program.written, function.name: method.function}), function


def _no_function(program: Program, name: str) -> Problem:
    defined = [
        s for s in flow.walk(program.parsed.module) if isinstance(s, gast.FunctionDef) and s.name == name
    ]
    if defined:
        return problem(
            "AD504",
            f"`{name}` is not defined exactly once at the top level of the file.",
            name_span(max(defined, key=lambda f: f.lineno)),
        )
    return problem("AD504", f"There is no function `{name}` at the top level of the file.", Span(1, 0, 1, 1))


def _at_home(program: Program, found: Problem, name: str) -> Problem:
    """A problem with its places where they really are; one in another file is told at the function."""
    related = tuple(
        r if (home := program.home(r.span)) is None else Related(r.message, home[1], home[0])
        for r in found.related
    )
    home = program.home(found.span)
    if home is None:
        return replace(found, related=related)
    place = Related(found.message, home[1], home[0])
    message = f"{posixpath.basename(home[0])}, line {home[1].line}: {found.message}"
    return replace(found, message=message, span=name_span(program.functions[name]), related=(place, *related))


def resolve_wrt(function: gast.FunctionDef, wrt: Sequence[str | int]) -> tuple[str, ...]:
    """Parameter names for names and indices;
    raises Refusal (AD501) for one that does not exist, or is named twice.
    """
    known = parameters(function)
    found: list[str] = []
    for item in wrt:
        if isinstance(item, int) and not isinstance(item, bool) and -len(known) <= item < len(known):
            item = known[item]
        if item not in known:
            raise Refusal(
                problem(
                    "AD501",
                    f"`{function.name}` has no parameter {item!r}; it has {', '.join(known) or 'none'}.",
                    name_span(function),
                )
            )
        if item in found:
            raise Refusal(
                problem(
                    "AD501", f"The parameter `{item}` is named twice.", name_span(function), "Name it once."
                )
            )
        found.append(item)
    return tuple(found)


def _derivative(
    program: Program,
    function: gast.FunctionDef,
    wrt: tuple[str, ...] | None,
    mode: str,
    owner: tuple[Class, Method] | None,
    options: Options,
) -> Derivative:
    if mode == "hvp":
        return hessian_product(program, function, wrt, owner, options, _derivative)
    if mode in ("hessian", "jacobian"):
        return stacked(program, function, wrt, mode, owner, options, _derivative)
    lifted = ordinary(program, function)
    apart, parts = take_apart(lifted, lifted.functions[function.name], *(owner or ()))
    if apart is not lifted:
        # methods have functions in them, too
        apart = ordinary(apart, apart.functions[function.name])
    apart.derived["apart", function.name] = parts
    return _generated(apart, apart.functions[function.name], wrt, mode, options)


def ordinary(program: Program, function: gast.FunctionDef) -> Program:
    """The program in which a function calls ordinary functions only: see `functions/lift.py`."""
    return giving_back(lift(program, function, _inner), function.name)


def _inner(
    program: Program, name: str, wrt: tuple[str, ...], mode: str
) -> tuple[dict[str, gast.FunctionDef], str, str]:
    """A derivative that is called in a function: its functions and their helpers, its name, its seed."""
    derivative = _generated(program, program.function(name), wrt, mode)
    helpers = helper_sources()
    text = [derivative.text, *(helpers[h] for h in with_dependencies(derivative.helpers))]
    functions = {
        s.name: s
        for s in parsed_with_options("\n".join(text))
        if isinstance(s, gast.FunctionDef) and s.name not in program.functions
    }
    return functions, derivative.name, derivative.seed


def _generated(
    program: Program,
    function: gast.FunctionDef,
    wrt: tuple[str, ...] | None,
    mode: str,
    options: Options = DEFAULT,
) -> Derivative:
    """The derivative of a function that calls ordinary functions only."""
    callees = Callees(set(program.bound))
    if mode == "split":
        callees.taken |= {f"{function.name}_forward", f"{function.name}_backward"}
    unit = prepare(program, function, wrt, options=options)
    product = options.product
    if options.single:
        refuse_structures(unit, result=product is None or mode == "grad")
    finished: set[Pair | Tangent] = set()
    if mode == "jvp" and product is not None:
        swept = sweep_forward(unit, callees, product.name, options)
        main = emit_tangent(unit, swept, product=product)
    elif mode == "jvp":
        own = callees.own(function.name, unit.wrt)
        swept = sweep_forward(unit, callees, own.name, options)
        finished.add(own)
        main = emit_tangent(unit, swept)
    elif mode == "split":
        swept = sweep(unit, mode, callees, options)
        names = (f"{function.name}_forward", f"{function.name}_backward")
        pair = Pair(function.name, unit.wrt, *names)
        main = emit_pair(unit, swept, pair, asked=True, again=swept.undone)
    else:
        swept = sweep(unit, mode, callees, options)
        if product is not None:
            swept = replace(swept, name=product.name)
        main = emit(unit, swept, mode, "within" if product is not None else options.seed_of(mode))
    done: list[list[Line]] = []
    helpers, imports = set(swept.helpers), {import_line(m) for m in swept.modules}
    while pending := [c for c in callees.asked() if c not in finished]:
        callee = pending[0]
        finished.add(callee)
        lines, inner = _callee(program, callee, callees, function, options.optimized, mode == "split")
        done.append(lines)
        helpers |= inner.helpers
        imports |= {import_line(m) for m in inner.modules}
    hidden = BUILTINS & (program.bound | unit.scope.local)
    asked = {*program.made, *program.links.imports, *hidden, swept.name}
    used = _names([main, *done], asked)
    made = _made(program, used)
    helpers |= made & helper_sources().keys()
    more = [emit_made(program, n) for n in sorted(made - helpers)]
    done += more
    used |= _names(more, asked)
    recursive = mode == "jvp" and swept.name not in unit.scope.local | flow.reads(function)
    _refuse_taken(program, function, unit.scope.local, swept.name, helpers, used, recursive)
    imports |= {line for alias, (_, line) in program.links.imports.items() if alias in used}
    lines = main
    for block in done:
        lines = [*block, Line("", None, "head"), Line("", None, "head"), *lines]
    return Derivative(
        function.name,
        swept.name,
        mode,
        unit.wrt,
        swept.seed,
        tuple(line if _is_here(program, line) else line._replace(origin=None) for line in lines),
        tuple(sorted(helpers)),
        tuple(sorted(imports)),
        tuple(swept.tangents.values()),
        {n: unit.program.text_of(n) for n in sorted(unit.inlined)},
        f"{function.name}_backward" if mode == "split" else "",
        swept.scalar,
    )


_BUILTINS = "complex dict enumerate getattr isinstance len list min range reversed slice tuple zip"
BUILTINS = frozenset(_BUILTINS.split())
# Words that may be names: not the first of a text, nor the name of a function where it is defined.
_WORD = re.compile(r"""(?<!["'\w])[^\W\d]\w*""")
_HEAD = re.compile(r"^def \w+", re.MULTILINE)


def _is_here(program: Program, line: Line) -> bool:
    return line.origin is None or program.home(line.origin) is None


def _names(blocks: list[list[Line]], asked: Set[str]) -> set[str]:
    """The names that generated code uses, if any of those that are asked for is among them."""
    text = "".join(line.text + "\n" for block in blocks for line in block)
    if asked.isdisjoint(_WORD.findall(_HEAD.sub("", text))):
        return set()
    return {n.id for n in walk(ast.parse(text)) if isinstance(n, ast.Name)}


def _made(program: Program, used: set[str]) -> set[str]:
    """The functions that generated code calls and the file does not have."""
    pending = list(used)
    found: set[str] = set()
    while pending:
        name = pending.pop()
        if name in program.made and not program.bindings(name) and name not in found:
            found.add(name)
            pending += [n.id for n in flow.walk(program.made[name]) if isinstance(n, gast.Name)]
    return found


def _refuse_taken(
    program: Program,
    function: gast.FunctionDef,
    local: Set[str],
    name: str,
    helpers: set[str],
    used: set[str],
    recursive: bool,
) -> None:
    """Generated code must mean what it says: its helpers and built-ins are not hidden by the user's names.

    `recursive`: whether the derivative may call itself.
    """

    def place(taken: str) -> Span:
        return binding_place(taken, function, program)

    for taken in sorted(BUILTINS & used & (program.bound | local)):
        raise Refusal(name_taken(taken, "the built-in function", place(taken)))
    for helper in with_dependencies(tuple(helpers)):
        if helper in local or (helper in program.bound and not is_our_helper(program, helper)):
            raise Refusal(name_taken(helper, "its helper function", place(helper)))
    if helpers and program.alias_of("numpy", "np") is None and "np" in program.bound:
        raise Refusal(name_taken("np", "numpy in its helper functions", place("np")))
    if name in used and not recursive:
        raise Refusal(name_taken(name, "the derivative", place(name)))


def _callee(
    program: Program,
    callee: Pair | Tangent,
    callees: Callees,
    caller: gast.FunctionDef,
    optimized: bool,
    again: bool = False,
):
    """What is generated of a callee; a reason against it is told at the caller,
    with the place as related. `again`: its backward function may be called again with what was saved.
    """
    function = program.function(callee.callee)
    try:
        unit = prepare(program, function, callee.wrt, callee=True)
        if isinstance(callee, Tangent):
            swept = sweep_forward(unit, callees, callee.name, Options(optimized=optimized))
            return emit_tangent(unit, swept, of_callee=True), swept
        swept = sweep(unit, "pair", callees, Options(optimized=optimized))
        again = again and swept.undone
        helpers = swept.helpers | ({"own_copy"} if again else set())
        return emit_pair(unit, swept, callee, again=again), replace(swept, helpers=helpers)
    except Refusal as refusal:
        first = refusal.problems[0]
        related = tuple(Related(p.message, p.span) for p in refusal.problems)
        raise Refusal(
            problem(
                "AD203",
                f"`{callee.callee}`, which `{caller.name}` calls, cannot be differentiated: {first.message}",
                name_span(caller),
                first.way_out,
                related,
            )
        ) from None
