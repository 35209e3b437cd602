"""Edits refer to the text before any of them, and must not overlap."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_ad.source.edits import Edit, apply


def test_edits_in_any_order():
    assert apply("abcdef", [Edit(4, 6, "Y"), Edit(0, 1, "X"), Edit(2, 2, "-")]) == "Xb-cdY"


def test_insertions_at_one_place_stand_next_to_each_other():
    assert apply("ab", [Edit(1, 1, "1"), Edit(1, 1, "2")]) == "a12b"


def test_overlapping_edits_are_an_error():
    with pytest.raises(ValueError, match="overlap"):
        apply("abc", [Edit(0, 2, ""), Edit(1, 3, "")])


@given(st.text(max_size=20), st.data())
def test_one_edit_is_a_replacement(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    new = data.draw(st.text(max_size=5))
    assert apply(text, [Edit(start, end, new)]) == text[:start] + new + text[end:]
