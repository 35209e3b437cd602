"""Snapshots: which version is analysed, and what a file that does not parse falls back on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from server_markers import URI, snapshot

from lsp_ad.server.client import Settings, updated
from lsp_ad.server.snapshots import Snapshot, Snapshots
from lsp_ad.source.document import Document

GOOD, BAD = "x = 1\n", "x = (\n"


def history(*texts: str, wanted=lambda version: True) -> Snapshot:
    newest = snapshot(texts[0])
    newest.wanted = True
    for version, text in enumerate(texts[1:], 2):
        newest = newest.successor(Document(text, URI, version))
        newest.wanted = wanted(version)
    return newest


def test_a_snapshot_that_parses_is_its_own_last_good_version():
    newest = history(GOOD, BAD, GOOD)
    assert newest.good is newest


@pytest.mark.parametrize("bad", [1, 2, 30])
def test_the_last_good_version_is_found_however_many_bad_ones_follow(bad):
    assert history(GOOD, *[BAD] * bad).good.version == 1


def test_a_file_that_never_parsed_has_none():
    assert history(BAD, BAD).good is None


def test_versions_that_nobody_asked_about_are_not_kept():
    newest = history(GOOD, *[BAD] * 5, wanted=lambda version: False)
    assert newest._older.version == 1
    assert newest.good.version == 1


def test_good_versions_do_not_hold_on_to_older_ones():
    newest = history(GOOD, GOOD, GOOD)
    assert newest.good is newest and newest._older is None


LINES = st.lists(st.sampled_from(["a = 1", "b = 2", "c = 3", ""]), max_size=12).map("\n".join)


@given(LINES, LINES)
def test_a_line_is_followed_only_to_a_line_of_the_same_text(old, new):
    newest = history(old, new + "\n(")
    there = newest.good.document.lines
    for line in range(1, len(newest.document.lines) + 1):
        found = newest.line_in_good(line)
        assert found is None or there.line(found) == newest.document.lines.line(line)


@given(LINES, LINES, LINES)
def test_lines_around_a_change_are_followed(before, middle, after):
    newest = history(f"{before}\n{after}", f"{before}\n(\n{middle}\n{after}")
    count = len(newest.document.lines)
    assert newest.line_in_good(1) == 1
    assert newest.line_in_good(count) == len(newest.good.document.lines)


def test_closed_documents_are_forgotten():
    documents = Snapshots()
    opened = documents.open(URI, Document(GOOD, URI, 1))
    assert documents.is_newest(opened)
    changed = documents.change(URI, Document(BAD, URI, 2))
    assert documents.get(URI) is changed and not documents.is_newest(opened)
    documents.close(URI)
    documents.close(URI)
    assert documents.get(URI) is None
    with pytest.raises(KeyError):
        documents.change(URI, Document(GOOD, URI, 3))


@pytest.mark.parametrize(
    "given",
    [
        {"helpers": "import"},
        {"lsp-ad": {"helpers": "import", "trace": {"server": "off"}}},
        {"settings": {"helpers": "import"}},
        {"settings": {"lsp-ad": {"helpers": "import"}}},
    ],
)
def test_settings_are_found_where_clients_put_them(given):
    assert updated(Settings(), given) == (Settings("import"), [])


@pytest.mark.parametrize(
    "given", [None, {}, {"lsp-ad": None}, {"settings": {}}, {"lsp-ad": {"helpers": None}}]
)
def test_settings_that_are_not_given_change_nothing(given):
    assert updated(Settings("import"), given) == (Settings("import"), [])


@pytest.mark.parametrize(
    "given", [3, "import", ["import"], {"helpers": "none"}, {"helpers": ["import"]}, {"helpers": {}}]
)
def test_settings_that_make_no_sense_are_told_and_ignored(given):
    settings, messages = updated(Settings(), given)
    assert settings == Settings() and len(messages) == 1 and messages[0].endswith("ignored.")
