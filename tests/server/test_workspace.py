"""Other files: an unsaved buffer wins over the disk, and a change of it is seen by those that depend on it."""

from __future__ import annotations

import pytest
from server_markers import source

from lsp_ad.server.client import Client
from lsp_ad.server.diagnostics import diagnostics
from lsp_ad.server.snapshots import Snapshots
from lsp_ad.server.workspace import OpenFiles
from lsp_ad.source.document import Document

pytestmark = pytest.mark.row("T16")
MAIN = source("""
    import lsp_ad
    from model import g


    def f(x):
        return g(x)


    def other(x):
        return x * x


    f_grad = lsp_ad.grad(f)
""")
GOOD, BAD = "def g(x):\n    return x * 3.0\n", "def g(x):\n    return eval('x')\n"


@pytest.fixture
def session(tmp_path):
    files = OpenFiles(lambda: [tmp_path.as_uri()])
    return tmp_path, files, Snapshots(files)


def opened(session, name: str, text: str, version: int = 1):
    root, files, snapshots = session
    uri = (root / name).as_uri()
    document = Document(text, uri, version)
    files.open(uri, document)
    return snapshots.open(uri, document) if snapshots.get(uri) is None else snapshots.change(uri, document)


def text_of(snapshot, name: str = "f") -> str:
    derivative, problems = snapshot.analysis.derivative(name)
    return derivative.text if derivative else str(problems[0])


def test_the_disk_and_then_a_buffer_and_then_the_disk(session):
    root, files, _ = session
    (root / "model.py").write_text(GOOD)
    main = opened(session, "main.py", MAIN)
    assert "3.0" in text_of(main)
    opened(session, "model.py", GOOD.replace("3.0", "5.0"))
    assert "5.0" in text_of(main)
    opened(session, "model.py", BAD, 2)
    assert "model.py, line 2: `eval`" in text_of(main)
    files.close((root / "model.py").as_uri())
    assert "3.0" in text_of(main)


def test_a_file_that_appears(session):
    root, _, _ = session
    main = opened(session, "main.py", MAIN)
    assert "no file of the module `model`" in text_of(main)
    (root / "model.py").write_text(GOOD)
    assert "3.0" in text_of(main)


def test_what_does_not_depend_on_the_other_file_is_kept(session, monkeypatch):
    opened(session, "model.py", GOOD)
    main = opened(session, "main.py", MAIN)
    text_of(main), text_of(main, "other")
    import lsp_ad.server.analysis

    computed = []
    real = lsp_ad.server.analysis.differentiate
    monkeypatch.setattr(
        lsp_ad.server.analysis, "differentiate", lambda p, name, *rest: computed.append(name) or real(p, name, *rest)
    )
    opened(session, "model.py", GOOD.replace("3.0", "4.0"), 2)
    assert "4.0" in text_of(main) and text_of(main, "other")
    assert computed == ["f"]


def test_a_reason_in_the_other_file_is_shown_there(session):
    root, _, _ = session
    opened(session, "model.py", "\n\n" + BAD)
    main = opened(session, "main.py", MAIN)
    (found,) = diagnostics(main, Client(related_information=True))
    assert found.range.start.line == 5 and found.code == "AD203"
    (related,) = found.related_information
    assert related.location.uri == (root / "model.py").as_uri()
    assert related.location.range.start.line == 3


def test_an_untitled_document_finds_modules_of_the_workspace_only(session):
    root, _, snapshots = session
    (root / "model.py").write_text(GOOD)
    found = snapshots.open("untitled:Untitled-1", Document(MAIN, "untitled:Untitled-1", 1))
    assert "3.0" in text_of(found)
    relative = snapshots.open("untitled:2", Document(MAIN.replace("from model", "from .model"), "untitled:2", 1))
    assert "untitled:2 is no file" in text_of(relative)
