"""The gradients of the examples against hand-written ones: as right, and not much longer."""

from __future__ import annotations

from pathlib import Path

import pytest

import lsp_ad
from tests.differentiate.pairs import pairs, statements

pytestmark = pytest.mark.row("T14", "T25")

ROOT = Path(__file__).resolve().parents[2]
PAIRS = list(pairs(ROOT / "examples", Path(__file__).parent / "handwritten"))
MOST = 1.5  # times the statements of the gradient by hand
each_pair = pytest.mark.parametrize("pair", PAIRS, ids=[p.name for p in PAIRS])


def test_the_pairs_are_there():
    assert [p.name for p in PAIRS] == ["huber", "logistic", "mlp", "newton", "walk"]


@each_pair
def test_gradient_is_that_by_hand(pair):
    assert pair.error(lsp_ad.grad(pair.primal, pair.wrt)) < 1e-12


@each_pair
def test_value_and_gradient(pair):
    value, _ = lsp_ad.value_and_grad(pair.primal, pair.wrt)(**pair.arguments)
    assert value == pair.primal(**pair.arguments)
    assert pair.error(lambda *args: lsp_ad.value_and_grad(pair.primal, pair.wrt)(*args)[1]) < 1e-12


@each_pair
def test_length_is_near_that_by_hand(pair):
    assert statements(lsp_ad.grad(pair.primal, pair.wrt)) <= MOST * statements(pair.by_hand)
