"""Random updates of parts of arrays by parts of the same arrays: written in place, or by way of a copy."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("numba")

from lsp_ad.staging.lantern.interpreter import interpret
from lsp_ad.staging.lantern.parsing import parse
from tests.staging.lantern.generated import uncompiled
from tests.staging.lantern.test_accumulators import same

pytestmark = pytest.mark.row("A16")

VECTOR = "(array float64 1)"
# parts of a vector of four that have three elements, and one, and all
THREE = ["(: 1)", "(: _ -1)", "(: 0 3)", "(: 1 4)", "(: _ 0 -1)", "k"]
ONE = ["(: 1 2)", "(: -1)"]
ALL = ["", ":", "(: _ _ -1)"]


def random_updates(seed: int) -> str:
    r = random.Random(seed)
    made = ["(v0 (+ u 1.0))", "(k (cast (get u [(: _ 3)]) :dtype int64))"]
    vectors = ["v0"]

    def operand(parts: list[str], depth: int) -> str:
        if depth and r.random() < 0.6:
            one, other = operand(parts, depth - 1), operand(parts, depth - 1)
            return f"({r.choice('+-*')} {one} {other})"
        whole = r.choice([*vectors[-2:], "u"])
        picked = r.choice(parts if r.random() < 0.8 else ONE)
        return f"(get {whole} [{picked}])" if picked or r.random() < 0.3 else whole

    for number in range(1, r.randint(3, 7)):
        parts = r.choice([THREE, ALL])
        kind = r.choice(["set", "set", "add-at", "value"])
        new = operand(parts, 2)
        if kind == "value":
            made.append(f"(w{number} {new})" if parts is THREE else f"(v{number} (+ u {new}))")
            vectors += [f"v{number}"] if parts is ALL else []
        else:
            # into the last one mostly: an earlier one is read again
            into = vectors[-1] if r.random() < 0.8 else r.choice(vectors)
            name = r.choice([part for part in parts if part != "k"])
            made.append(f"(v{number} ({kind} {into} [{name}] {new}))")
            vectors.append(f"v{number}")
    kept = [vectors[-1], *r.sample(vectors, min(len(vectors), r.choice([0, 0, 1])))]
    result = f"(tuple {' '.join([VECTOR] * len(kept))})"
    return f"(program f (def f ((u {VECTOR})) {result} (let ({' '.join(made)}) (tuple {' '.join(kept)}))))"


@given(st.integers(0, 2**32))
@settings(max_examples=300, deadline=None)
def test_updates(seed):
    program = parse(random_updates(seed))
    u = np.array([2.0, 1.0, 3.0, 0.0])
    same(uncompiled(program, u), interpret(program, u))
