"""Generated functions as text: signature, docstring, checks on entry, the two sweeps, the result."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Set
from dataclasses import replace

import gast

from lsp_ad.differentiate.calls import Pair
from lsp_ad.differentiate.derivative import Line
from lsp_ad.differentiate.nested import may_be_lists
from lsp_ad.differentiate.remarks import remark
from lsp_ad.differentiate.sweep import Swept
from lsp_ad.differentiate.unit import Unit
from lsp_ad.differentiate.updates import rebound
from lsp_ad.problems import Span
from lsp_ad.semantics import flow
from lsp_ad.semantics.names import Program, imported
from lsp_ad.semantics.uses import joined_or_added
from lsp_ad.source.parse import span_of
from lsp_ad.source.printing import BACKWARD, INDENT, Printed, Printer, bare_text, expression_text, key, tidy
from lsp_ad.source.trees import copied

WIDTH = 96


def emit(unit: Unit, swept: Swept, mode: str, seed: str) -> list[Line]:
    """The lines of a derivative in joint motion; `seed` is the policy for it."""
    swept, origin = _returned_at_once(swept)
    lines = [
        _head(f"def {swept.name}({_signature(unit, swept, seed)}):"),
        _head(INDENT + _docstring(unit, mode)),
    ]
    lines += _seed_needed(unit, swept, seed)
    lines += _checks(unit, swept, mode, seed)
    lines += _sweeps(unit, swept)
    lines[2:2] = _imports(unit, [*lines, _head(expression_text(swept.returned))])
    texts = _return(tidy(swept.returned))
    texts = [t + remark(t) for t in texts]
    return lines + [Line(t, origin, "backward") if origin else _head(t) for t in texts]


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


def emit_pair(unit: Unit, swept: Swept, pair: Pair) -> list[Line]:
    """The lines of a callee in split motion: its forward function, and its backward function."""
    value, gradients = swept.returned.elts
    saved = _saved(swept, gradients)
    entry = _tuple(saved)
    forward = [
        _head(f"def {pair.forward}({expression_text(_arguments(unit))}):"),
        _head(f'{INDENT}"""The value of {unit.original.name}, and what {pair.backward} needs."""'),
    ]
    forward += _checks(unit, swept, "pair")
    printer = _printer(unit)
    forward += _lines(printer.block(swept.forward, 1) if swept.forward else [], "forward")
    forward.append(_head(f"{INDENT}return {expression_text(value)}, {entry}"))
    forward[2:2] = _imports(unit, forward)
    names = " and ".join(pair.wrt)
    backward = [
        _head(f"def {pair.backward}(saved, {swept.seed}):"),
        _head(f'{INDENT}"""Adjoint of {names} in {unit.original.name}, from what {pair.forward} saved."""'),
    ]
    if saved:
        backward.append(_head(f"{INDENT}{', '.join(saved)} = saved"))
    backward += _lines(_bare_printer(unit).block(swept.backward, 1) if swept.backward else [], "backward")
    backward.append(_head(f"{INDENT}return {bare_text(gradients)}"))
    backward[2:2] = _imports(unit, backward)
    return [*forward, _head(""), _head(""), *backward]


def _arguments(unit: Unit) -> gast.arguments:
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


def emit_tangent(unit: Unit, swept: Swept, of_callee: bool = False) -> list[Line]:
    """The lines of a derivative in forward mode: that of the function that was asked for, or of a callee."""
    tangents = list(swept.tangents.values())
    args = _arguments(unit)
    args.args += [gast.Name(t, gast.Param(), None, None) for t in tangents]
    optional = bool(args.defaults) and not of_callee
    args.defaults = [*args.defaults, *(gast.Constant(None, None) for _ in tangents)] if optional else []
    if of_callee:  # whose calls give every argument
        args.kw_defaults = [None for _ in args.kw_defaults]
    lines = [
        _head(f"def {swept.name}({expression_text(args)}):"),
        _head(INDENT + _docstring(unit, "jvp")),
        *_checks(unit, swept, "pair" if of_callee else "jvp"),
    ]
    if optional:
        missing = [f"{t} is None" for t in tangents]
        lines += _condition(missing, f'TypeError("{swept.name} needs {_listed(tangents)}")')
    if not of_callee:
        lines += _tangent_checks(unit, swept)
    printed = _printer(unit).block(swept.forward, 1) if swept.forward else []
    lines += [
        Line(p.text + remark(p.text), p.origin, "tangent" if id(p.statement) in swept.derived else "forward")
        for p in printed
    ]
    lines.append(_head(f"{INDENT}return {bare_text(swept.returned)}"))
    return [*lines[:2], *_imports(unit, lines), *lines[2:]]


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
    shown = _listed([swept.tangents[p] for p in checked])
    of = "the shape" if len(checked) == 1 else "the shapes"
    return _condition(terms, f'ValueError("{shown} must have {of} of {_listed(checked)}")')


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
        _head(f"def {made}({expression_text(function.args)}):"),
        *([_head(f'{INDENT}"""{title}"""')] if title else []),
        *_lines(_printer_of(program, [made]).block(function.body[own is not None :], 1), "forward"),
    ]


def _saved(swept: Swept, gradients: gast.expr) -> list[str]:
    """The names that the backward function reads before it binds them."""
    body = [*swept.backward, gast.Return(gradients)]
    live = flow.live_before(flow.Flow.of(body))[0] - {swept.seed}
    return sorted(live & (flow.writes(swept.forward) | swept.parameters))


def _tuple(names: list[str]) -> str:
    if not names:
        return "None"
    return names[0] if len(names) == 1 else f"({', '.join(names)})"


def _head(text: str) -> Line:
    return Line(text, None, "head")


# --- head ------------------------------------------------------------------------------------


def _signature(unit: Unit, swept: Swept, seed: str) -> str:
    """The user's parameters, then the seed, with a default if it need not be given."""
    args = _arguments(unit)
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


def _docstring(unit: Unit, mode: str) -> str:
    stamp = f"Generated by lsp-ad ({fingerprint(unit)})."
    return f'"""{_TITLES[mode]} of {unit.title} with respect to {_listed(list(unit.wrt))}. {stamp}"""'


_TITLES = {
    "grad": "Gradient",
    "vjp": "Vector-Jacobian product",
    "value_and_grad": "Value and gradient",
    "jvp": "Value and Jacobian-vector product",
}


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _imports(unit: Unit, lines: list[Line]) -> list[Line]:
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


def _checks(unit: Unit, swept: Swept, mode: str, seed: str = "") -> list[Line]:
    """What the code relies on and the caller might not know: declared shapes, and the form of a seed.

    A seed that is 1.0 by default, of a number, is looked at only where there is a check anyway.
    """
    lines: list[Line] = []
    terms, expected = _shape_terms(unit)
    if unit.apart.relied:
        wrong = [f"type({expression_text(p.expression())}) is not {c}" for p, c in unit.apart.relied.items()]
        classes = _listed(sorted(set(unit.apart.relied.values())))
        message = f"{_function(unit, swept, mode)} is made for objects of {classes}"
        lines += _condition(wrong, f'TypeError("{message}")')
    if unsure := joined_or_added(unit.original, unit.unknown):
        message = f"{_function(unit, swept, mode)} expects arrays or numbers, no lists, as {_listed(unsure)}"
        lines += _condition([f"isinstance({p}, (list, tuple))" for p in unsure], f'TypeError("{message}")')
    if unit.real:
        lists = may_be_lists(unit.tree.body, unit.active, unit.kinds, unit.scope)
        terms += [_complex_term(p, unit, lists) for p in unit.real]
        shown = [_place(p, unit).replace('"', "'") for p in unit.real]
        expected = ", ".join([expected] * bool(expected) + [f"real {', '.join(shown)}"])
    if seed and swept.scalar and (terms or seed == "required"):
        terms.append(f"getattr({swept.seed}, 'shape', ()) != ()")
        expected += f"{', ' if expected else ''}{swept.seed} a number"
    if terms:
        lines += _condition(terms, f'ValueError("{_function(unit, swept, mode)} expects {expected}")')
    return lines


def _seed_needed(unit: Unit, swept: Swept, seed: str) -> list[Line]:
    """A seed that has to be given, after parameters that have not."""
    if seed != "required" or not unit.original.args.defaults:
        return []
    return _condition([f"{swept.seed} is None"], f'TypeError("{swept.name} needs the seed {swept.seed}")')


def _function(unit: Unit, swept: Swept, mode: str) -> str:
    return unit.original.name if mode == "pair" else swept.name


def _condition(terms: list[str], error: str) -> list[Line]:
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
    return [_head(INDENT + t) for t in [*lines, f"    raise {error}"]]


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


def _complex_term(p: str, unit: Unit, lists: set[str]) -> str:
    """The condition under which an argument is complex."""
    place = _place(p, unit)
    if unit.kinds.names[p].shape == ():
        return f"isinstance({place}, complex)"
    test = "holds_complex" if p in lists else f"{_numpy_name(unit) or 'np'}.iscomplexobj"
    return f"{test}({place})"


def _place(p: str, unit: Unit) -> str:
    """A parameter, or an item of a dictionary parameter, as an expression."""
    return expression_text(unit.paths[p].expression()) if p in unit.paths else p


def _numpy_name(unit: Unit) -> str | None:
    return unit.scope.alias_of("numpy")


# --- sweeps ----------------------------------------------------------------------------------


def _printer(unit: Unit) -> Printer:
    return _printer_of(unit.program, [unit.original.name, *sorted(unit.inlined)], rebound(unit))


def _printer_of(program: Program, functions: list[str], rebound: Set[Span] = frozenset()) -> Printer:
    """A printer that keeps the user's lines of some functions."""
    written = [program.text_of(n) for n in functions]
    own = [s for f in written if isinstance(f, gast.FunctionDef) for s in flow.statements(f.body)]
    return Printer(program.parsed, own, rebound)


def _bare_printer(unit: Unit) -> Printer:
    return Printer(unit.program.parsed, [])


def _sweeps(unit: Unit, swept: Swept) -> list[Line]:
    lines = _lines(_printer(unit).block(swept.forward, 1) if swept.forward else [], "forward")
    lines.append(_head(INDENT + BACKWARD))
    if swept.start:
        lines += _lines(_bare_printer(unit).block(list(swept.start), 1), "backward")
    lines += _seed_checked(unit, swept)
    return lines + _lines(_bare_printer(unit).block(swept.backward, 1) if swept.backward else [], "backward")


def _seed_checked(unit: Unit, swept: Swept) -> list[Line]:
    """The seed has the form of the result."""
    result = f"the result of {unit.title}"
    if swept.checked is None:
        return []
    if swept.structured:
        error = f'ValueError("{swept.seed} must have the form of {result}")'
        return _condition([f"not same_form({swept.seed}, {swept.checked})"], error)
    test = f"getattr({swept.seed}, 'shape', ()) != getattr({swept.checked}, 'shape', ())"
    return _condition([test], f'ValueError("{swept.seed} must have the shape of {result}")')


def _lines(printed: list[Printed], sweep: str) -> list[Line]:
    return [Line(p.text + remark(p.text), p.origin, sweep) for p in printed]
