"""Each rule against the marked examples of the Markdown files beside this one, with the fixes.

In a marker `#^^^` the `#` stands for the first caret.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from lsp_ad.checks import check
from lsp_ad.problems import Problem
from lsp_ad.semantics.names import Program
from lsp_ad.source.document import Document
from lsp_ad.source.edits import Edit, apply
from lsp_ad.source.parse import parse

pytestmark = pytest.mark.row("A13")

_MARKER = re.compile(r"\s*#\s*(\^+) (STG\d+) ?(.*)$")
_BLOCK = re.compile(r"^## ([^\n]*)\n```python\n(.*?)^```$(?:\n```fixed\n(.*?)^```$)?", re.M | re.S)
FILES = [p for p in sorted(Path(__file__).parent.glob("*.md")) if p.stem != "staging_bypass"]


def program(text: str) -> Program:
    parsed = parse(Document(text))
    assert not parsed.problems
    return Program(parsed)


def cases(fixed: bool) -> Iterator[object]:
    for path in FILES:
        for title, source, after in _BLOCK.findall(path.read_text(encoding="utf-8")):
            if after or not fixed:
                yield pytest.param(*([source, after] if fixed else [source]), id=f"{path.stem}: {title}")


@pytest.mark.parametrize("source", list(cases(fixed=False)))
def test_marked(source: str) -> None:
    marked, above = {}, 0
    for number, line in enumerate(source.splitlines(), 1):
        marker = _MARKER.match(line)
        if marker:
            start = marker.start(1) - line[: marker.start(1)].endswith("#")
            marked[above, start, marker.end(1), marker[2]] = marker[3].strip()
        else:
            above = number
    seen = {(p.span.line, p.span.column, p.span.end_column, p.code): p for p in check(program(source))}
    assert sorted(seen) == sorted(marked), "\n".join(f"{p.span}: {p.code} {p}" for p in seen.values())
    for key, message in marked.items():
        assert message in str(seen[key])


@pytest.mark.parametrize(("source", "after"), list(cases(fixed=True)))
def test_fixed(source: str, after: str) -> None:
    text = "".join(line for line in source.splitlines(True) if not _MARKER.match(line.rstrip("\n")))
    assert fixed(text) == after


def fixed(text: str) -> str:
    """The text after the first fix of each finding, of those that do not overlap."""
    parsed = program(text)
    edits: list[Edit] = []
    for problem in check(parsed):
        new = _edits(parsed, problem)
        if not any(a.start < b.end and b.start < a.end for a in new for b in edits):
            edits += new
    result = apply(text, edits)
    program(result)
    return result


def _edits(parsed: Program, problem: Problem) -> list[Edit]:
    lines = parsed.parsed.document.lines
    edits = problem.fixes[0].edits if problem.fixes else ()
    return [Edit(lines.offset(*span[:2]), lines.offset(*span[2:]), new) for span, new in edits]


def test_an_async_function_is_refused_at_its_first_words() -> None:
    (found,) = check(program("import lsp_ad\n\n@lsp_ad.staged\nasync def f(x):\n    return x\n"))
    assert found.code == "STG501" and found.span == (4, 0, 4, 9)
