"""Rewriting of expressions: the same values, for NaN and infinities too, and fewer signs and ones."""

from __future__ import annotations

import math
import re

import gast
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsp_ad.simplify.algebra import expression, normalize, substitute
from lsp_ad.source.printing import expression_text, tidy

pytestmark = pytest.mark.row("T25")

NUMBERS = [0.0, -0.0, 1.0, -1.0, 2.0, 0.3, -1.75, 1e10, math.inf, -math.inf, math.nan]


def combined(inner):
    pairs = st.tuples(inner, st.sampled_from(["+", "-", "*", "/"]), inner)
    return pairs.map(lambda p: f"({p[0]} {p[1]} {p[2]})") | inner.map(lambda e: f"(-{e})")


atoms = st.sampled_from(["a", "b", "c", "1.0", "1", "2.0", "np.sin(a)"])
expressions = st.recursive(atoms, combined, max_leaves=8)
values = st.fixed_dictionaries({n: st.sampled_from(NUMBERS).map(np.float64) for n in "abc"})


def value(text: str, names: dict) -> np.float64:
    with np.errstate(all="ignore"):
        return np.float64(eval(text, {"np": np}, names))


def safe(text: str) -> str:
    """Constants as NumPy numbers, which divide by zero without an error."""
    return re.sub(r"\b[12](\.0)?\b", r"np.float64(\g<0>)", text)


@given(expressions, values)
@settings(max_examples=300, deadline=None)
def test_normalizing_changes_no_value(text, names):
    want = value(safe(text), names)
    got = value(safe(expression_text(normalize(expression(text)))), names)
    assert np.array_equal(got, want, equal_nan=True)


@given(expressions, values)
@settings(max_examples=300, deadline=None)
def test_printing_a_minus_at_its_first_factor_changes_no_value(text, names):
    want = value(safe(text), names)
    got = value(safe(expression_text(tidy(expression(text)))), names)
    assert np.isclose(got, want, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("-(-d * p) * 1.0 + -q", "d * p - q"),
        ("d * 1.0", "d"),
        ("1 * d", "d"),
        ("d / 1", "d"),
        ("d * 0.5 / r / n * 2.0 * x", "d / r / n * x"),
        ("d * 3 * x * 0.1", "d * 0.3 * x"),
        ("2.0 * d * x * 3.0", "6.0 * d * x"),
        ("d * 2000.5 * x * 2.0", "d * 2000.5 * x * 2.0"),
        ("d * 0.0 * x * 2.0", "d * 0.0 * x * 2.0"),
        ("(d * 2.0 + x) * 0.5", "(d * 2.0 + x) * 0.5"),
        ("d * 2.0 @ x * 0.5", "d * 2.0 @ x * 0.5"),
        ("-a + b", "b - a"),
        ("a - -b", "a + b"),
        ("a + np.sum(-b, axis=0)", "a - np.sum(b, axis=0)"),
        ("a + x.sum(-b)", "a + x.sum(-b)"),
        ("2 * d * x * 3", "6 * d * x"),
        ("a + unbroadcast(-b, x)", "a - unbroadcast(b, x)"),
        ("-a * -b", "a * b"),
        ("a * -b", "-(a * b)"),
        ("a @ -b", "-(a @ b)"),
        ("a * 0.0", "a * 0.0"),
        ("a + 0.0", "a + 0.0"),
        ("a - a", "a - a"),
        ("True * a", "True * a"),
    ],
)
def test_rewrites(before, after):
    assert expression_text(normalize(expression(before))) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [("-(a * b)", "-a * b"), ("-(a * b / c)", "-a * b / c"), ("-(a + b)", "-(a + b)"), ("-a**2", "-a ** 2")],
)
def test_a_minus_is_printed_as_one_writes_it(before, after):
    assert expression_text(tidy(expression(before))) == after


def test_substituting_replaces_reads_only():
    tree = gast.parse("a = a + b[a]")
    substitute(tree, {"a": expression("x * y")})
    assert expression_text(tree) == "a = x * y + b[x * y]"


def test_each_substituted_value_is_a_tree_of_its_own():
    replaced = substitute(expression("a + a"), {"a": expression("x")})
    assert replaced.left is not replaced.right
