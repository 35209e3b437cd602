"""Other files of the workspace: which file a module is, and what a name of it stands for.

Files are read as text, through `Files`, by whoever calls the compiler: from the disk, from the open
buffers of an editor, or where the running interpreter has loaded its modules from. Nothing is imported.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass

import gast

from lsp_ad.semantics.names import HERE, Program, imported, joined
from lsp_ad.source.document import Document
from lsp_ad.source.parse import parse
from lsp_ad.source.positions import LineIndex

# Modules that are no files of anybody's workspace: what is known of them stands in the rules.
LIBRARIES = frozenset(sys.stdlib_module_names) | {
    *("numpy", "scipy", "jax", "jaxlib", "autograd", "tensorflow", "torch", "pandas", "matplotlib"),
    *("sklearn", "numba", "pytest", "hypothesis", "typing_extensions", "numpy_typing", "jaxtyping", "lsp_ad"),
}


# Where settings stand, and what the text has in it if there are any.
SETTINGS = (("lsp-ad.toml", ""), ("pyproject.toml", "tool.lsp-ad"))


def foreign_names(program: Program) -> set[str]:
    """The names that a file imports from what may be files of the workspace."""
    return {
        alias
        for alias, canonical in program.imports.items()
        if canonical.startswith(".") or canonical.split(".")[0] not in LIBRARIES
    }


class Unresolved(Exception):
    """A module cannot be read, or a name of it cannot be told; the message says why."""


class NotFound(Unresolved):
    """There is no file of a module."""


class Files:
    """The files of a workspace, as text. Programs are kept for as long as the texts are the same."""

    def __init__(self) -> None:
        self._programs: dict[str, Program] = {}

    def module(self, name: str, importer: str) -> Document:
        """The text of the module that a file means by a name (`.a.b` for a relative one).

        A package without `__init__.py` has an empty text. Raises NotFound where there is none, Unresolved
        where it cannot be told which one, or it cannot be read.
        """
        raise NotImplementedError

    def identity(self, path: str) -> str:
        """One name for each file, by whatever path or URI it is called."""
        return path

    def text(self, path: str) -> str | None:
        """The text of a file; None where there is none."""
        return None

    def settings(self, path: str) -> Document | None:
        """The settings that hold for a file: those that stand nearest above it."""
        path = self.identity(path)
        directory = os.path.dirname(path) if os.path.isabs(path) else ""
        while directory:
            for name, mark in SETTINGS:
                text = self.text(os.path.join(directory, name))
                if text is not None and mark in text:
                    return Document(text, os.path.join(directory, name))
            above = os.path.dirname(directory)
            directory = above if above != directory else ""
        return None

    def program(self, document: Document) -> Program:
        known = self._programs.get(document.path)
        if known is None or known.parsed.document.text != document.text:
            known = self._programs[document.path] = Program(parse(document))
        return known

    def lines(self, path: str) -> LineIndex | None:
        """The lines of a file as it was when it was last read."""
        known = self._programs.get(path)
        return known.parsed.document.lines if known else None


@dataclass(frozen=True)
class Module:
    """A module: its text, the name by which the file in question can import it, whether it is a package."""

    program: Program
    name: str

    @property
    def path(self) -> str:
        return self.program.parsed.document.path

    @property
    def label(self) -> str:
        """The last part of the path, for people."""
        parts = self.path.replace("\\", "/").split("/")
        return "/".join(parts[-2:]) if self.is_package else parts[-1]

    @property
    def is_package(self) -> bool:
        return self.path.replace("\\", "/").endswith("/__init__.py")

    def absolute(self, canonical: str) -> str:
        """The canonical name that a name of this module has in the file in question. Raises Unresolved."""
        if not canonical.startswith(".") or not self.name:
            return canonical
        level, dots = _dots(canonical), _dots(self.name)
        parts = [p for p in self.name[dots:].split(".") if p]
        if not self.is_package:
            del parts[-1:]
        for _ in range(level - 1):
            if parts:
                del parts[-1:]
            elif dots:
                dots += 1
            else:
                raise Unresolved(f"`{canonical}` leads out of the package of {self.label}")
        if not parts and not dots:
            raise Unresolved(f"`{canonical}` leads out of the package of {self.label}")
        return "." * dots + ".".join([*parts, *filter(None, [canonical[level:]])])


@dataclass(frozen=True)
class Target:
    """What a name stands for: a module, a function or another name of a module, or something of a library.

    `name` is empty for a module; `library` is a canonical name, in place of a module.
    """

    module: Module | None
    name: str = ""
    library: str = ""

    @property
    def key(self) -> tuple[str, str]:
        return (self.module.path, self.name) if self.module else ("", self.library)

    @property
    def definition(self) -> gast.stmt | None:
        """The function or class (a call of `namedtuple` makes one), if it is defined exactly once."""
        if self.module is None:
            return None
        program = self.module.program
        if self.name in program.functions:
            return program.functions[self.name]
        bindings = program.bindings(self.name)
        if len(bindings) == 1 and (isinstance(bindings[0], gast.ClassDef) or self._is_tuple(bindings[0])):
            return bindings[0]
        return None

    def _is_tuple(self, s: gast.AST) -> bool:
        assert self.module is not None
        return (
            isinstance(s, gast.Assign)
            and isinstance(s.value, gast.Call)
            and self.module.program.canonical(s.value.func) == "collections.namedtuple"
        )


class Modules:
    """The modules around one program; every file that was asked for is noted in `consulted`."""

    def __init__(self, program: Program, files: Files):
        self.files = files
        self.start = Module(program, "")
        self.consulted: dict[tuple[str, str], str | None] = {}
        self._found: dict[tuple[str, str], Module | Unresolved] = {}
        self._resolved: dict[tuple[str, str], Target | Unresolved] = {}

    def resolve(self, module: Module, canonical: str) -> Target:
        """What a canonical name stands for in a module. Raises Unresolved."""
        return self._kept(self._resolved, (module.path, canonical), lambda: self._resolve(module, canonical))

    def is_start(self, module: Module) -> bool:
        path = self.start.path
        return module.path == path or self.files.identity(module.path) == self.files.identity(path)

    def importable(self, module: Module) -> bool:
        """Whether the file in question gets this very module by the name that it has."""
        try:
            return self._module(self.start, module.name, module.name).path == module.path
        except Unresolved:
            return False

    def _kept(self, table: dict, key: tuple, make: Callable):
        if key not in table:
            # for whoever asks while it is worked out
            table[key] = Unresolved(f"`{key[1]}` leads back to itself")
            try:
                table[key] = make()
            except Unresolved as error:
                table[key] = error
        if isinstance(table[key], Unresolved):
            raise table[key]
        return table[key]

    def _resolve(self, module: Module, canonical: str) -> Target:
        if canonical.startswith(HERE):
            return self._member(module, canonical[len(HERE) :])
        level = _dots(canonical)
        parts = canonical[level:].split(".")
        if not level and parts[0] in LIBRARIES:
            return Target(None, library=canonical)
        written = canonical[:level] + ("" if level else parts.pop(0))
        found = Target(self._module(module, written, module.absolute(written)))
        for part in filter(None, parts):
            if found.module is None:
                found = Target(None, library=f"{found.library}.{part}")
            elif found.name:
                raise Unresolved(f"`{found.name}` of {found.module.label} is no module")
            else:
                found = self._member(found.module, part, part is not parts[-1])
        return found

    def _member(self, module: Module, name: str, is_module: bool = False) -> Target:
        """A name of a module: what its text binds, or a module in it where it is a package.

        `is_module`: it can only be a module, since something of it is wanted.
        """
        program = module.program
        inner = self._inner(module, name)
        if name not in program.bound:
            if inner is not None:
                return Target(inner)
            star = " by its own name; a star import may bind it" if program.has_star_import else ""
            raise Unresolved(f"{module.label} does not define `{name}`{star}")
        meant = program.imports.get(name)
        if inner is not None and not (
            # an import from the module itself comes after that was bound; else the last one would count
            meant and (meant.startswith(f".{name}.") or self.resolve(module, meant).key == Target(inner).key)
        ):
            raise Unresolved(f"{module.label} defines `{name}`, and {inner.label} has that name too")
        if inner is not None and is_module:
            return Target(inner)
        if meant:
            return self.resolve(module, meant)
        if any(imported(s) for s in program.bindings(name)):
            raise Unresolved(f"{module.label} binds `{name}` more than once, or under a condition")
        return Target(module, name)

    def _inner(self, module: Module, name: str) -> Module | None:
        """The module of that name in a package."""
        if not module.is_package:
            return None
        try:
            return self._module(module, f".{name}", joined(module.name, name))
        except NotFound:
            return None

    def _module(self, importer: Module, written: str, name: str) -> Module:
        return self._kept(self._found, (importer.path, written), lambda: self._read(importer, written, name))

    def _read(self, importer: Module, written: str, name: str) -> Module:
        asked = (written, importer.path)
        try:
            document = self.files.module(written, importer.path)
        except Unresolved:
            self.consulted[asked] = None
            raise
        self.consulted[asked] = document.text
        program = self.files.program(document)
        if program.parsed.problems:
            first = program.parsed.problems[0]
            place = f"{Module(program, name).label} does not parse: line {first.span.line}"
            raise Unresolved(f"{place}: {first.message}")
        module = Module(program, name)
        return self.start if self.is_start(module) else module


def _dots(name: str) -> int:
    return len(name) - len(name.lstrip("."))
