"""Control flow and the questions asked of it, on programs that are read as pictures."""

from __future__ import annotations

import gast
import pytest

from lsp_ad.semantics import flow
from lsp_ad.semantics.binding import definitely_bound
from lsp_ad.semantics.reaching import reaching_definitions
from tests.differentiate.running import statements

LIVE = {
    "straight": ("y = x\nreturn_(y)", {"x", "return_"}),
    "assigned before it is read": ("x = 1\nprint(x)", {"print"}),
    "read in one branch": ("if c:\n    print(x)", {"c", "x", "print"}),
    "assigned in one branch": ("if c:\n    x = 1\nprint(x)", {"c", "x", "print"}),
    "assigned in both": ("if c:\n    x = 1\nelse:\n    x = 2\nprint(x)", {"c", "print"}),
    "assigned in a loop that may not run": ("for i in c:\n    x = i\nprint(x)", {"c", "x", "print"}),
    "assigned before it is read in a loop": ("for i in c:\n    x = i\n    print(x)", {"c", "print"}),
    "read in the next iteration": ("for i in c:\n    print(x)\n    x = i", {"c", "x", "print"}),
    "read behind a break": (
        "while c:\n    if d:\n        break\n    x = 1\nprint(x)",
        {"c", "d", "x", "print"},
    ),
    "after an endless loop that always assigns": (
        "while True:\n    x = 1\n    if c:\n        break\nprint(x)",
        {"c", "print"},
    ),
    "augmented": ("x += 1", {"x"}),
    "an element is written": ("x[i] = y", {"x", "i", "y"}),
}


@pytest.mark.parametrize(("text", "names"), LIVE.values(), ids=LIVE)
def test_what_is_read_before_it_is_assigned(text, names):
    """Alive on entry, when all that is assigned is forgotten at the end."""
    live = flow.live_before(flow.Flow.of(statements(text)))
    assert live[0] == names


def test_reaching_definitions_of_a_name_after_a_branch():
    body = statements("x = 1\nif c:\n    x = 2\nprint(x)")
    graph = flow.Flow.of(body)
    found = reaching_definitions(graph, ["x"])
    points = {
        graph.points[found.sites[i][1]].statement for i in found.reaching(graph.index[id(body[2])], "x")
    }
    assert points == {body[0], body[1].body[0]}


@pytest.mark.parametrize(
    ("text", "sure"),
    [
        ("x = 1", {"x"}),
        ("if c:\n    x = 1", set()),
        ("if c:\n    x = 1\nelse:\n    x = y = 2", {"x"}),
        ("for i in c:\n    x = 1", set()),
    ],
)
def test_what_is_bound_on_every_path(text, sure):
    assert definitely_bound(statements(text), set()) == sure


def test_writes_go_into_blocks():
    body = statements("for i in c:\n    if d:\n        x, (y, z) = i\n    else:\n        w += 1")
    assert flow.writes(body) == {"i", "x", "y", "z", "w"}


def test_statements_come_in_the_order_of_the_text():
    body = statements("a = 1\nfor i in a:\n    b = i\n    if b:\n        c = b\nd = 1")
    names = [next(iter(flow.stored(s))) for s in flow.statements(body) if isinstance(s, gast.Assign)]
    assert names == ["a", "b", "c", "d"]
