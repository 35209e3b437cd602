"""A rule as a person reads it."""

from __future__ import annotations

import re

import gast

from lsp_ad.rules.declared import ARGUMENT, MODULE, NAME
from lsp_ad.rules.rule import Adjoint, Rule, Unsupported
from lsp_ad.semantics.shapes import COMPLEX, FLOAT, Kind

# What the arguments are taken to be: anything, or where that has a plainer formula, matrices or numbers; or
# complex numbers, where there is a formula for these only.
_READINGS = (Kind(), Kind("array", "float", ("n", "m")), FLOAT, COMPLEX)
_NOTES = {
    _READINGS[1]: "\n\nFor matrices:",
    FLOAT: "\n\nFor numbers:",
    COMPLEX: "\n\nFor complex numbers:",
}
_HELPER = re.compile(r"\w+_adjoint|unbroadcast")


def describe(rule: Rule) -> str:
    """Markdown: the call, and the adjoint that it adds to each argument.

    >>> from lsp_ad.rules import RULES
    >>> print(describe(RULES["numpy.cos"]))
    `y = numpy.cos(x)`
    <BLANKLINE>
    - `dx -= dy * np.sin(x)`
    """
    call = f"`y = {_call(rule)}`"
    if rule.is_zero:
        return f"{call}\n\nNo derivative: the result is constant, a count, a step or a truth value."
    if rule.elementwise is None and rule.adjoints is None:
        piece = "where `dy[i]` is the piece of `dy` that came from `arrays[i]`."
        return f"{call}\n\n- `darrays[i] += dy[i]`\n\n{piece}"
    texts, reading = _texts(rule)
    lines: list[str] = []
    for name, text in texts.items():
        *before, value = _plain(text).split("\n")
        lines += [line for line in before if line not in lines]
        lines.append(_addition(name, value))
    note = _NOTES.get(reading, "")
    return f"{call}{note}\n\n" + "\n".join(f"- `{line}`" for line in lines)


def _plain(text: str) -> str:
    """The text of a declared rule without the marks of what its names stand for."""
    text = re.sub(rf"\b{MODULE}(\w+)", lambda m: m[1].replace("__", "."), text)
    return re.sub(rf"\b(?:{ARGUMENT}|{NAME})", "", text)


def _call(rule: Rule) -> str:
    if rule.name in ("u-", "u+"):
        return rule.name[1] + "x"
    if not rule.name[0].isalpha():
        return f"x1 {rule.name} x2"
    shown = [p if p not in rule.defaults else f"{p}={rule.defaults[p]!r}" for p in rule.parameters]
    return f"{rule.name}({', '.join(shown)})"


def _texts(rule: Rule) -> tuple[dict[str, str], Kind]:
    """The expression of each adjoint, and what the arguments are taken to be for it."""
    if rule.elementwise is not None:
        return rule.elementwise, _READINGS[0]
    shown = [p for p in rule.parameters if p not in rule.defaults or p in rule.differentiable]
    given = [gast.keyword(p, gast.Name(p, gast.Load(), None, None)) for p in shown]
    found = []
    for reading in _READINGS:
        try:
            texts = {p: a.text for p, a in _adjoints(rule, given, reading).items()}
        except Unsupported:
            continue
        if not any(_HELPER.search(text) for text in texts.values()):
            return texts, reading
        found.append((texts, reading))
    # what needs an option has no formula without it
    return found[0] if found else (dict.fromkeys(rule.differentiable, "..."), _READINGS[0])


def _addition(name: str, value: str) -> str:
    """`dx += e`, and `dx -= e` for a product with a minus sign."""
    top = gast.parse(value).body[0].value
    is_sum = isinstance(top, gast.BinOp) and isinstance(top.op, (gast.Add, gast.Sub))
    if value.startswith("-") and not is_sum:
        value = value[1:]
        enclosed = value.startswith("(") and value.endswith(")") and value.count("(") == 1
        return f"d{name} -= {value[1:-1] if enclosed else value}"
    return f"d{name} += {value}"


def _adjoints(rule: Rule, given: list[gast.keyword], reading: Kind) -> dict[str, Adjoint]:
    assert rule.adjoints is not None
    return rule.adjoints(rule.bind([], given, lambda node: reading))
