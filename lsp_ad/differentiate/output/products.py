"""Hessian-vector products, forward mode over the gradient; and the Hessians and Jacobians made with products.

Before:                                         After:
    def f(x):                                       def f_hvp(x, vx):
        return np.sum(np.exp(x))                        t = np.exp(x)
                                                        vt = vx * t
                                                        ...
                                                        return vdx

The gradient is written with the seed 1.0 in it, read again as a function of the program, and swept forward.
Its lines keep the places of the statements that they come from.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import gast

from lsp_ad.differentiate.derivative import Derivative, Line
from lsp_ad.differentiate.options import Options, Product
from lsp_ad.differentiate.output.insert import import_line, with_dependencies
from lsp_ad.differentiate.output.stacked import Stacked
from lsp_ad.differentiate.quoting import binding_place
from lsp_ad.differentiate.reverse.values import name_taken
from lsp_ad.differentiate.unit import Unit, name_span
from lsp_ad.problems import Problem, Refusal, Span, problem
from lsp_ad.rules.helpers import RUNTIME, has_rule, helper_sources
from lsp_ad.semantics.classes import Class, Method
from lsp_ad.semantics.names import Program
from lsp_ad.semantics.shapes import UNKNOWN, Kind
from lsp_ad.source.pragmas import parsed_with_options
from lsp_ad.source.trees import walk

Owner = tuple[Class, Method] | None
Derive = Callable[[Program, gast.FunctionDef, tuple[str, ...] | None, str, Owner, Options], Derivative]


def hessian_product(
    program: Program,
    function: gast.FunctionDef,
    wrt: tuple[str, ...] | None,
    owner: Owner,
    options: Options,
    derive: Derive,
) -> Derivative:
    """The Hessian-vector product of a function: forward mode over its gradient."""
    title = f"{owner[0].name}.{owner[1].function.name}" if owner is not None else function.name
    product = Product(f"{function.name}_hvp", title)
    gradient = derive(program, function, wrt, "grad", owner, replace(options, product=product))
    composed, made = _with_gradient(program, function, gradient, product.name)
    product = replace(product, written_out=tuple(gradient.written_out))
    second = derive(composed, made, gradient.wrt, "jvp", None, replace(options, product=product))
    # what has no place in the text was given that of the name
    name = name_span(function)
    lines = [
        line._replace(origin=None)
        if line.origin is not None and line.origin.line == name.line and line.origin.column == name.column
        else line
        for line in second.lines
    ]
    # what was imported for the compiler is written out
    ours = {h for h in helper_sources() if _import(h) in second.imports}
    imports = tuple(line for line in second.imports if line not in set(map(_import, ours)))
    helpers = tuple(sorted({*second.helpers, *ours}))
    return replace(
        second, mode="hvp", primal=function.name, lines=tuple(lines), helpers=helpers, imports=imports
    )


def stacked(
    program: Program,
    function: gast.FunctionDef,
    wrt: tuple[str, ...] | None,
    mode: str,
    owner: Owner,
    options: Options,
    derive: Derive,
) -> Derivative:
    """A Hessian or Jacobian: a function that calls a product, written before it where it is not there."""
    inner = "hvp" if mode == "hessian" else "jvp"
    product = derive(program, function, wrt, inner, owner, replace(options, single=True))
    made = next(s for s in gast.parse(product.text).body if s.name == product.name)
    known = program.functions.get(product.name)
    if product.name in program.bound and (known is None or gast.dump(known) != gast.dump(made)):
        raise Refusal(name_taken(product.name, "its product", binding_place(product.name, function, program)))
    name = f"{function.name}_{mode}"
    numpy = program.numpy
    tangents = dict(zip(product.wrt, product.tangents, strict=True))
    own = [Line(t, None, "head") for t in Stacked(mode, name, made, tangents, numpy).lines()]
    before = [*product.lines, Line("", None, "head"), Line("", None, "head")] if known is None else []
    needed = set() if numpy in program.imports else {import_line("numpy")}
    return replace(
        product,
        name=name,
        mode=mode,
        lines=(*before, *own),
        helpers=product.helpers if known is None else (),
        imports=tuple(sorted({*product.imports, *needed})),
    )


def refuse_structures(unit: Unit, result: bool) -> None:
    """A Hessian or a Jacobian is one of arrays."""
    split = {p.parameter for p in unit.paths.values()} | unit.apart.classes.keys()
    for p in unit.wrt:
        if p in split or not _is_single(unit.kinds.names.get(p, UNKNOWN)):
            raise Refusal(_not_one_array(unit.original, f"The parameter `{p}`"))
    if result and not _is_single(unit.kinds.names.get(unit.result, UNKNOWN)):
        raise Refusal(_not_one_array(unit.original, "The result"))


def _is_single(kind: Kind) -> bool:
    return kind.shape == () or kind.type in ("number", "numeric", "array")


def _with_gradient(
    program: Program, function: gast.FunctionDef, gradient: Derivative, name: str
) -> tuple[Program, gast.FunctionDef]:
    """The program with a gradient, and what it needs, as functions of it; and the gradient, under a name."""
    made = dict(program.made)
    written = {**gradient.written_out, **program.written}
    for s in parsed_with_options(gradient.text):
        _placed(s, program, gradient, function)
        if s.name == gradient.name:
            s.name = name
            s.body[:1] = function.body[:1] if gast.get_docstring(function) is not None else []
            composed = s
            written[name] = program.text_of(function.name)
        else:
            written[s.name] = gast.copy_location(
                gast.Call(gast.Name(s.name, gast.Load(), None, None), [], []), s
            )
        made[s.name] = s
    helpers = helper_sources()
    imports: dict[str, tuple[str, str]] = {}
    for helper in with_dependencies(gradient.helpers):
        known = helper in program.functions or helper in program.imports
        if not known and has_rule(helper):
            imports[helper] = (RUNTIME + helper, _import(helper))
        elif not known:
            s = gast.parse(helpers[helper]).body[0]
            for node in walk(s):
                if isinstance(node, (gast.stmt, gast.expr)):
                    whole = not isinstance(getattr(node, "ctx", None), gast.Store)
                    _at(node, name_span(function), whole)
            made[helper] = s
    links = replace(program.links, imports={**program.links.imports, **imports})
    return replace(program, made=made, written=written, links=links), composed


def _import(helper: str) -> str:
    return f"from lsp_ad.runtime import {helper}"


def _not_one_array(function: gast.FunctionDef, what: str) -> Problem:
    """Why a function has no Hessian or Jacobian."""
    return problem("AD507", f"{what} of `{function.name}` is no number or array.", name_span(function))


def _placed(
    definition: gast.FunctionDef, program: Program, gradient: Derivative, function: gast.FunctionDef
) -> None:
    """Give each statement the place of the text that it comes from.

    One that does not stand there as it is has no extent: it is not the user's statement. Neither have
    targets: an operand in the place of a target would be that of an augmented assignment.
    """
    lines = program.parsed.document.lines
    for node in walk(definition):
        if not isinstance(node, (gast.stmt, gast.expr)):
            continue
        line = gradient.lines[node.lineno - 1]
        place = line.origin or name_span(function)
        own = not isinstance(getattr(node, "ctx", None), gast.Store)
        if isinstance(node, gast.stmt):
            text = lines.line(place.line)[place.column :] if place.line <= len(lines) else ""
            own = line.origin is not None and text.strip() == line.text.strip()
        _at(node, place, own)


def _at(node: gast.AST, place: Span, whole: bool) -> None:
    node.lineno, node.col_offset = place.line, place.column
    end = (place.end_line, place.end_column) if whole else (place.line, place.column)
    node.end_lineno, node.end_col_offset = end
