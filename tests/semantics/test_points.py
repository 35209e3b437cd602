"""What is known of statements is what is true of them, whenever a pass asks for it."""

from __future__ import annotations

import contextlib
import zlib

import gast
import pytest

from lsp_ad.differentiate.output.display import Display
from lsp_ad.semantics import flow
from lsp_ad.semantics.activity import Carries
from lsp_ad.semantics.changes import changed_by
from lsp_ad.semantics.memory import written_root
from lsp_ad.semantics.names import bound_names
from lsp_ad.semantics.points import Points, point_of
from lsp_ad.source.trees import walk
from tests import oracle
from tests.differentiate.programs import everything, in_place, structures, tries

pytestmark = pytest.mark.row("T25")

FIRST = [c for c in [*everything.CASES, *in_place.CASES, *structures.CASES, *tries.CASES] if c.is_first]
STATEMENTS = """
x = np.sin(y) * x
x, y = y, hs.pop()
a[i] = b[j] * c
a[i][j] += b
a.T[s] = e = f
x += y
hs.append(x * y)
np.add.at(a, i, e)
x = [i * y for i in z]
x = lambda i: i * y
if (n := x) > y: pass
for i, x in zip(a, b): x = y
for i in [j for j in a]: pass
while x > y: break
with f(x) as y, z: pass
try: x = y
except (E, F) as e: y = x
return x, y
import numpy as np
"""


def statements() -> list[gast.stmt]:
    lines = STATEMENTS.strip().replace("\nexcept", "\n except").split("\n")
    text = "def f():\n" + "\n".join("    " + line.removeprefix(" ") for line in lines)
    return flow.statements(gast.parse(text).body[0].body)


@pytest.mark.parametrize("s", statements(), ids=lambda s: type(s).__name__)
def test_a_point_is_what_walks_of_its_own_find(s):
    point = point_of(s)
    assert point.reads == flow.header_reads(s)
    assert point.binds == flow.header_writes(s)
    assert point.lists == (changed_by(s) if isinstance(s, (gast.Assign, gast.AugAssign, gast.Expr)) else set())
    assert point.array == written_root(s)


def test_the_names_of_a_body():
    body = statements()
    names = {n.id for s in body for n in walk(s) if isinstance(n, gast.Name)}
    top = [s for s in body if not any(s in flow.statements(b) for o in body for b in flow.blocks(o))]
    assert Points().mentioned(top) == names
    assert Points().bound(top) == bound_names(top)


@pytest.mark.parametrize("program", FIRST, ids=[c.name for c in FIRST])
def test_no_pass_leaves_behind_what_is_no_longer_true(program, monkeypatch):
    mode = ("vjp", "jvp", "split")[zlib.crc32(program.name.encode()) % 3]
    known, shown, carried = Points.of, Display.rename, Carries.__call__

    def checked(self, s):
        assert known(self, s) == point_of(s), gast.dump(s)
        return known(self, s)

    def rename(self, body):
        monkeypatch.setattr(Points, "of", known)  # the last to ask
        return shown(self, body)

    def carries(self, node):
        afresh = Carries(self.operation, self.canonical, self.still)
        assert carried(self, node) == carried(afresh, node), gast.dump(node)
        return carried(self, node)

    monkeypatch.setattr(Carries, "__call__", carries)
    monkeypatch.setattr(Points, "of", checked)
    monkeypatch.setattr(Display, "rename", rename)
    with contextlib.suppress(oracle.Refused):
        oracle.generate(program.source, wrt=program.wrt, mode=mode)

