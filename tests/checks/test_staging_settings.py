"""What the settings say of staging: functions that count as staged, and flags that are meant."""

from __future__ import annotations

import sys

import pytest

from lsp_ad.checks import check
from lsp_ad.rules.settings import read
from lsp_ad.semantics.names import Program
from lsp_ad.source.document import Document
from lsp_ad.source.parse import parse

pytestmark = [
    pytest.mark.row("A13"),
    pytest.mark.skipif(sys.version_info < (3, 11), reason="settings are read by Python 3.11 and later"),
]
TEXT = """import jax
DEBUG = True

def step(x):
    return x if DEBUG else -x

class Model:
    def call(self, x):
        return x if DEBUG else -x

def outer():
    def inner(x):
        return x if DEBUG else -x
    return inner
"""
FLAGS = """import jax

@jax.jit
def step(x, training: bool, deep: bool):
    if training:
        x = -x
    return x if deep else -x

@jax.jit
def other(x, training: bool):
    return x if training else -x
"""


def lines(text: str, settings: str) -> list[int]:
    document = Document(settings, "lsp-ad.toml")
    assert read(document).problems == []
    return [p.span.line for p in check(Program(parse(Document(text, "/work/pack/train.py")), document))]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([], []),
        (["step"], [5]),
        (["train.step"], [5]),
        (["pack.train.step"], [5]),
        (["other.step"], []),
        (["ep"], []),
        (["Model.call"], [9]),
        (["train.Model.call", "inner"], [9, 13]),
        (["train.outer.inner"], [13]),
    ],
)
def test_functions_that_count_as_staged(names, expected):
    assert lines(TEXT, f"staged = {names!r}\n") == expected


@pytest.mark.parametrize(
    ("flags", "expected"),
    [([], [5, 7, 11]), (["training"], [7]), (["step.training"], [7, 11]), (["step.deep", "other.training"], [5])],
)
def test_flags_that_are_meant(flags, expected):
    assert lines(FLAGS, f"flags = {flags!r}\n") == expected


@pytest.mark.parametrize("key", ["staged", "flags"])
def test_they_are_lists(key):
    (problem,) = read(Document(f"{key} = 3\n", "lsp-ad.toml")).problems
    assert problem.code == "AD603" and "has to be a list" in str(problem)
