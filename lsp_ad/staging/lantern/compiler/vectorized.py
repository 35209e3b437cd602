"""Functions of float64 without branches, which LLVM vectorises, to three units in the last place.

exp: x = k ln 2 + r with |r| <= ln 2 / 2, and the Taylor series of e**r. log: x = 2**k m with m near 1, and
the series of the inverse hyperbolic tangent of (m - 1) / (m + 1).
"""

from __future__ import annotations

import math

import numba

from lsp_ad.staging.lantern.compiler.intrinsics import bits_of, chosen, float_of

inlined = numba.njit(error_model="numpy", cache=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)


# Adding this rounds to an integer, which is then in the low bits.
ROUNDER = 1.5 * 2.0**52
ROUNDER_BITS = 0x4338000000000000
LOG2_E = 1.0 / math.log(2.0)
# The first has 32 bits, so that its products with exponents are exact.
LN2_HIGH = float.fromhex("0x1.62e42feep-1")
LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")


@inlined
def _reduced(x):
    """k, as a float and in the bits of one, and e**r - 1 where x = k ln 2 + r."""
    shifted = x * LOG2_E + ROUNDER
    k = shifted - ROUNDER
    r = (x - k * LN2_HIGH) - k * LN2_LOW
    p = 1.0 / 6227020800.0
    p = p * r + 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    return bits_of(shifted) - ROUNDER_BITS, r + (r * r) * p


@inlined
def vector_exp(x):
    # Beyond these the result is infinite or zero; nan stays nan.
    inside = chosen(x > 710.0, 710.0, chosen(x < -746.0, -746.0, x))
    k, rest = _reduced(inside)
    half = k >> 1
    first, second = float_of((half + 1023) << 52), float_of((k - half + 1023) << 52)
    return (1.0 + rest) * first * second


@inlined
def vector_expm1(x):
    k, rest = _reduced(chosen(x > 710.0, 710.0, chosen(x < -40.0, -40.0, x)))
    half = k >> 1
    first, second = float_of((half + 1023) << 52), float_of((k - half + 1023) << 52)
    # 2**k (1 + rest) - 1, with one power of two outside so that the other terms do not overflow.
    found = first * (second * rest + (second - float_of((1023 - half) << 52)))
    return chosen(x == 0.0, x, found)


@inlined
def vector_tanh(x):
    # (e**2x - 1) / (e**2x + 1); where 2x is beyond 44, that is 1.
    y = chosen(x > 22.0, 44.0, chosen(x < -22.0, -44.0, 2.0 * x))
    k, rest = _reduced(y)
    scale = float_of((k + 1023) << 52)
    e = scale * rest + (scale - 1.0)
    return chosen(x == 0.0, x, e / (e + 2.0))


@inlined
def vector_log(x):
    # Subnormal numbers are scaled up by 2**54.
    small = x < 2.2250738585072014e-308
    bits = bits_of(chosen(small, x * 18014398509481984.0, x))
    # The exponent such that what is left is between 1 / sqrt 2 and sqrt 2.
    k = (bits - 0x3FE6A09E667F3BCD) >> 52
    m = float_of(bits - (k << 52))
    n = float_of(k + ROUNDER_BITS) - ROUNDER - chosen(small, 54.0, 0.0)
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    p = 2.0 / 23.0
    p = p * z + 2.0 / 21.0
    p = p * z + 2.0 / 19.0
    p = p * z + 2.0 / 17.0
    p = p * z + 2.0 / 15.0
    p = p * z + 2.0 / 13.0
    p = p * z + 2.0 / 11.0
    p = p * z + 2.0 / 9.0
    p = p * z + 2.0 / 7.0
    p = p * z + 2.0 / 5.0
    p = p * z + 2.0 / 3.0
    half = 0.5 * f * f
    found = n * LN2_HIGH + (f - (half - (s * (half + z * p) + n * LN2_LOW)))
    found = chosen(x == math.inf, x, chosen(x == 0.0, -math.inf, found))
    return chosen(x >= 0.0, found, math.nan)


@inlined
def vector_log1p(x):
    u = 1.0 + x
    # What adding 1 has rounded away counts to first order.
    found = vector_log(u) + (x - (u - 1.0)) / u
    plain = (u <= 0.0) | (x == math.inf)
    return chosen(x == 0.0, x, chosen(plain, vector_log(u), found))


FUNCTIONS = {f.__name__: f for f in (vector_exp, vector_expm1, vector_log, vector_log1p, vector_tanh)}
