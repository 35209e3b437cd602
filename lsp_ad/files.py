"""Reading and writing Python files so that nothing changes but what is meant to."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import shutil
import tempfile
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

SKIPPED = {"__pycache__", "node_modules", "site-packages"}


class Unreadable(Exception):
    """A file that cannot be read as Python text; the message says why."""


@dataclass(frozen=True)
class File:
    """The text of a file, line ends and all, and the encoding its bytes are in."""

    path: str
    text: str
    encoding: str


def read(path: str) -> File:
    """Read a file in the encoding it declares (PEP 263), a byte order mark included in that.

    Raises OSError where there is none to read, Unreadable where its bytes are not text.
    """
    with open(path, "rb") as stream:
        data = stream.read()
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return File(path, data.decode(encoding), encoding)
    except (SyntaxError, UnicodeDecodeError) as error:
        raise Unreadable(f"not a Python text file: {_reason(error)}") from error


def write(file: File, text: str) -> None:
    """Replace the text of a file in one step, or not at all; links, mode and encoding stay as they are.

    Raises OSError where the file cannot be written, Unreadable where its encoding lacks a character.
    """
    try:
        data = text.encode(file.encoding)
    except UnicodeEncodeError as error:
        raise Unreadable(f"the result cannot be written in {file.encoding}: {_reason(error)}") from error
    target = os.path.realpath(file.path)
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(target), prefix=".lsp-ad-")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        shutil.copymode(target, temporary)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def python_files(paths: Iterable[str]) -> Iterator[str]:
    """The files named, and the Python files below the directories named; no hidden ones, no environments."""
    seen = set()
    for path in paths:
        for found in _under(path) if os.path.isdir(path) else [path]:
            if os.path.realpath(found) not in seen:
                seen.add(os.path.realpath(found))
                yield found


def _under(directory: str) -> Iterator[str]:
    for parent, directories, names in os.walk(directory):
        directories[:] = sorted(
            d
            for d in directories
            if not d.startswith(".")
            and d not in SKIPPED
            and not os.path.exists(os.path.join(parent, d, "pyvenv.cfg"))
        )
        for name in sorted(names):
            if name.endswith(".py") and not name.startswith("."):
                yield os.path.join(parent, name)


def _reason(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        line = codecs.decode(error.object[: error.start], "latin-1").count("\n") + 1
        return f"line {line} has a byte that is not {error.encoding.upper()}"
    if isinstance(error, UnicodeEncodeError):
        return f"no character {error.object[error.start]!r}"
    return str(error)
