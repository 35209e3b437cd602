"""Edits of a text, in offsets, and how they are applied."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Edit:
    """Replace text[start:end] by `text`; an insertion where start == end."""

    start: int
    end: int
    text: str


def apply(text: str, edits: Iterable[Edit]) -> str:
    """The text after all edits, which refer to the text before and must not overlap.

    >>> apply("abc", [Edit(0, 1, "x"), Edit(3, 3, "!")])
    'xbc!'
    """
    done, last = [], 0
    for edit in sorted(edits):
        if edit.start < last:
            raise ValueError("edits overlap")
        done += [text[last : edit.start], edit.text]
        last = edit.end
    return "".join(done) + text[last:]
