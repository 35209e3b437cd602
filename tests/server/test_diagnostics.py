"""Diagnostics: where they stand, and which functions get any."""

from __future__ import annotations

import pytest
from lsprotocol import types
from server_markers import URI, client, expectations, snapshot

from lsp_ad.server.diagnostics import diagnostics


def check(marked: str, asked=()) -> list[types.Diagnostic]:
    """Compare the diagnostics of a source, one for one, with the underlined ones."""
    text, expected = expectations(marked)
    found = diagnostics(snapshot(text), client(), asked)
    places = [(d.range.start.line, d.range.start.character, d.range.end.character, d.code) for d in found]
    assert places == [(e.line, e.start, e.end, e.code) for e in expected]
    for diagnostic, e in zip(found, expected, strict=True):
        assert e.message in diagnostic.message
        assert diagnostic.source == "lsp-ad"
    return found


def test_a_syntax_error():
    check("""
        def f(x):
            return (x +
                   ^^^^ SRC001 never closed
    """)


def test_a_function_that_nobody_wants_to_differentiate_has_none():
    check("""
        def f(x):
            return eval("x")
    """)


WANTED = {
    "generated": "def f_grad(x, df=1.0):\n    return df",
    "generated value_and_grad": "def f_value_and_grad(x, df=1.0):\n    return f(x), df",
    "generated vjp": "def f_vjp(x, df):\n    return df",
    "call": "import lsp_ad\n\ng = lsp_ad.grad(f)",
    "call with wrt": "import lsp_ad\n\ng = lsp_ad.vjp(f, 'x')",
    "renamed": "from lsp_ad import value_and_grad as vg\n\ng = vg(f, wrt=0)",
    "in a function": "import lsp_ad\n\ndef train(steps: int):\n    return lsp_ad.grad(f)",
}


@pytest.mark.parametrize("wanted", WANTED.values(), ids=WANTED.keys())
def test_a_wanted_function_has_its_refusals(wanted):
    text, expected = expectations("""
        def f(x):
            return eval("x")
                   ^^^^^^^^^ AD105 eval
    """)
    (found,) = diagnostics(snapshot(f"{text}\n\n{wanted}\n"), client())
    assert found.code == expected[0].code and found.severity == types.DiagnosticSeverity.Error
    assert found.range == types.Range(types.Position(1, 11), types.Position(1, 20))
    assert "Write the expression out." in found.message, "the way out is part of the message"


def test_a_decorated_function_is_wanted():
    check("""
        import lsp_ad

        @lsp_ad.grad
        def f(x):
            return eval("x")
                   ^^^^^^^^^ AD105 eval
    """)


def test_a_function_that_the_user_asked_for_is_wanted():
    marked = """
        def f(x):
            return eval("x")
                   ^^^^^^^^^ AD105 eval
    """
    check(marked, asked=["f"])


def test_a_name_of_the_same_spelling_is_not():
    check("""
        import lsp_ad

        def f(x):
            return eval("x")

        def run(f):
            return lsp_ad.grad(f)
    """)


def test_a_function_that_can_be_differentiated_has_none():
    check("""
        import lsp_ad
        import numpy as np

        def f(x):
            return np.sum(x * x)

        g = lsp_ad.grad(f)
    """)


def test_the_staging_lint_is_here():
    found = check("""
        import jax

        @jax.jit
        def f(x, training: bool):
            if training:
               ^^^^^^^^ STG102
                x = x * 2
            return x
    """)
    assert found[0].severity == types.DiagnosticSeverity.Information


def test_related_places_are_in_the_document():
    text = "def g(x):\n    return eval('x')\n\ndef f(x):\n    return g(x)\n"
    for found in diagnostics(snapshot(text), client(), ["f"]):
        for place in found.related_information or ():
            assert place.location.uri == URI


@pytest.mark.parametrize(
    "text", ["def f(x):", "(", "\n\n(\n", "x = '", "if x:\n", "é = 'é" + "\u2028", "\x00"]
)
def test_ranges_are_never_empty(text):
    (found,) = diagnostics(snapshot(text), client())
    assert (found.range.start.line, found.range.start.character) < (
        found.range.end.line,
        found.range.end.character,
    )
