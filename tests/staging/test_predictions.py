"""What the text tells of staging agrees with what happens: prediction and run-time report, construct by construct."""

from __future__ import annotations

import importlib.util
import inspect
from collections import defaultdict
from functools import cache

import numpy as np
import pytest

import lsp_ad
from lsp_ad.checks import prediction
from lsp_ad.checks.prediction import STAGED, Items, Known, Table
from lsp_ad.semantics.names import Program
from lsp_ad.source.document import Document
from lsp_ad.source.parse import parse
from tests.staging.decided_programs import DECIDED
from tests.staging.programs import PROGRAMS
from tests.staging.random_decisions import Generator, with_breaks

pytestmark = pytest.mark.row("A13", "A14")
CONSTRUCTS = ("if", "conditional expression", "while", "for", "and", "or", "not", "case")
CASES = [
    pytest.param(function, arguments, id=f"{function.__name__}-{number}")
    for function, several in [*PROGRAMS, *DECIDED]
    for number, arguments in enumerate(several)
]


UNCLEAR: dict[str, int] = {}  # how many constructs of a program cannot be told


@cache
def program(file: str) -> Program:
    with open(file, encoding="utf-8") as f:
        return Program(parse(Document(f.read(), file)))


def described(argument):
    """What is known of an argument when tracing."""
    if isinstance(argument, (float, np.ndarray, np.generic)):
        return STAGED
    if isinstance(argument, (list, tuple)):
        return Items([described(a) for a in argument], isinstance(argument, list))
    if isinstance(argument, dict):
        return Table({key: described(value) for key, value in argument.items()})
    return Known(argument)


def predicted(function, arguments, sizes=False):
    """Outcomes and counts by construct and line."""
    names = list(inspect.signature(function).parameters)
    given = {name: described(a) for name, a in zip(names, arguments, strict=False)}
    found = defaultdict(set)
    for p in prediction.predict(
        program(inspect.getsourcefile(function)), function.__name__, given, sizes=sizes
    ):
        found[p.construct, p.line].add((p.outcome, p.count))
    return found


def reported(function, arguments, backend):
    """The same of a trace, for the file of the function."""
    file = inspect.getsourcefile(function)
    found = defaultdict(set)
    for d in lsp_ad.staging_report(function, *arguments, backend=backend):
        if d.file == file and d.construct in CONSTRUCTS:
            found[d.construct, d.line].add((d.outcome, d.count))
    return found


def disagreements(expected, found):
    """Where a prediction is another than what happened; and how many constructs were not told."""
    unclear = {key for key, outcomes in expected.items() if any(outcome is None for outcome, _ in outcomes)}
    pairs = {key: (expected.get(key), found.get(key)) for key in expected.keys() | found.keys()}
    return {key: pair for key, pair in pairs.items() if key not in unclear and not agree(*pair)}, len(unclear)


def agree(outcomes, happened):
    """A count that is not told may be any."""
    if outcomes is None or happened is None:
        return False
    counts = {(o, c) for o, c in outcomes if c is not None}
    loose = {o for o, c in outcomes if c is None}
    return counts <= happened and all(h in counts or h[0] in loose for h in happened)


@pytest.mark.parametrize(("function", "arguments"), CASES)
def test_prediction_and_report_agree(function, arguments):
    pytest.importorskip("jax")
    expected, found = predicted(function, arguments), reported(function, arguments, "jax")
    wrong, unclear = disagreements(expected, found)
    assert not wrong
    assert unclear == UNCLEAR.get(function.__name__, 0)


@pytest.mark.parametrize("seed", [*range(40), *range(6000, 6040)])
def test_they_agree_on_random_programs(seed, tmp_path):
    pytest.importorskip("jax")
    file = tmp_path / f"program_{seed}.py"
    made = Generator(seed).program()
    file.write_text(with_breaks(made, seed) if seed >= 6000 else made)
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    arguments = (1.2, 0.7, 3, 1, bool(seed % 2))
    expected = predicted(module.f, arguments)
    try:
        found = reported(module.f, arguments, "jax")
    except lsp_ad.StagingError:
        pytest.skip("it cannot be staged")
    wrong, unclear = disagreements(expected, found)
    assert not wrong and not unclear
