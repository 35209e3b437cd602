"""An edit costs the function that was edited, and no answer is older than what it depends on."""

from __future__ import annotations

import pytest
from server_markers import URI, snapshot, source

import lsp_ad.server.analysis
from lsp_ad.server.analysis import Analysis
from lsp_ad.server.memo import Memo
from lsp_ad.source.document import Document

FILE = source("""
    import numpy as np

    SCALE = 2.0


    def square(x):
        return x * x


    def loss(w, x):
        r = square(w * x)  # squared
        return np.sum(r) * SCALE


    def other(x):
        y = np.exp(x)
        return np.sum(y)


    def refused(x):
        return eval("x")
""")
FUNCTIONS = ("square", "loss", "other", "refused")


@pytest.fixture
def computed(monkeypatch):
    """The functions that the compiler was asked about."""
    names: list[str] = []
    real = lsp_ad.server.analysis.differentiate

    def counted(program, name, *rest):
        names.append(name)
        return real(program, name, *rest)

    monkeypatch.setattr(lsp_ad.server.analysis, "differentiate", counted)
    return names


def answers(analysis):
    return {name: analysis.derivative(name) for name in FUNCTIONS if name in analysis.program.functions}


def edited(computed, *pairs: tuple[str, str]) -> list[str]:
    """What an edit makes the compiler do again. Every answer is that of a fresh analysis all the same."""
    before = snapshot(FILE)
    answers(before.analysis)
    text = FILE
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    computed.clear()
    after = before.successor(Document(text, URI, 2))
    got, again = answers(after.analysis), list(computed)
    assert got == answers(Analysis(Document(text, URI, 2), Memo()))
    return again


def test_an_edit_of_one_function(computed):
    assert edited(computed, ("np.exp(x)", "np.sin(x)")) == ["other"]


def test_an_edit_of_a_callee_costs_its_callers(computed):
    assert edited(computed, ("x * x\n", "x * x * x\n")) == ["square", "loss"]


def test_an_edit_between_functions_costs_nothing(computed):
    assert edited(computed, ("\n\n\ndef loss", "\n\n# a comment\n\n\ndef loss")) == []


def test_functions_that_moved_are_not_done_again_and_their_lines_are_right(computed):
    assert edited(computed, ("import numpy as np\n", "import numpy as np\n\n\n")) == []


@pytest.mark.parametrize(
    "pair",
    [
        ("SCALE = 2.0", "SCALE = 3.0"),
        ("import numpy as np", "import numpy as np, math"),
        ("def other(", "def another("),
        ("y = np.exp(x)", "global SCALE\n    y = np.exp(x)"),
        ("import numpy as np", "from numpy import *\nimport numpy as np"),
    ],
    ids=["constant", "import", "name of a function", "global", "star import"],
)
def test_what_all_may_depend_on_costs_all(computed, pair):
    assert set(edited(computed, pair)) >= {"square", "loss", "refused"}


def test_names_that_python_takes_for_the_same_are_not_mistaken(computed):
    assert len(edited(computed, ("square(w * x)", "ſquare(w * x)"))) == 4


def test_the_oldest_answers_are_dropped(computed):
    memo = Memo(most=1)
    answers(Analysis(Document(FILE), memo))
    computed.clear()
    answers(Analysis(Document(FILE), memo))
    assert computed == list(FUNCTIONS)
