"""Sine and cosine of compiled programs, against sums of their series in exact arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

pytest.importorskip("numba")

from lsp_ad.staging.lantern.compiler.driver import compiled
from lsp_ad.staging.lantern.parsing import parse

pytestmark = pytest.mark.row("A16")

HALF_PI = (
    Fraction("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534")
    / 2
)
BITS = 2**230


def rounded(x: Fraction) -> Fraction:
    return Fraction(int(x * BITS), BITS)


def series(r: Fraction, term: Fraction, number: int) -> Fraction:
    """The sum of (-1)**k r**(2 k) number! / (number + 2 k)! term."""
    total = Fraction(0)
    while abs(term) > Fraction(1, 2**200):
        total += term
        term = rounded(-term * r * r / ((number + 1) * (number + 2)))
        number += 2
    return total


def exact(x: float) -> tuple[Fraction, Fraction]:
    """Sine and cosine."""
    k = round(Fraction(x) / HALF_PI)
    r = rounded(Fraction(x) - k * HALF_PI)
    sine, cosine = series(r, r, 1), series(r, Fraction(1), 0)
    return [(sine, cosine), (cosine, -sine), (-sine, -cosine), (-cosine, sine)][k % 4]


def both():
    text = """
    (program f (def f ((x (array float64 1))) (tuple (array float64 1) (array float64 1)) (tuple (sin x) (cos x))))
    """
    return compiled(parse(text))


def test_accuracy():
    rng = np.random.default_rng(0)
    ranges = [rng.uniform(-limit, limit, 300) for limit in (1.0, 50.0, 1e5, 2.0**20, 2.0**22)]
    multiples = np.arange(1, 200) * (math.pi / 4)
    x = np.concatenate([*ranges, multiples, 10.0 ** rng.uniform(-20, 5, 200)])
    for a, *found in zip(x, *both()(x), strict=True):
        for value, expected in zip(found, exact(float(a)), strict=True):
            assert abs(Fraction(float(value)) - expected) <= Fraction(3, 2) * Fraction(
                math.ulp(float(expected))
            )


def test_special_values():
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e22, 1e300, 5e-324])
    sine, cosine = both()(x)
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(sine, np.sin(x), rtol=1e-15)
        np.testing.assert_allclose(cosine, np.cos(x), rtol=1e-15)
    assert np.signbit(sine[1]) and not np.signbit(sine[0])
    assert sine[7] == 5e-324


def test_of_one_number():
    p = compiled(parse("(program f (def f ((x float64)) float64 (- (sin x) (cos x))))"))
    assert p(0.7) == pytest.approx(math.sin(0.7) - math.cos(0.7), rel=1e-14)
