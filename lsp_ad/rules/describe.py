"""A rule as a person reads it."""

from __future__ import annotations

import gast

from lsp_ad.rules.rule import Rule, Unsupported
from lsp_ad.semantics.shapes import Kind


def describe(rule: Rule) -> str:
    """Markdown: the call, and the adjoint that it adds to each argument.

    >>> from lsp_ad.rules import RULES
    >>> print(describe(RULES["numpy.exp"]))
    `y = numpy.exp(x)`
    <BLANKLINE>
    - `dx += dy * y`
    """
    call = f"`y = {_call(rule)}`"
    if rule.is_zero:
        return f"{call}\n\nNo derivative: the result is constant, a count, a step or a truth value."
    return call + "\n\n" + "\n".join(f"- `d{name} += {text}`" for name, text in _lines(rule))


def _call(rule: Rule) -> str:
    if rule.name in ("u-", "u+"):
        return rule.name[1] + "x"
    if not rule.name[0].isalpha():
        return f"x1 {rule.name} x2"
    shown = [p if p not in rule.defaults else f"{p}={rule.defaults[p]!r}" for p in rule.parameters]
    return f"{rule.name}({', '.join(shown)})"


def _lines(rule: Rule) -> list[tuple[str, str]]:
    if rule.elementwise is not None:
        return list(rule.elementwise.items())
    if rule.adjoints is None:
        return [("arrays[i]", "the piece of dy that came from arrays[i]")]
    given = {p: gast.Name(p, gast.Load(), None, None) for p in rule.parameters if p not in rule.defaults}
    try:
        adjoints = rule.adjoints(rule.bind(list(given.values()), [], lambda node: Kind()))
    except Unsupported:
        return []
    return [(name, "; ".join(a.text.splitlines())) for name, a in adjoints.items()]
