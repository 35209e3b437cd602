"""The rule against the marked examples of staging_bypass.md, and against the standard library."""

from __future__ import annotations

import re
import sysconfig
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lsp_ad.checks import check
from lsp_ad.problems import Problem, Severity
from lsp_ad.semantics.names import Program
from lsp_ad.source.document import Document
from lsp_ad.source.parse import parse

_MARKER = re.compile(r"\s*#\s*(\^+) (STG\d+) ?([^@]*)(?:@ (.*))?$")
_PACKAGES = ("asyncio", "json", "unittest", "email")


def findings(text: str) -> list[Problem]:
    parsed = parse(Document(text))
    assert not parsed.problems
    return [p for p in check(Program(parsed)) if p.code in ("STG101", "STG102")]


def cases() -> Iterator[object]:
    text = Path(__file__).with_suffix("").with_name("staging_bypass.md").read_text(encoding="utf-8")
    for title, source in re.findall(r"^## ([^\n]*)\n```python\n(.*?)^```$", text, re.M | re.S):
        yield pytest.param(source, id=title)


@pytest.mark.parametrize("source", list(cases()))
def test_marked(source: str) -> None:
    lines = source.splitlines()
    found = findings(source)
    seen = {(p.span.line, p.span.column, p.span.end_column, p.code): p for p in found}
    assert len(seen) == len(found), "a finding twice"
    marked, above = {}, 0
    for number, line in enumerate(lines, 1):
        marker = _MARKER.match(line)
        if marker:
            key = above, marker.start(1), marker.end(1), marker[2]
            marked[key] = marker[3].strip(), (marker[4] or "").strip()
        else:
            above = number
    assert sorted(seen) == sorted(marked), "\n".join(f"{p.span}: {p}" for p in found)
    for key, (message, place) in marked.items():
        assert message in str(seen[key])
        starts = [lines[r.span.line - 1].strip() for r in seen[key].related]
        assert not place or any(s.startswith(place) for s in starts), starts


def test_there_are_cases() -> None:
    assert len(list(cases())) >= 40


def test_severities_and_ways_out() -> None:
    warning, information = findings(
        "import jax\nA = 1\n@jax.jit\ndef f(x, n: int):\n    return (x if A else -x) if n else x\n")
    assert (warning.code, warning.severity) == ("STG101", Severity.WARNING)
    assert (information.code, information.severity) == ("STG102", Severity.INFORMATION)
    assert warning.way_out and information.way_out


def test_crlf_and_empty_texts() -> None:
    text = "import jax\r\nA = 1\r\n@jax.jit\r\ndef f(x):\r\n    if A:\r\n        x = -x\r\n    return x\r\n"
    assert [(p.span.line, p.span.column) for p in findings(text)] == [(5, 7)]
    assert findings("") == []
    assert check(Program(parse(Document("def f(:\n")))) == []


def test_recursion_between_functions_ends() -> None:
    text = ("import jax\ndef even(n, x, flag):\n    return x if flag else odd(n - 1, x, flag)\n"
            "def odd(n, x, flag):\n    return x if flag else even(n - 1, x, not flag)\n"
            "@jax.jit\ndef f(x):\n    return even(3, x, True)\n")
    assert [p.code for p in findings(text)] == ["STG102", "STG102"]


def test_deep_nesting_ends() -> None:
    text = "import jax\n@jax.jit\ndef f(x):\n"
    for depth in range(1, 18):
        text += " " * depth + f"while x{depth % 3} or {depth}:\n"
    text += " " * 18 + "x1 = x0 = x2 = not x1\n"
    assert findings(text)


def test_long_chains_end() -> None:
    text = "import jax\n@jax.jit\ndef f(x):\n    return " + " + ".join(["x"] * 150) + " if True else x\n"
    assert [p.code for p in findings(text)] == ["STG101"]
    calls = "".join(f"def f{n}(x):\n    return f{n + 1}(x) if True else x\n" for n in range(2000))
    assert findings(f"import jax\n{calls}g = jax.jit(f0)\n")


@pytest.mark.parametrize(("transform", "every"), [("jax.jit", 1), ("tensorflow.function", 5)])
def test_the_standard_library_as_if_staged(transform: str, every: int) -> None:
    """Nothing raises on real code, with each function staged or a few that call others; and it is fast."""
    root = Path(sysconfig.get_path("stdlib"))
    files = [f for package in _PACKAGES for f in sorted((root / package).glob("*.py"))]
    # Time of this process and of the check alone: other work on the machine is not counted.
    seconds, with_findings, number = 0.0, 0, 0

    def stage(match: re.Match[str]) -> str:
        nonlocal number
        number += 1
        return match[0] if number % every else f"{match[1]}@{transform}\n{match[0]}"

    for file in files:
        text = file.read_text(encoding="utf-8", errors="replace")
        staged = re.sub(r"^([ \t]*)(?:async )?def ", stage, text, flags=re.M)
        parsed = parse(Document(f"{staged}\nimport {transform.split('.')[0]}\n", str(file)))
        if not parsed.problems:
            start = time.process_time()
            with_findings += bool(check(Program(parsed)))
            seconds += time.process_time() - start
    assert with_findings > 30
    assert seconds < 10


def test_the_standard_library_as_it_is() -> None:
    root = Path(sysconfig.get_path("stdlib"))
    for package in _PACKAGES:
        for file in sorted((root / package).glob("*.py")):
            found = check(Program(parse(Document(file.read_text(encoding="utf-8"), str(file)))))
            assert not [p for p in found if p.code.startswith("STG")]
