"""Errors of staging. Each names the file and the line of the user's code that it is about."""

from __future__ import annotations

import sys

CONVERTED: set[object] = set()
"""The code objects of converted functions; they carry the file and the lines of the user's own text."""


class ConversionError(ValueError):
    """A function cannot be converted; nothing has run. The message names construct, place and way out."""


class StagingError(TypeError):
    """A construct cannot be staged with the values that it was given."""


def user_place(depth: int = 1) -> tuple[str, int]:
    """File and line of the innermost converted function that is running; ("<unknown>", 0) where none is."""
    frame = sys._getframe(depth)
    while frame is not None:
        if frame.f_code in CONVERTED:
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back  # type: ignore[assignment]
    return "<unknown>", 0


def staging_error(message: str, way_out: str = "") -> StagingError:
    """A StagingError at the line that is running now."""
    file, line = user_place(2)
    return StagingError(f"{file}:{line}: {message}{' ' if way_out else ''}{way_out}")
