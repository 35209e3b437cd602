"""What shows each row of the table of capabilities: `python -m tests.coverage_table` writes `tests/COVERAGE.md`.

A test names its rows: `@pytest.mark.row("T9")`, or `pytestmark` for a whole file. `--check` writes nothing and
fails where the file is not what would be written.
"""

from __future__ import annotations

import ast
import contextlib
import io
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
TABLE = TESTS / "COVERAGE.md"

# Each row: what it is about, how it is shown, and what else than tests shows it.
ROWS = {
    "T1": ("the four transforms; wrt by name and index", "oracle sweep", ""),
    "T2": ("joint and split motion", "both equal to machine precision", ""),
    "T3": ("forward mode for all of it", "`<jvp(u), v> == <u, vjp(v)>`", ""),
    "T4": ("the seed: policy and check", "tests, also under `python -O`", ""),
    "T5": ("the value as well, computed once", "count of evaluations", ""),
    "T6": ("code before simplification, and each stage", "golden files", "`UPDATE_GOLDEN=1 python -m pytest tests/differentiate/test_options.py tests/differentiate/test_golden.py` writes them"),
    "T7": ("generated code runs alone, and can be debugged", "subprocess, traceback, stepping", ""),
    "T8": ("branches and conditions", "oracle sweep", ""),
    "T9": ("loops", "oracle sweep", ""),
    "T10": ("break, continue, return", "oracle sweep", ""),
    "T11": ("tuples, lists, dicts, comprehensions", "oracle sweep", ""),
    "T12": ("structured parameters and results", "oracle sweep", ""),
    "T13": ("indexing", "oracle sweep", ""),
    "T14": ("writes in place, views and aliases", "oracle sweep, solver-like kernels", "`python tests/benchmarks/handwritten.py`: statements and time against hand-written gradients"),
    "T15": ("broadcasting; the gradient has the parameter's shape", "oracle sweep over shapes", ""),
    "T16": ("calls, other files, recursion", "oracle sweep", ""),
    "T17": ("closures, lambdas, partials", "perturbation-confusion tests", ""),
    "T18": ("methods, attributes, classes", "oracle sweep", ""),
    "T19": ("with, assert, print, raise, del, try", "oracle sweep", ""),
    "T20": ("higher order", "oracle, third order too", ""),
    "T21": ("code for the backward sweep; stop_gradient", "an example each", ""),
    "T22": ("rules of the user's", "an example each", ""),
    "T23": ("opaque calls", "equal to the static result", ""),
    "T24": ("no code for what carries no derivative", "statement counts", ""),
    "T25": ("simplification", "unit pairs; NaN, infinity and shape", "`python tests/benchmarks/transformation_time.py`: its cost"),
    "T26": ("memory, checkpointed loops", "peak memory", "`python tests/benchmarks/memory.py`: bytes an iteration of a million"),
    "T27": ("types of numbers", "tests", ""),
    "T30": ("refusals", "one test a refusal", "`python -m lsp_ad explain CODE`: what a refusal means"),
    "T31": ("random programs: right or refused", "random programs, seeds kept", "`python tests/differentiate/random_programs/run.py COUNT SEED`: as many as one likes"),
    "A1": ("staged, to_code, do_not_convert, recursive or not", "the printed code runs", ""),
    "A2": ("calls converted recursively", "call trees against eager", ""),
    "A3": ("dispatch of every construct on the type at run time", "one source both ways", "`python tests/benchmarks/staging_overhead.py`: what it costs on plain values"),
    "A4": ("branches and loops, over all that can be gone over", "against eager", ""),
    "A5": ("break, continue, early return, staged too", "against eager", ""),
    "A6": ("conditional expressions, lazy logic, comparisons", "laziness counted", ""),
    "A7": ("lists; slices read and written", "against eager", ""),
    "A8": ("Python's own functions on staged values", "each, both ways", ""),
    "A9": ("directives", "visible in the programs", ""),
    "A10": ("errors at the user's own line, of the user's type", "lines and types", ""),
    "A11": ("types that differ between branches or iterations", "messages", ""),
    "A12": ("nothing is left unconverted in silence", "tests", ""),
    "A13": ("the staging report; must_stage", "reports", "`python -m lsp_ad check --staging-report FILE`: foretold, without running"),
    "A14": ("side effects while tracing", "each silent case of AutoGraph", ""),
    "A15": ("back ends behind one interface", "one source, equal results", "`examples/staging/toy_backend.py`: how to write one"),
    "A16": ("Lantern: text, recursion, specialisation, machine code", "against its interpreter and Python", "`python tests/benchmarks/lantern.py`: its speed"),
    "A17": ("differentiate, then stage; stage, then differentiate", "equal gradients", "`python -m tests.staging.gradient_sweep`: all generated gradients"),
    "A18": ("the paper's programs", "staged and eager with equal results", "`python tests/benchmarks/staging.py`: speed side by side"),
}  # fmt: skip

Shown = dict[str, list[str]]


def shown() -> Shown:
    """The tests of each row, as `file::function`, read from the text of the files."""
    found: Shown = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        module = ast.parse(path.read_text(encoding="utf-8"))
        place = path.relative_to(TESTS).as_posix()
        whole = [r for s in module.body if _is_pytestmark(s) for r in _rows(s.value)]
        for function in module.body:
            if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) and function.name.startswith("test"):
                own = [r for decorator in function.decorator_list for r in _rows(decorator)]
                for row in dict.fromkeys([*whole, *own]):
                    found.setdefault(row, []).append(f"{place}::{function.name}")
    return found


def _is_pytestmark(s: ast.stmt) -> bool:
    return isinstance(s, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "pytestmark" for t in s.targets)


def _rows(node: ast.expr) -> Iterator[str]:
    """The rows that `pytest.mark.row(...)` names, anywhere in an expression."""
    for n in ast.walk(node):
        if isinstance(n, ast.Call) and ast.unparse(n.func) == "pytest.mark.row":
            yield from (ast.literal_eval(a) for a in n.args)


def counts(files: set[str]) -> Counter[str]:
    """The number of cases of each test of some files, as pytest collects them."""
    collected: Counter[str] = Counter()

    class Collector:
        def pytest_collection_finish(self, session: pytest.Session) -> None:
            for item in session.items:
                place = item.path.relative_to(TESTS).as_posix()
                collected[f"{place}::{getattr(item, 'originalname', item.name)}"] += 1

    arguments = ["--collect-only", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    with contextlib.redirect_stdout(io.StringIO()) as said:
        code = pytest.main([*arguments, *(str(TESTS / f) for f in sorted(files))], plugins=[Collector()])
    if code:
        raise RuntimeError(f"pytest cannot collect the tests:\n{said.getvalue()}")
    return collected


def table() -> str:
    rows = shown()
    cases = counts({test.partition("::")[0] for tests in rows.values() for test in tests})
    text = "# What shows each row of the table of capabilities\n\n"
    text += "Written by `python -m tests.coverage_table`; the numbers are those of the cases of a test.\n"
    for row, (what, how, command) in ROWS.items():
        tests = rows.get(row, [])
        text += f"\n## {row}: {what}\n\nShown by: {how}. {sum(cases[t] for t in tests)} cases.\n\n"
        if command:
            text += f"- {command}\n"
        text += "".join(f"- `{t}` {cases[t]}\n" for t in tests)
    return text


def listed(text: str) -> Shown:
    """The tests of each row that a written table names."""
    found: Shown = {}
    for section in text.split("\n## ")[1:]:
        row = section.partition(":")[0]
        found[row] = [line.split("`")[1] for line in section.splitlines() if line.startswith("- `") and "::" in line]
    return found


def main(arguments: list[str]) -> int:
    text = table()
    if arguments == ["--check"]:
        if TABLE.is_file() and TABLE.read_text(encoding="utf-8") == text:
            return 0
        print(f"{TABLE} is not up to date: run python -m tests.coverage_table", file=sys.stderr)
        return 1
    TABLE.write_text(text, encoding="utf-8", newline="\n")
    print(f"{TABLE}: {len(ROWS)} rows, {len(listed(text))} with a section")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
