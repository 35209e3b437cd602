"""Reading and writing Python files so that nothing changes but what is meant to; the files of a workspace."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import shutil
import tempfile
import tokenize
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from lsp_ad.semantics.modules import Files, NotFound, Unresolved
from lsp_ad.source.document import Document

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


class Workspace(Files):
    """The files on the disk, as a program that starts in one of them would import them.

    A module is looked for where Python would for a file that is run or tested: in its directory, or in the
    one around its outermost package; then in the `roots` of the workspace and their `src` directories,
    where it must be the only one of its name. `opened` gives the text of a file that an editor has open.
    """

    def __init__(self, roots: Iterable[str] = (), opened: Callable[[str], str | None] | None = None):
        super().__init__()
        self._roots = tuple(roots)
        self._opened = opened or (lambda path: None)
        self._read: dict[str, tuple[tuple[int, int], Document]] = {}

    def roots(self) -> Iterable[str]:
        return self._roots

    def identity(self, path: str) -> str:
        return os.path.realpath(path)

    def text(self, path: str) -> str | None:
        try:
            return self._document(path).text if self._is_file(path) else None
        except Unresolved as error:
            return f"# {error}\n?"

    def module(self, name: str, importer: str) -> Document:
        level = len(name) - len(name.lstrip("."))
        parts = [p for p in name[level:].split(".") if p]
        if level:
            around = self._directory(importer)
            for _ in range(level - 1):
                around = os.path.dirname(around)
            found = self._module_in(around, parts)
        else:
            start = self._start(importer)
            found = self._module_in(start, parts) if start else None
            if found is None:
                roots = [os.path.join(r, d) for r in self.roots() for d in ("", "src")]
                others = dict.fromkeys(p for r in roots if (p := self._module_in(os.path.realpath(r), parts)))
                if len(others) > 1:
                    raise Unresolved(f"there is more than one module `{name}`: {' and '.join(others)}")
                found = next(iter(others), None)
        if found is None:
            raise NotFound(f"no file of the module `{name}` was found in the workspace")
        return self._document(found)

    def _directory(self, path: str) -> str:
        path = self.identity(path)
        if not os.path.isabs(path):
            raise NotFound(f"{path} is no file, and no module is around it")
        return os.path.dirname(path)

    def _start(self, importer: str) -> str:
        try:
            around = self._directory(importer)
        except NotFound:
            return ""
        while self._is_file(os.path.join(around, "__init__.py")) and os.path.dirname(around) != around:
            around = os.path.dirname(around)
        return around

    def _module_in(self, directory: str, parts: list[str]) -> str | None:
        """The file of a module below a directory; for a package its `__init__`, be there one or not."""
        path = os.path.join(directory, *parts)
        package = os.path.join(path, "__init__.py")
        if self._is_file(package):
            return os.path.realpath(package)
        if parts and self._is_file(path + ".py"):
            return os.path.realpath(path + ".py")
        return os.path.realpath(package) if os.path.isdir(path) else None

    def _is_file(self, path: str) -> bool:
        return os.path.isfile(path) or self._opened(os.path.realpath(path)) is not None

    def _document(self, path: str) -> Document:
        opened = self._opened(path)
        if opened is not None:
            return Document(opened, path)
        try:
            facts = os.stat(path)
        except OSError:
            return Document("", path)  # a package without a file of its own
        stamp = (facts.st_mtime_ns, facts.st_size)
        if path not in self._read or self._read[path][0] != stamp:
            try:
                self._read[path] = (stamp, Document(read(path).text, path))
            except (OSError, Unreadable) as error:
                raise Unresolved(f"{path} cannot be read: {error}") from error
        return self._read[path][1]


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
