"""Generated functions as text: signature, docstring, checks on entry, the two sweeps, the result."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Set
from dataclasses import replace

import gast

from lsp_ad.differentiate.derivative import Line
from lsp_ad.differentiate.desugar import loop_options
from lsp_ad.differentiate.options import Product
from lsp_ad.differentiate.output.remarks import remark
from lsp_ad.differentiate.reverse.sweep import Swept
from lsp_ad.differentiate.unit import Unit
from lsp_ad.differentiate.writes.updates import rebound
from lsp_ad.problems import Span
from lsp_ad.semantics import flow
from lsp_ad.semantics.names import Program, imported
from lsp_ad.semantics.uses import joined_or_added
from lsp_ad.source.parse import span_of
from lsp_ad.source.printing import (
    BACKWARD,
    INDENT,
    NOTHING,
    Printed,
    Printer,
    bare_text,
    expression_text,
    key,
    tidy,
)
from lsp_ad.source.trees import copied

WIDTH = 96


def emit(unit: Unit, swept: Swept, mode: str, seed: str) -> list[Line]:
    """The lines of a derivative in joint motion; `seed` is the policy for it ("within": no parameter)."""
    swept, origin = _returned_at_once(swept)
    lines = [
        head_line(f"def {swept.name}({_signature(unit, swept, seed)}):"),
        head_line(INDENT + docstring(unit, mode)),
    ]
    lines += _seed_needed(unit, swept, seed)
    lines += checks(unit, swept, mode, seed)
    lines += _sweeps(unit, swept, seed)
    lines[2:2] = own_imports(unit, [*lines, head_line(expression_text(swept.returned))])
    texts = _return(tidy(swept.returned))
    texts = [t + remark(t) for t in texts]
    return lines + [Line(t, origin, "backward") if origin else head_line(t) for t in texts]


def _return(value: gast.expr) -> list[str]:
    """`return value`, with the items of a dict in lines of their own where one line would be long."""
    text = f"{INDENT}return {bare_text(value)}"
    inner = value.args[0] if isinstance(value, gast.Call) and value.args else None
    if len(text) <= WIDTH or not isinstance(inner, gast.Dict):
        return [text]
    items = [
        f"{INDENT * 3}{expression_text(k)}: {expression_text(v)},"
        for k, v in zip(inner.keys, inner.values, strict=True)
    ]
    rest = "".join(f"{INDENT * 2}{expression_text(a)},\n" for a in value.args[1:]).splitlines()
    function = expression_text(value.func)
    return [f"{INDENT}return {function}(", f"{INDENT * 2}{{", *items, f"{INDENT * 2}}},", *rest, f"{INDENT})"]


def _returned_at_once(swept: Swept) -> tuple[Swept, Span | None]:
    """`dw = e; return dw` as `return e`, with the origin of the assignment."""
    last = swept.backward[-1] if swept.backward else None
    if (
        isinstance(last, gast.Assign)
        and isinstance(last.targets[0], gast.Name)
        and isinstance(swept.returned, gast.Name)
        and last.targets[0].id == swept.returned.id
    ):
        origin = span_of(last) if hasattr(last, "lineno") else None
        return replace(swept, backward=swept.backward[:-1], returned=last.value), origin
    return swept, None


def shown_arguments(unit: Unit) -> gast.arguments:
    """The parameters; without annotations where these are in other names or not the user's."""
    program, title = unit.program, unit.original.name
    arguments = copied(unit.original.args)
    first = [*arguments.posonlyargs, *arguments.args][:1]
    if unit.apart.title:
        for p in first:
            of = unit.apart.classes.get(p.id)
            p.annotation = p.annotation or (of and gast.Name(of.name, gast.Load(), None, None))
    elif title in program.links.functions or (title in program.made and not program.bindings(title)):
        for node in gast.walk(arguments):
            if isinstance(node, gast.Name):
                node.annotation = None
    return arguments


def emit_tangent(
    unit: Unit, swept: Swept, of_callee: bool = False, product: Product | None = None
) -> list[Line]:
    """The lines of a derivative in forward mode: that of the function that was asked for, or of a callee.

    A Hessian-vector product has the checks of the gradient in its body.
    """
    tangents = list(swept.tangents.values())
    mode = "jvp" if product is None else "hvp"
    args = shown_arguments(unit)
    args.args += [gast.Name(t, gast.Param(), None, None) for t in tangents]
    optional = bool(args.defaults) and not of_callee
    args.defaults = [*args.defaults, *(gast.Constant(None, None) for _ in tangents)] if optional else []
    if of_callee:  # whose calls give every argument
        args.kw_defaults = [None for _ in args.kw_defaults]
    lines = [
        head_line(f"def {swept.name}({expression_text(args)}):"),
        head_line(INDENT + docstring(unit, mode)),
        *([] if product else checks(unit, swept, "pair" if of_callee else mode)),
    ]
    if optional:
        missing = [f"{t} is None" for t in tangents]
        lines += condition(missing, f'TypeError("{swept.name} needs {listed(tangents)}")')
    if not of_callee:
        lines += _tangent_checks(unit, swept)
    printed = printer_of_unit(unit).block(swept.forward, 1) if swept.forward else []
    lines += [
        Line(p.text + remark(p.text), p.origin, "tangent" if id(p.statement) in swept.derived else "forward")
        for p in printed
    ]
    lines.append(head_line(f"{INDENT}return {bare_text(swept.returned)}"))
    return [*lines[:2], *own_imports(unit, lines), *lines[2:]]


def _tangent_checks(unit: Unit, swept: Swept) -> list[Line]:
    """Each tangent has the shape of its parameter; those of lists and of what is surely a number are not
    looked at."""
    kinds, split = unit.kinds.names, {path.parameter for path in unit.paths.values()}
    checked = [
        p
        for p in swept.tangents
        if p not in split and kinds[p].type in ("numeric", "array") and kinds[p].shape != ()
    ]
    if not checked:
        return []
    terms = [f"getattr({swept.tangents[p]}, 'shape', ()) != getattr({p}, 'shape', ())" for p in checked]
    shown = listed([swept.tangents[p] for p in checked])
    of = "the shape" if len(checked) == 1 else "the shapes"
    return condition(terms, f'ValueError("{shown} must have {of} of {listed(checked)}")')


def emit_made(program: Program, made: str) -> list[Line]:
    """The lines of a function that the compiler made (see lift.py)."""
    function, written = program.made[made], program.text_of(made)
    own = gast.get_docstring(function)
    if isinstance(written, gast.Call):  # of a derivative, whose text is ours
        title = own
    else:
        name = f"The function {written.name}" if isinstance(written, gast.FunctionDef) else "A lambda"
        title = f"{name} with all that it uses as parameters."
    return [
        head_line(f"def {made}({expression_text(function.args)}):"),
        *([head_line(f'{INDENT}"""{title}"""')] if title else []),
        *sweep_lines(_printer_of(program, [made]).block(function.body[own is not None :], 1), "forward"),
    ]


def head_line(text: str) -> Line:
    return Line(text, None, "head")


# --- head ------------------------------------------------------------------------------------


def _signature(unit: Unit, swept: Swept, seed: str) -> str:
    """The user's parameters, then the seed, with a default if it need not be given."""
    args = shown_arguments(unit)
    if seed == "within":
        return expression_text(args)
    args.args.append(gast.Name(swept.seed, gast.Param(), None, None))
    if seed == "one" or (seed == "ones" and swept.scalar):
        args.defaults.append(gast.Constant(1.0, None))
    elif args.defaults or seed == "ones":
        args.defaults.append(gast.Constant(None, None))
    return expression_text(args)


def fingerprint(unit: Unit) -> str:
    """A short hash of the primal and of the functions written out in it,
    whatever their layout and comments.
    """
    parts = [key(unit.program.text_of(n)) for n in (unit.original.name, *sorted(unit.inlined))]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:8]


def docstring(unit: Unit, mode: str) -> str:
    stamp = f"Generated by lsp-ad ({fingerprint(unit)})."
    return f'"""{_TITLES[mode]} of {unit.title} with respect to {listed(list(unit.wrt))}. {stamp}"""'


_TITLES = {
    "grad": "Gradient",
    "vjp": "Vector-Jacobian product",
    "value_and_grad": "Value and gradient",
    "jvp": "Value and Jacobian-vector product",
    "hvp": "Hessian-vector product",
    "hessian": "Hessian",
    "jacobian": "Jacobian",
    "split": "Forward half of the gradient",
}


def listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def own_imports(unit: Unit, lines: list[Line]) -> list[Line]:
    """What the function imports itself, as far as the lines use it."""
    found = []
    words = {w for line in lines for w in re.findall(r"\w+", line.text)} if unit.scope.imports else set()
    for s in unit.original.body:
        if isinstance(s, (gast.Import, gast.ImportFrom)) and set(imported(s)) <= set(unit.scope.imports):
            used = [a for a in s.names if (a.asname or a.name.split(".")[0]) in words]
            if used:
                s = gast.copy_location(type(s)(**{**dict(gast.iter_fields(s)), "names": used}), s)
                found.append(Line(INDENT + expression_text(s), span_of(s), "head"))
    return found


def checks(unit: Unit, swept: Swept, mode: str, seed: str = "") -> list[Line]:
    """What the code relies on and the caller might not know: declared shapes, and the form of a seed.

    A seed that is 1.0 by default, of a number, is looked at only where there is a check anyway.
    """
    lines: list[Line] = []
    terms, expected = _shape_terms(unit)
    if unit.apart.relied:
        wrong = [f"type({expression_text(p.expression())}) is not {c}" for p, c in unit.apart.relied.items()]
        classes = listed(sorted(set(unit.apart.relied.values())))
        message = f"{_function(unit, swept, mode)} is made for objects of {classes}"
        lines += condition(wrong, f'TypeError("{message}")')
    if unsure := joined_or_added(unit.original, unit.unknown):
        message = f"{_function(unit, swept, mode)} expects arrays or numbers, no lists, as {listed(unsure)}"
        lines += condition([f"isinstance({p}, (list, tuple))" for p in unsure], f'TypeError("{message}")')
    if unit.real:
        terms += [_complex_term(p, unit) for p in unit.real]
        shown = [_place(p, unit).replace('"', "'") for p in unit.real]
        expected = ", ".join([expected] * bool(expected) + [f"real {', '.join(shown)}"])
    if seed not in ("", "within") and swept.scalar and (terms or seed == "required"):
        terms.append(f"getattr({swept.seed}, 'shape', ()) != ()")
        expected += f"{', ' if expected else ''}{swept.seed} a number"
    if terms:
        lines += condition(terms, f'ValueError("{_function(unit, swept, mode)} expects {expected}")')
    return lines


def _seed_needed(unit: Unit, swept: Swept, seed: str) -> list[Line]:
    """A seed that has to be given, after parameters that have not."""
    if seed != "required" or not unit.original.args.defaults:
        return []
    return condition([f"{swept.seed} is None"], f'TypeError("{swept.name} needs the seed {swept.seed}")')


def _function(unit: Unit, swept: Swept, mode: str) -> str:
    return unit.original.name if mode == "pair" else swept.name


def condition(terms: list[str], error: str) -> list[Line]:
    """`if a or b: raise ...`, broken into lines where it is long."""
    rows, row = [], ""
    for number, term in enumerate(terms):
        piece = term if number == 0 else f"or {term}"
        if row and len(row) + len(piece) > WIDTH - 12:
            rows.append(row)
            row = piece
        else:
            row = f"{row} {piece}".strip()
    rows.append(row)
    if len(rows) == 1:
        lines = [f"if {rows[0]}:"]
    else:
        lines = [f"if ({rows[0]}", *(f"        {r}" for r in rows[1:])]
        lines[-1] += "):"
    return [head_line(INDENT + t) for t in [*lines, f"    raise {error}"]]


def _shape_terms(unit: Unit) -> tuple[list[str], str]:
    """Conditions under which a declared shape is not that of the argument; the shapes in words."""
    declared = unit.declared
    np = _numpy_name(unit) or "np"
    known: dict[str, str] = {}
    terms = []
    for p, dims in sorted(declared.items(), key=lambda item: -len(item[1])):
        if not dims:
            # np.ndim of a Python float costs as much as ten multiplications
            terms.append(f"getattr({p}, 'ndim', 0) != 0")
            continue
        if all(isinstance(d, int) or d in known for d in dims):
            shape = ", ".join(str(d) if isinstance(d, int) else known[d] for d in dims)
            terms.append(f"{np}.shape({p}) != ({shape}{',' if len(dims) == 1 else ''})")
            continue
        terms.append(f"{np}.ndim({p}) != {len(dims)}")
        for axis, d in enumerate(dims):
            if isinstance(d, int) or d in known:
                terms.append(f"{p}.shape[{axis}] != {d if isinstance(d, int) else known[d]}")
            else:
                known[d] = f"{p}.shape[{axis}]"
    words = [
        f"{p} ({', '.join(map(str, d))}{',' if len(d) == 1 else ''})" if d else f"{p} a number"
        for p, d in declared.items()
    ]
    return terms, ", ".join(words)


def _complex_term(p: str, unit: Unit) -> str:
    """The condition under which an argument is complex."""
    place = _place(p, unit)
    if unit.kinds.names[p].shape == ():
        return f"isinstance({place}, complex)"
    test = "holds_complex" if p in unit.real_inside else f"{_numpy_name(unit) or 'np'}.iscomplexobj"
    return f"{test}({place})"


def _place(p: str, unit: Unit) -> str:
    """A parameter, or an item of a dictionary parameter, as an expression."""
    return expression_text(unit.paths[p].expression()) if p in unit.paths else p


def _numpy_name(unit: Unit) -> str | None:
    return unit.scope.alias_of("numpy")


# --- sweeps ----------------------------------------------------------------------------------


def printer_of_unit(unit: Unit) -> Printer:
    functions = [unit.original.name, *sorted(unit.inlined)]
    return _printer_of(unit.program, functions, rebound(unit), loop_options.comments(unit.loop_options))


def _printer_of(
    program: Program,
    functions: list[str],
    rebound: Set[Span] = frozenset(),
    beside: Mapping[Span, tuple[str, str]] = NOTHING,
) -> Printer:
    """A printer that keeps the user's lines of some functions."""
    written = [program.text_of(n) for n in functions]
    own = [s for f in written if isinstance(f, gast.FunctionDef) for s in flow.statements(f.body)]
    return Printer(program.parsed, own, rebound, beside)


def bare_printer(unit: Unit, apart: bool = False) -> Printer:
    return Printer(unit.program.parsed, [], beside=loop_options.comments(unit.loop_options, apart))


def _sweeps(unit: Unit, swept: Swept, seed: str) -> list[Line]:
    lines = sweep_lines(printer_of_unit(unit).block(swept.forward, 1) if swept.forward else [], "forward")
    lines.append(head_line(INDENT + BACKWARD))
    if swept.start:
        lines += sweep_lines(bare_printer(unit).block(list(swept.start), 1), "backward")
    lines += seed_checked(unit, swept, seed)
    return lines + sweep_lines(
        bare_printer(unit).block(swept.backward, 1) if swept.backward else [], "backward"
    )


def seed_checked(unit: Unit, swept: Swept, seed: str) -> list[Line]:
    """The seed has the form of the result."""
    result = f"the result of {unit.title}"
    if swept.checked is None:
        return []
    if seed == "within":
        test = f"getattr({swept.checked}, 'shape', ()) != ()"
        return condition([test], f'ValueError("{result} must be a number")')
    if swept.structured:
        error = f'ValueError("{swept.seed} must have the form of {result}")'
        return condition([f"not same_form({swept.seed}, {swept.checked})"], error)
    test = f"getattr({swept.seed}, 'shape', ()) != getattr({swept.checked}, 'shape', ())"
    return condition([test], f'ValueError("{swept.seed} must have the shape of {result}")')


def sweep_lines(printed: list[Printed], sweep: str) -> list[Line]:
    return [Line(p.text + remark(p.text), p.origin, sweep) for p in printed]
