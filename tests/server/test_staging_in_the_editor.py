"""Staging in the editor: quick fixes for what the checks find, hints, and hover on constructs."""

from __future__ import annotations

import pytest
from lsprotocol import types
from server_markers import URI, applied, client, cursor, cut, snapshot

from lsp_ad.problems import Span
from lsp_ad.server.diagnostics import diagnostics
from lsp_ad.server.hover import hover
from lsp_ad.server.quick_fixes import quick_fixes, wants

pytestmark = pytest.mark.row("A13", "A14")

JITTED = """
    import jax
    import jax.numpy as jnp

    @jax.jit
    def f(x):
        if jnp.sum(x) >$0 0:
            x = x * 2
            x = x + 1
        y = max(x.sum(), 0.0)
        for i in range(3):
            y = y + i
        return y
"""


def fixes(marked: str, only=None, **abilities) -> tuple[str, list[types.CodeAction]]:
    text, at = cursor(marked)
    here = Span(at.line + 1, at.character, at.line + 1, at.character)
    return text, quick_fixes(snapshot(text), here, only, client(**abilities))


def moved(place: str) -> str:
    return JITTED.replace("$0", "").replace(place.replace("$0", ""), place)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_a_fix_changes_the_text(encoding):
    marked = moved("y = m$0ax(x.sum(), 0.0)").replace("import jax\n", "import jax  # 𝒳 — é\n")
    text, (action,) = fixes(marked, encoding=encoding)
    assert action.title == "Write `jnp.maximum(x.sum(), 0.0)`"
    assert action.kind == types.CodeActionKind.QuickFix and action.is_preferred
    assert [d.code for d in action.diagnostics] == ["STG203"]
    assert "y = jnp.maximum(x.sum(), 0.0)" in applied(text, action.edit, encoding)


def test_a_fix_of_several_places():
    text, (action,) = fixes(JITTED)
    assert action.title == "Let lsp_ad.staged convert the function" and not action.is_preferred
    after = applied(text, action.edit, "utf-32")
    assert after.startswith("import lsp_ad\nimport jax\n") and "@jax.jit\n@lsp_ad.staged\ndef f" in after


def test_a_fix_keeps_the_line_ends():
    text, at = cursor(JITTED)
    text = text.replace("\n", "\r\n")
    here = Span(at.line + 1, at.character, at.line + 1, at.character)
    (action,) = quick_fixes(snapshot(text), here, None, client())
    assert "\r\n@lsp_ad.staged\r\n" in applied(text, action.edit, "utf-32")


def test_changes_without_versions():
    _, (action,) = fixes(JITTED, document_changes=False)
    assert list(action.edit.changes) == [URI]


def test_none_away_from_a_finding_or_where_other_kinds_are_asked_for():
    assert fixes(moved("return$0 y"))[1] == []
    assert fixes(JITTED, only=["refactor"])[1] == []
    assert fixes(JITTED, only=["quickfix"])[1] and fixes(JITTED, action_literals=False)[1] == []
    assert wants(None) and wants([""]) and not wants(["source"])


def test_none_in_a_text_that_does_not_parse():
    assert fixes("import jax\n@jax.jit\ndef f(x):\n    if x > 0$0:\n")[1] == []


FLAGS = [
    (
        "@tf.function\ndef f(x, training=False):\n    if train$0ing:\n        x = -x\n    return x\n",
        "def f(x, training: bool = False):",
    ),
    (
        "@jax.jit\ndef f(x, training=False):\n    if train$0ing:\n        x = -x\n    return x\n",
        '@jax.jit(static_argnames="training")\n',
    ),
    (
        "def f(x, n: int):\n    return x if n$0 else -x\n\ng = jax.jit(f)\n",
        'g = jax.jit(f, static_argnames="n")\n',
    ),
]


@pytest.mark.parametrize(("marked", "expected"), FLAGS)
def test_a_flag_that_is_meant(marked, expected):
    text, (action,) = fixes(f"import jax\nimport tensorflow as tf\n\n{marked}")
    after = applied(text, action.edit, "utf-32")
    assert expected in after
    changed = after.index(expected)
    assert [a.title for a in fixes(after[:changed] + "$0" + after[changed:])[1]] == []


def test_a_hint_is_a_hint():
    text, _ = cursor(JITTED)
    found = [d for d in diagnostics(snapshot(text), client()) if d.code == "STG104"]
    assert [d.severity for d in found] == [types.DiagnosticSeverity.Hint]


STAGED = """
    import lsp_ad

    @lsp_ad.staged(backend="jax")
    def f(x, n: int):
        for i in range(5):
            if x > i and n:
                x = x * 2
        while x < 10.0:
            x = x + 1
        return x if n else -x

    class Model:
        @lsp_ad.staged
        def call(self, x):
            return x if x > 0.0 else -x
"""


def shown(place: str) -> tuple[str, str]:
    text, at = cursor(STAGED.replace(place.replace("$0", ""), place, 1))
    found = hover(snapshot(text), at, client())
    return (found.contents.value.split("\n")[0], cut(text, found.range, "utf-32")) if found else ("", "")


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("f$0or i in range(5)", "`for`: unrolled 5 times under lsp_ad.staged."),
        ("i$0f x > i and n", "`if`: staged under lsp_ad.staged."),
        ("x > i a$0nd n", "`and`: staged under lsp_ad.staged."),
        ("whi$0le x < 10.0", "`while`: staged under lsp_ad.staged."),
        ("x i$0f n else -x", "`conditional expression`: decided in Python under lsp_ad.staged."),
        ("x i$0f x > 0.0 else -x", "`conditional expression`: staged under lsp_ad.staged."),
    ],
)
def test_hover_says_what_is_staged(place, expected):
    assert shown(place)[0] == expected


def test_no_hover_on_staging_where_nothing_is_staged():
    text, at = cursor("def f(x):\n    i$0f x > 0:\n        x = -x\n    return x\n")
    found = hover(snapshot(text), at, client())
    assert found is None or "staged" not in found.contents.value
