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
    """The bits of k, of which the lowest are those of k itself, r without its last digits, and r."""
    shifted = fused(x, TWO_OVER_PI, ROUNDER)
    k = ROUNDER - shifted
    most = fused(k, HALF_PI_MORE, fused(k, HALF_PI, x))
    return bits_of(shifted), most, fused(k, HALF_PI_REST, most)


@inlined
def _of_quadrant(k, most, r):
    """sin(k pi/2 + r), by the one series of the two that is needed. `most`: r without its last digits."""
    odd = (k & 1) != 0
    z = most * most
    z2 = z * z
    z4 = z2 * z2
    low = fused(
        z2,
        fused(z, chosen(odd, -1.0 / 3628800.0, 1.0 / 362880.0), chosen(odd, 1.0 / 40320.0, -1.0 / 5040.0)),
        fused(z, chosen(odd, -1.0 / 720.0, 1.0 / 120.0), chosen(odd, 1.0 / 24.0, -1.0 / 6.0)),
    )
    high = fused(
        z2,
        fused(
            z,
            chosen(odd, -1.0 / 6402373705728000.0, 1.0 / 355687428096000.0),
            chosen(odd, 1.0 / 20922789888000.0, -1.0 / 1307674368000.0),
        ),
        fused(
            z,
            chosen(odd, -1.0 / 87178291200.0, 1.0 / 6227020800.0),
            chosen(odd, 1.0 / 479001600.0, -1.0 / 39916800.0),
        ),
    )
    # cos r = 1 - z/2 + z2 p, and 1 - z/2 with what rounding took from it; sin r = r + r z p.
    half = 0.5 * z
    rest = 1.0 - half
    sign = chosen((k & 2) == 0, 1.0, -1.0)
    factor = sign * chosen(odd, z2, most * z)
    # -0.0: a sum with it is what it is, also if that is -0.0
    more = chosen(odd, sign * ((1.0 - rest) - half), -0.0)
    return sign * chosen(odd, rest, r) + fused(factor, fused(z4, high, low), more)


@inlined
def sine(x):
    if abs(x) <= LARGEST:
        k, most, r = _reduced(x)
        return _of_quadrant(k, most, chosen(x == 0.0, x, r))
    return math.sin(x)


@inlined
def cosine(x):
    if abs(x) <= LARGEST:
        k, most, r = _reduced(x)
        return _of_quadrant(k + 1, most, r)
    return math.cos(x)


FUNCTIONS = {f.__name__: f for f in (sine, cosine)}
