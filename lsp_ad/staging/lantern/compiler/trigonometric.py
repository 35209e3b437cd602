"""Sine and cosine of float64 without calls, to one and a half units in the last place.

x = k pi/2 + r with |r| <= pi/4, where pi/2 is a sum of three numbers, so that r is right for |x| <= 2**20,
also next to a multiple; then the Taylor series of either at r. Larger numbers go to the C library.
"""

from __future__ import annotations

import math

from lsp_ad.staging.lantern.compiler.intrinsics import bits_of, chosen, fused
from lsp_ad.staging.lantern.compiler.vectorized import ROUNDER, inlined

LARGEST = 2.0**20
TWO_OVER_PI = 2.0 / math.pi
# pi/2, what it is more, and what both are more.
HALF_PI = float.fromhex("0x1.921fb54442d18p+0")
HALF_PI_MORE = float.fromhex("0x1.1a62633145c07p-54")
HALF_PI_REST = float.fromhex("-0x1.f1976b7ed8fbcp-110")


@inlined
def _reduced(x):
    """The bits of k, of which the lowest are those of k itself, and r."""
    shifted = fused(x, TWO_OVER_PI, ROUNDER)
    k = ROUNDER - shifted
    return bits_of(shifted), fused(k, HALF_PI_REST, fused(k, HALF_PI_MORE, fused(k, HALF_PI, x)))


@inlined
def _of_quadrant(k, r):
    """sin(k pi/2 + r)."""
    z = r * r
    z2 = z * z
    z4 = z2 * z2
    low = fused(z2, fused(z, 1.0 / 362880.0, -1.0 / 5040.0), fused(z, 1.0 / 120.0, -1.0 / 6.0))
    high = fused(
        z2,
        fused(z, 1.0 / 355687428096000.0, -1.0 / 1307674368000.0),
        fused(z, 1.0 / 6227020800.0, -1.0 / 39916800.0),
    )
    sine = fused(r * z, fused(z4, high, low), r)
    low = fused(z2, fused(z, -1.0 / 3628800.0, 1.0 / 40320.0), fused(z, -1.0 / 720.0, 1.0 / 24.0))
    high = fused(
        z2,
        fused(z, -1.0 / 6402373705728000.0, 1.0 / 20922789888000.0),
        fused(z, -1.0 / 87178291200.0, 1.0 / 479001600.0),
    )
    half = 0.5 * z
    rest = 1.0 - half
    cosine = rest + fused(z2, fused(z4, high, low), (1.0 - rest) - half)
    found = chosen((k & 1) == 0, sine, cosine)
    return chosen((k & 2) == 0, found, -found)


@inlined
def sine(x):
    if abs(x) <= LARGEST:
        k, r = _reduced(x)
        return chosen(x == 0.0, x, _of_quadrant(k, r))
    return math.sin(x)


@inlined
def cosine(x):
    if abs(x) <= LARGEST:
        k, r = _reduced(x)
        return _of_quadrant(k + 1, r)
    return math.cos(x)


FUNCTIONS = {f.__name__: f for f in (sine, cosine)}
