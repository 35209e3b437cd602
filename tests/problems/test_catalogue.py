"""Every code has an example that produces it, a way out, and a place in its family."""

from __future__ import annotations

import re

import pytest

from lsp_ad import problems
from lsp_ad.checks import check
from lsp_ad.differentiate import differentiate
from lsp_ad.problems.catalogue import CATALOGUE, entry
from tests import oracle

pytestmark = pytest.mark.row("T30")

FAMILIES = {"SRC": "error", "AD": "error", "STG": "error warning information hint"}
ENTRIES = list(CATALOGUE.values())
each_entry = pytest.mark.parametrize("known", ENTRIES, ids=[e.code for e in ENTRIES])
# examples of what goes wrong in a request, not in a function
REQUESTS = [e for e in ENTRIES if not re.search(r"^def ", e.example, re.M)]
FUNCTIONS = [e for e in ENTRIES if e not in REQUESTS]


def codes(example: str) -> set[str]:
    """The codes of all that is found in a text: by the checks, and in the derivative of each function
    with respect to everything and to each parameter by itself."""
    program = oracle.program(example)
    found = {p.code for p in program.parsed.problems} | {p.code for p in check(program)}
    for name, function in program.functions.items():
        wanted = [None, *([a.id] for a in function.args.args)]
        for wrt in wanted:
            found |= {p.code for p in differentiate(program, name, wrt)[1]}
    return found


@pytest.mark.parametrize("known", FUNCTIONS, ids=[e.code for e in FUNCTIONS])
def test_the_example_produces_the_code(known):
    assert known.code in codes(known.example)


def test_requests_are_the_examples_without_a_function():
    assert [e.code for e in REQUESTS] == ["AD501", "AD504", "AD505", "AD507", "AD603"]


@each_entry
def test_an_entry_says_what_is_wrong_and_what_to_do(known):
    assert known.summary.endswith(".") and known.way_out.endswith(".")
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", known.name)
    family = re.match(r"[A-Z]+", known.code)[0]
    assert known.severity in FAMILIES[family]


def test_names_are_unique():
    assert len({e.name for e in ENTRIES}) == len(ENTRIES)


@each_entry
def test_an_entry_is_found_by_code_and_by_name_in_any_case(known):
    assert entry(known.code.lower()) is entry(f" {known.code} ") is entry(known.name.title()) is known


def test_an_unknown_code_is_a_key_error():
    with pytest.raises(KeyError):
        entry("AD999")


@each_entry
def test_a_problem_takes_severity_and_way_out_from_its_entry(known):
    found = problems.problem(known.code, "Why.", problems.Span(1, 0, 1, 1))
    assert found.severity.name.lower() == known.severity
    assert str(found) == f"Why. {known.way_out}"
