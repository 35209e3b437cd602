"""Split motion as text: a forward function that returns what a backward function needs."""

from __future__ import annotations

import gast

from lsp_ad.differentiate.derivative import Line
from lsp_ad.differentiate.output.emit import (
    bare_printer,
    checks,
    condition,
    docstring,
    head_line,
    listed,
    own_imports,
    printer_of_unit,
    seed_checked,
    shown_arguments,
    sweep_lines,
)
from lsp_ad.differentiate.reverse.calls import Pair
from lsp_ad.differentiate.reverse.sweep import Swept
from lsp_ad.differentiate.unit import Unit
from lsp_ad.semantics import flow
from lsp_ad.source.printing import INDENT, bare_text, expression_text


def emit_pair(unit: Unit, swept: Swept, pair: Pair, asked: bool = False, again: bool = False) -> list[Line]:
    """The lines of a function in split motion: its forward function, and its backward function.

    `asked`: the user asked for them, and may call the second with any seed. `again`: the second may be called
    more than once, and would change what the first has saved.
    """
    value, gradients = swept.returned.elts
    saved = _saved(swept, gradients)
    value_of = f"The value of {unit.original.name}, and what {pair.backward} needs."
    entry = _tuple(saved)
    forward = [
        head_line(f"def {pair.forward}({expression_text(shown_arguments(unit))}):"),
        head_line(INDENT + (docstring(unit, "split") if asked else f'"""{value_of}"""')),
    ]
    forward += checks(unit, swept, "split" if asked else "pair")
    printer = printer_of_unit(unit)
    forward += sweep_lines(printer.block(swept.forward, 1) if swept.forward else [], "forward")
    forward.append(head_line(f"{INDENT}return {expression_text(value)}, {entry}"))
    forward[2:2] = own_imports(unit, forward)
    names = listed(list(pair.wrt))
    adjoint = "Gradient" if asked else "Adjoint"
    backward = [
        head_line(f"def {pair.backward}(saved, {swept.seed}):"),
        head_line(f'{INDENT}"""{adjoint} of {names} in {unit.title}, from what {pair.forward} saved."""'),
    ]
    if again:
        backward.append(head_line(f"{INDENT}saved = own_copy(saved)"))
    if saved:
        backward.append(head_line(f"{INDENT}{', '.join(saved)} = saved"))
    if asked:
        backward += _number_needed(swept) if swept.scalar else seed_checked(unit, swept, "required")
    printer = bare_printer(unit, apart=True)
    backward += sweep_lines(printer.block(swept.backward, 1) if swept.backward else [], "backward")
    backward.append(head_line(f"{INDENT}return {bare_text(gradients)}"))
    backward[2:2] = own_imports(unit, backward)
    return [*forward, head_line(""), head_line(""), *backward]


def _saved(swept: Swept, gradients: gast.expr) -> list[str]:
    """The names that the backward function reads before it binds them."""
    body = [*swept.backward, gast.Return(gradients)]
    live = flow.live_before(flow.Flow.of(body))[0] - {swept.seed}
    if swept.checked is not None:
        live = live | flow.reads(gast.parse(swept.checked))
    return sorted(live & (flow.writes(swept.forward) | swept.parameters))


def _number_needed(swept: Swept) -> list[Line]:
    error = f'ValueError("{swept.seed} must be a number")'
    return condition([f"getattr({swept.seed}, 'shape', ()) != ()"], error)


def _tuple(names: list[str]) -> str:
    if not names:
        return "None"
    return names[0] if len(names) == 1 else f"({', '.join(names)})"
