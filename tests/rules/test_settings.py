"""Rules for functions of other packages, from the settings of a project."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import special

import lsp_ad
from lsp_ad import cli
from lsp_ad.differentiate import differentiate, insertion
from lsp_ad.files import Workspace
from lsp_ad.rules.settings import read
from lsp_ad.semantics.linking import link
from lsp_ad.semantics.names import Program
from lsp_ad.source import edits
from lsp_ad.source.document import Document
from lsp_ad.source.parse import parse
from tests import oracle

pytestmark = [
    pytest.mark.row("T22"),
    pytest.mark.skipif(sys.version_info < (3, 11), reason="settings are read by Python 3.11 and later"),
]
RULES = """
non_differentiable = ["mylib.seed", "mylib.count"]

[rules]
"scipy.special.erfcx" = { parameters = "x", x = "dy * (2 * x * y - 2 / np.sqrt(np.pi))" }
"scipy.special.gammaln" = { parameters = "x", x = "dy * scipy.special.digamma(x)" }
"mylib.apply" = { form = "general", parameters = "matrix, x, *, transposed=False", x = "mylib.adjoint(matrix, dy, transposed)" }
"""
MYLIB = """
import numpy as np
calls = []

def seed(n):
    calls.append(n)

def count(x, **more):
    return len(x)

def apply(matrix, x, *, transposed=False):
    return (matrix.T if transposed else matrix) @ x

def adjoint(matrix, dy, transposed):
    return (matrix if transposed else matrix.T) @ dy
"""
MODEL = """import mylib
import numpy as np
from scipy.special import erfcx, gammaln


def f(x, w):
    mylib.seed(3)
    return np.sum(erfcx(x * w) * mylib.count(x, all=True) + gammaln(w))


def g(a, x):
    return np.sum(mylib.apply(a, x) ** 2) + np.sum(mylib.apply(a, x, transposed=True))
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    (tmp_path / "lsp-ad.toml").write_text(RULES)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "model.py").write_text(MODEL)
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "mylib.py").write_text(MYLIB)
    monkeypatch.syspath_prepend(str(tmp_path / "src"))
    monkeypatch.syspath_prepend(str(tmp_path / "lib"))
    yield tmp_path
    for name in ("model", "mylib"):
        sys.modules.pop(name, None)


def generated(project, name: str = "f", wrt=None, mode: str = "grad"):
    path = str(project / "src" / "model.py")
    program = Program(parse(Document((project / "src" / "model.py").read_text(), path)))
    derivative, problems = differentiate(link(program, Workspace([str(project)])).program, name, wrt, mode)
    if derivative is None:
        raise oracle.Refused(*problems)
    return derivative, edits.apply(program.parsed.document.text, insertion(program, derivative))


X, W = np.array([0.3, 0.9]), np.array([1.5, 0.7])


def assert_right(gradient):
    z = X * W
    slope = len(X) * (2 * z * special.erfcx(z) - 2 / np.sqrt(np.pi))
    dx, dw = gradient(X, W)
    np.testing.assert_allclose(dx, slope * W)
    np.testing.assert_allclose(dw, slope * X + special.digamma(W))


# --- where they hold -------------------------------------------------------------------------


def test_the_example():
    path = Path(__file__).resolve().parents[2] / "examples" / "settings" / "voigt.py"
    program = Program(parse(Document(path.read_text(encoding="utf-8"), str(path))))
    derivative, problems = differentiate(link(program, Workspace([])).program, "profile")
    assert derivative is not None, problems
    namespace = oracle.run(edits.apply(program.parsed.document.text, insertion(program, derivative)))
    eps = 1e-6 * np.eye(2)
    for got, moved in zip(namespace[derivative.name](W, X), ((eps, 0.0 * eps), (0.0 * eps, eps)), strict=True):
        sides = [[namespace["profile"](W + s * a, X + s * b) for a, b in zip(*moved, strict=True)] for s in (1, -1)]
        np.testing.assert_allclose(got, np.subtract(*sides) / 2e-6, rtol=1e-7)


def test_elementwise_rules_and_functions_without_a_derivative(project):
    derivative, text = generated(project)
    namespace = oracle.run(text)
    assert_right(namespace[derivative.name])
    assert importlib.import_module("mylib").calls == [3]


def test_forward_mode(project):
    _, text = generated(project, mode="jvp")
    z, dx, dw = X * W, np.array([0.5, 1.0]), np.array([1.0, -0.3])
    slope = len(X) * (2 * z * special.erfcx(z) - 2 / np.sqrt(np.pi))
    wanted = np.sum(slope * (W * dx + X * dw) + special.digamma(W) * dw)
    np.testing.assert_allclose(oracle.run(text)["f_jvp"](X, W, dx, dw)[1], wanted)


def test_a_general_rule_and_its_options(project):
    derivative, text = generated(project, "g", ["x"])
    a = np.array([[1.0, 2.0], [3.0, -1.0]])
    np.testing.assert_allclose(oracle.run(text)[derivative.name](a, X), 2 * a.T @ (a @ X) + a @ np.ones(2))


def test_pyproject(project):
    (project / "lsp-ad.toml").unlink()
    with pytest.raises(oracle.Refused):
        generated(project)
    sections = RULES.replace("non_diff", "[tool.lsp-ad]\nnon_diff").replace("[rules]", "[tool.lsp-ad.rules]")
    (project / "pyproject.toml").write_text('[project]\nname = "model"\n' + sections)
    assert_right(oracle.run(generated(project)[1])["f_grad"])


def test_the_nearest_settings_hold(project):
    (project / "src" / "lsp-ad.toml").write_text("")
    with pytest.raises(oracle.Refused):
        generated(project)
    (project / "src" / "lsp-ad.toml").unlink()
    (project / "src" / "pyproject.toml").write_text("[tool.other]\n")
    assert generated(project)


def test_live_functions(project):
    assert_right(lsp_ad.grad(importlib.import_module("model").f))


def test_the_command_line(project, capsys):
    path = str(project / "src" / "model.py")
    assert cli.main(["grad", f"{path}::f"]) == 0
    assert "scipy.special.digamma(w)" in capsys.readouterr().out
    (project / "lsp-ad.toml").write_text('[rules]\n"scipy.special.erfcx" = { parameters = "x", z = "dy" }\n')
    assert cli.main(["grad", f"{path}::f"]) == 1
    said = capsys.readouterr().err
    assert "AD603" in said and "lsp-ad.toml:2: `scipy.special.erfcx`: `z` is none of its parameters." in said


def test_the_server_sees_a_change_of_them(project):
    from lsp_ad.server.snapshots import Snapshots
    from lsp_ad.server.workspace import OpenFiles

    uri = (project / "src" / "model.py").as_uri()
    snapshot = Snapshots(OpenFiles(lambda: [project.as_uri()])).open(uri, Document(MODEL, uri, 1))
    assert "scipy.special.digamma(w)" in snapshot.analysis.derivative("f")[0].text
    (project / "lsp-ad.toml").write_text(RULES.replace("scipy.special.digamma(x)", "np.log(x)"))
    assert "np.log(w)" in snapshot.analysis.derivative("f")[0].text
    (project / "lsp-ad.toml").write_text("rules = 3")
    assert [p.code for p in snapshot.analysis.derivative("f")[1]] == ["AD603"]


def test_hover_shows_the_rule(project):
    from lsprotocol import types

    from lsp_ad.server.client import Client
    from lsp_ad.server.hover import hover
    from lsp_ad.server.snapshots import Snapshots
    from lsp_ad.server.workspace import OpenFiles

    uri = (project / "src" / "model.py").as_uri()
    snapshot = Snapshots(OpenFiles(lambda: [project.as_uri()])).open(uri, Document(MODEL, uri, 1))
    line = next(i for i, t in enumerate(MODEL.splitlines()) if "gammaln(w)" in t)
    found = hover(snapshot, types.Position(line, MODEL.splitlines()[line].index("gammaln")), Client(types.ClientCapabilities(), None))
    assert "dx += dy * scipy.special.digamma(x)" in found.contents.value


# --- what is wrong with them -----------------------------------------------------------------


def entry(text: str) -> str:
    return f'[rules]\n\n"a.f" = {text}\n'


@pytest.mark.parametrize("text, line, said", [
    ("[rules\n", 1, "no TOML"),
    ("rule = 3\n", 1, "no setting `rule`"),
    ("rules = 3\n", 1, "`rules` has to be a table"),
    ("\nnon_differentiable = 'a.f'\n", 2, "has to be a list"),
    ("\nnon_differentiable = [\n  'f']\n", 3, "'f' is not the full name"),
    ("non_differentiable = [1]\n", 1, "1 is not the full name"),
    ('[rules]\n"f" = { parameters = "x", x = "dy" }\n', 2, "is not the full name"),
    ('[rules]\n"numpy.exp" = { parameters = "x", x = "dy" }\n', 2, "is known, and cannot be set"),
    (entry("3"), 3, "is a table of texts"),
    (entry('{ x = "dy" }'), 3, "`parameters` is missing"),
    (entry('{ parameters = "x, 3", x = "dy" }'), 3, "as in a `def`"),
    (entry('{ parameters = "x): pass\\ndef g(x", x = "dy" }'), 3, "as in a `def`"),
    (entry('{ parameters = "*x", x = "dy" }'), 3, "without stars"),
    (entry('{ parameters = "y", y = "dy" }'), 3, "cannot be called y"),
    (entry('{ parameters = "x" }'), 3, "belongs into `non_differentiable`"),
    (entry('{ parameters = "x", z = "dy" }'), 3, "`z` is none of its parameters"),
    (entry('{ parameters = "x", x = "dy *" }'), 3, "is no expression"),
    (entry('{ parameters = "x", x = "dy * z" }'), 3, "`z` in the adjoint of x is none of dy, math, np, x, y"),
    (entry('{ parameters = "x", x = "2.0 * x" }'), 3, "does not depend on dy"),
    (entry('{ parameters = "x", x = "(lambda: dy)()" }'), 3, "a Lambda cannot stand"),
    (entry('{ parameters = "x", x = "dy", form = "linear" }'), 3, "`form` is elementwise or general"),
])
def test_what_is_wrong_is_said_with_its_place(text, line, said):
    problems = read(Document(text, "lsp-ad.toml")).problems
    assert len(problems) == 1 and problems[0].code == "AD603"
    assert said in problems[0].message and problems[0].message.startswith(f"lsp-ad.toml:{line}: ")


def test_one_wrong_entry_stops_everything(project):
    (project / "lsp-ad.toml").write_text(RULES + '"other.f" = { parameters = "x" }\n')
    with pytest.raises(oracle.Refused) as caught:
        generated(project)
    assert [p.code for p in caught.value.args] == ["AD603"]
