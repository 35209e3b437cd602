"""The gradients of the examples, word for word: what changes in them is seen in the files of tests/golden.

UPDATE_GOLDEN=1 writes them anew.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests import oracle

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden"
EXAMPLES = {
    "checkpointed": ("amplitude", ["x", "v", "k"]),
    "clipping": ("loss", ["w", "h"]),
    "huber": ("huber", ["w"]),
    "logistic": ("loss", ["w", "b"]),
    "mlp": ("loss", ["w1", "b1", "w2", "b2", "wout", "bout"]),
    "newton": ("newton_root", ["a"]),
    "opaque_call": ("loss", ["a", "b"]),
    "own_rules": ("loss", ["a"]),
    "scaling": ("loss", ["trunk", "head", "other_head"]),
    "straight_through": ("loss", ["w"]),
    "truncated": ("loss", ["w", "h"]),
    "walk": ("walk", ["x"]),
    "watching": ("loss", ["w"]),
}


def generated(example: str, mode: str = "grad") -> str:
    name, wrt = EXAMPLES[example]
    source = (ROOT / "examples" / f"{example}.py").read_text(encoding="utf-8")
    return oracle.generate(source, name, wrt, mode)[1]


@pytest.mark.parametrize("example", EXAMPLES)
def test_gradient_reads_as_it_did(example):
    path = GOLDEN / f"{example}.py"
    text = generated(example)
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8", newline="\n")
    assert text == path.read_text(encoding="utf-8"), "run again with UPDATE_GOLDEN=1 if that is meant"


@pytest.mark.row("T3")
@pytest.mark.parametrize("example", ["logistic", "mlp", "newton"])
def test_forward_mode_reads_as_it_did(example):
    path = GOLDEN / "forward" / f"{example}.py"
    text = generated(example, "jvp")
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8", newline="\n")
    assert text == path.read_text(encoding="utf-8"), "run again with UPDATE_GOLDEN=1 if that is meant"


def test_every_example_has_a_golden_file_and_the_other_way_round():
    examples = {p.stem for p in (ROOT / "examples").glob("*.py")}
    assert examples == set(EXAMPLES) == {p.stem for p in GOLDEN.glob("*.py")}
