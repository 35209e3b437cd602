"""STG109: a test that asks if a traced value is a number or an array of NumPy, which it never is."""

from __future__ import annotations

from collections.abc import Iterator

import gast

from lsp_ad.checks.traces import Trace
from lsp_ad.problems import Problem, problem
from lsp_ad.source.parse import span_of

_NUMBERS = {"builtins.float", "builtins.int", "builtins.bool", "builtins.complex"}
_ARRAYS = {"numpy.ndarray", "numpy.generic", "numpy.number", "numpy.floating", "numpy.integer", "numpy.bool_"}
_ABSTRACT = "numbers."


def type_tests(trace: Trace) -> Iterator[Problem]:
    for node in trace.nodes:
        asked = is_type_trap(trace, node)
        if asked is not None:
            message = (
                f"`{trace.text(asked)}` is traced, so `{trace.text(node)}` is {_outcome(node)}, whatever it "
                "stands for."
            )
            yield problem("STG109", message, span_of(node))


def is_type_trap(trace: Trace, node: gast.AST) -> gast.expr | None:
    """The traced value of which a test asks if it is a number or an array of NumPy, and of no other type."""
    asked, wanted = _asked(trace, node)
    if asked is None or wanted is None or trace.staged.transform == "lsp_ad.staged":
        return None
    wanted = wanted.elts if isinstance(wanted, gast.Tuple) else [wanted]
    names = [trace.canonical(w) for w in wanted]
    plain = all(n in _NUMBERS | _ARRAYS or n.startswith(_ABSTRACT) for n in names)
    return asked if plain and names and trace.is_traced(asked) else None


def _asked(trace: Trace, node: gast.AST) -> tuple[gast.expr | None, gast.expr | None]:
    """What is asked of which value: `isinstance(x, float)`, `type(x) is float`."""
    if isinstance(node, gast.Call):
        two = trace.canonical(node.func) == "builtins.isinstance" and len(node.args) == 2
        return (node.args[0], node.args[1]) if two else (None, None)
    if isinstance(node, gast.Compare) and len(node.ops) == 1 and isinstance(node.left, gast.Call):
        one = trace.canonical(node.left.func) == "builtins.type" and len(node.left.args) == 1
        compared = isinstance(node.ops[0], (gast.Is, gast.IsNot, gast.Eq, gast.NotEq))
        return (node.left.args[0], node.comparators[0]) if one and compared else (None, None)
    return None, None


def _outcome(node: gast.AST) -> str:
    return str(isinstance(node, gast.Compare) and isinstance(node.ops[0], (gast.IsNot, gast.NotEq)))
