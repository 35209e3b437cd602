"""Functions of other files, brought into a program in its own names.

A linked function is the text of the function where it stands, with each name that it takes from its
file replaced by what stands for the same thing in the file in question: `np` by the alias that that file
uses, a function or a constant of the other file by what it is imported as. Where nothing is imported
that says it, an import is noted for generated code to add. The text goes below that of the program, so
that positions, comments and the user's own lines are treated as ever; `Program.home` says where it is from.
"""

from __future__ import annotations

import builtins
import os
import re
from collections.abc import Iterable, Set
from dataclasses import dataclass, replace

import gast

from lsp_ad.semantics.modules import LIBRARIES, Files, Module, Modules, Target, Unresolved, foreign_names
from lsp_ad.semantics.names import HERE, Home, Links, Program, imported, joined, local_imports
from lsp_ad.semantics.references import dotted, references, words
from lsp_ad.source.document import Document
from lsp_ad.source.edits import Edit, apply
from lsp_ad.source.parse import Parsed, parse

_NO_WORDS = "cannot be expressed in the names of this file"


@dataclass(frozen=True)
class Linked:
    """A program with what its functions take from other files, and every text that was asked for.

    `consulted`: by name and importing file, the text of the module, None where there is none. `sources`: the
    file and the name of each linked function, by its name in the program.
    """

    program: Program
    consulted: dict[tuple[str, str], str | None]
    sources: dict[str, tuple[str, str]]

    def is_current(self, files: Files) -> bool:
        """Whether all modules, and the settings, still have the texts that they had."""
        if files.settings(self.program.parsed.document.path) != self.program.settings:
            return False
        for (name, importer), text in self.consulted.items():
            try:
                now: str | None = files.module(name, importer).text
            except Unresolved:
                now = None
            if now != text:
                return False
        return True


def _imports_more(definition: gast.stmt) -> bool:
    """Whether a function or class itself imports what may be a file of a workspace."""
    return any(
        canonical.startswith(".") or canonical.split(".")[0] not in LIBRARIES
        for s in gast.walk(definition)
        if isinstance(s, (gast.Import, gast.ImportFrom))
        for canonical in imported(s).values()
    )


def link(program: Program, files: Files | None) -> Linked:
    """The program with its settings, and the functions of other files that it calls, directly or not."""
    if files is not None:
        program = replace(program, settings=files.settings(program.parsed.document.path))
    foreign = foreign_names(program)
    inner = any(_imports_more(f) for f in program.functions.values())
    if files is None or not (foreign or inner):
        return Linked(program, {}, {})
    linker = _Linker(program, files)
    linker.run(foreign)
    return Linked(linker.finished(), linker.modules.consulted, linker.sources)


class _Linker:
    def __init__(self, program: Program, files: Files):
        self.links = Links()
        self.program = replace(program, links=self.links)
        self.modules = Modules(program, files)
        self.start = self.modules.start
        self.parsed = program.parsed
        self.text = program.parsed.document.text
        self.comments = dict(program.parsed.comments)
        self.sources: dict[str, tuple[str, str]] = {}
        self.linked: dict[tuple[str, str], str] = {}
        self.targets: dict[str, Target] = {}  # what the file's own imports stand for

    def run(self, foreign: Set[str]) -> None:
        for alias in sorted(foreign):
            try:
                self.targets[alias] = self.modules.resolve(self.start, self.program.imports[alias])
            except Unresolved as error:
                self.links.reasons[self.program.imports[alias]] = str(error)
                continue
            if self.targets[alias].library:
                self.links.libraries[alias] = self.targets[alias].library
        classes = [s for s in self.program.parsed.module.body if isinstance(s, gast.ClassDef)]
        pending: list[gast.stmt] = [*self.program.functions.values(), *classes]
        while pending:
            statement = pending.pop()
            for node, local in references(statement, annotations=True):
                pending += self._referenced(self.program.canonical(part, local) for part in dotted(node))
            if isinstance(statement, gast.FunctionDef) and (imports := local_imports(statement)):
                paths = [words(n) for n in gast.walk(statement) if isinstance(n, (gast.Name, gast.Attribute))]
                inner = [".".join([imports[p[0]], *p[1:]]) for p in paths if p and p[0] in imports]
                pending += self._referenced(inner)

    def _referenced(self, canonical: Iterable[str | None]) -> list[gast.stmt]:
        return [new for name in canonical if (new := self._reference(name)) is not None]

    def finished(self) -> Program:
        document = replace(self.parsed.document, text=self.text)
        return replace(self.program, parsed=Parsed(document, self.parsed.module, self.comments))

    def _reference(self, canonical: str | None) -> gast.stmt | None:
        """Note what a canonical name stands for; the function or class, if it is one that is new here."""
        links = self.links
        if canonical is None or canonical.startswith((HERE, "builtins.")):
            return None
        if canonical in links.targets or canonical in links.values or canonical in links.reasons:
            return None
        if canonical.split(".")[0] in LIBRARIES:
            return None
        try:
            target = self.modules.resolve(self.start, canonical)
            if target.module is None or not target.name:
                return None
            if target.key in self.linked:
                links.targets[canonical] = self.linked[target.key]
                return None
            if target.definition is None:
                value = target.module.program.constants.get(target.name)
                if value is None:
                    raise Unresolved(f"{target.module.label} does not define `{target.name}` exactly once")
                self.links.values[canonical] = value
                return None
            if self.modules.is_start(target.module):
                self.links.targets[canonical] = target.name
                return None
            return self._adopt(canonical, target)
        except Unresolved as error:
            self.links.reasons[canonical] = str(error)
            return None

    # --- a function ---------------------------------------------------------------------------

    def _adopt(self, canonical: str, target: Target) -> gast.stmt:
        module, definition = target.module, target.definition
        assert module is not None and definition is not None
        name = self._unique(module, target.name)
        document = module.program.parsed.document
        first = min([definition.lineno, *(d.lineno for d in getattr(definition, "decorator_list", ()))])
        text = _Expression(self, module, definition).text(first, name)
        if self.text and not self.text.endswith(("\n", "\r")):
            self.text += "\n"
        piece = parse(Document(text, document.path))
        if piece.problems or not piece.module.body:
            raise Unresolved(f"`{target.name}` of {module.label} {_NO_WORDS}")
        below = len(Document(self.text).lines) - 1
        self.text += text
        for node in gast.walk(piece.module):
            if hasattr(node, "lineno"):
                node.lineno += below
                node.end_lineno += below
        self.comments.update(
            {c.line + below: replace(c, line=c.line + below) for c in piece.comments.values()}
        )
        adopted = piece.module.body[0]
        self.links.homes.append(Home(below + 1, below + text.count("\n"), document.path, first))
        if isinstance(adopted, gast.FunctionDef):
            self.links.functions[name] = adopted
        else:
            self.links.classes[name] = adopted
            self.links.called[name] = self.expressed(target, frozenset())
        self.links.targets[canonical] = self.linked[target.key] = name
        self.sources[name] = target.key
        return adopted

    def _unique(self, module: Module, name: str) -> str:
        taken = {*self.program.functions, *self.links.functions, *self.links.classes}
        stem = os.path.splitext(os.path.basename(module.path))[0]
        names = [name, f"{stem}_{name}", *(f"{stem}_{name}{n}" for n in range(2, len(taken) + 3))]
        return next(n for n in names if n not in taken)

    # --- names --------------------------------------------------------------------------------

    def expressed(self, target: Target, local: Set[str], plain: bool = False) -> str:
        """What stands for a target in the file in question; `plain`: without dots. Raises Unresolved."""
        if target.library:
            return self._library(target.library, local)
        module = target.module
        assert module is not None
        if self.modules.is_start(module) and target.name not in local:
            return target.name
        for alias, known in self.targets.items():
            if alias not in local and known.key == target.key:
                return alias
        for alias, known in self.targets.items():
            if plain or alias in local or known.module is None or known.name:
                continue
            if known.key[0] == module.path:
                return f"{alias}.{target.name}"
        if not module.name or not self.modules.importable(module):
            raise Unresolved(f"{module.label} cannot be imported by a name that is known here")
        canonical, line = joined(module.name, target.name), f"from {module.name} import {target.name}"
        return self._new(target.name, canonical, line, local)

    def _library(self, canonical: str, local: Set[str]) -> str:
        if canonical.startswith("builtins."):
            name = canonical.removeprefix("builtins.")
            if self.program.canonical(gast.Name(name, gast.Load(), None, None), local) != canonical:
                raise Unresolved(f"`{name}` is a built-in function there, and something else here")
            return name
        known = {a: self.links.libraries.get(a, c) for a, c in self.program.imports.items()}
        known |= {a: c for a, (c, _) in self.links.imports.items()}
        within = [
            (a, c) for a, c in known.items() if a not in local and (canonical + ".").startswith(c + ".")
        ]
        if within:
            alias, meant = max(within, key=lambda pair: len(pair[1]))
            return alias + canonical[len(meant) :]
        root, _, rest = canonical.partition(".")
        if root == "numpy":
            return self._new("np", "numpy", "import numpy as np", local) + ("." + rest if rest else "")
        if not rest:
            return self._new(root, root, f"import {root}", local)
        module, _, name = canonical.rpartition(".")
        return self._new(name, canonical, f"from {module} import {name}", local)

    def _new(self, name: str, canonical: str, line: str, local: Set[str]) -> str:
        known = self.links.imports.get(name)
        if known == (canonical, line) and name not in local:
            return name
        if known or name in local or name in self.program.bound or hasattr(builtins, name):
            raise Unresolved(f"the name `{name}` stands for something else here")
        self.links.imports[name] = (canonical, line)
        return name


class _Expression:
    """The text of a function or class of another module in the names of the file in question."""

    def __init__(self, linker: _Linker, module: Module, definition: gast.stmt):
        self.linker = linker
        self.module = module
        self.definition = definition

    def text(self, first: int, name: str) -> str:
        """The lines of the definition from line `first`, under a name."""
        definition, document = self.definition, self.module.program.parsed.document
        if _imports_more(definition):
            raise Unresolved(f"a function or class of {self.module.label} has imports of its own")
        lines = document.lines
        margin = lines.starts[first - 1]
        edits = {}
        decorators = getattr(definition, "decorator_list", ())
        rules = {id(a) for d in decorators if isinstance(d, gast.Call) for a in d.args}
        sure = {id(node) for node, _ in references(definition)}
        is_class = isinstance(definition, gast.ClassDef)
        for node, local in references(definition, annotations=is_class):
            try:
                part, replacement = self._replacement(node, local, id(node) in rules)
            except Unresolved:
                if id(node) in sure:
                    raise
                continue  # an annotation says nothing then
            start = lines.offset(part.lineno, part.col_offset)
            end = lines.offset(part.end_lineno, part.end_col_offset)
            written = document.text[start:end]
            if written == replacement:
                continue
            meant = ".".join(words(part))
            if re.sub(r"[\s\\()]", "", written) != meant:
                # before Python 3.12 the names in an f-string have no places of their own
                raise Unresolved(f"`{meant}` of {self.module.label} {_NO_WORDS}")
            edits[start] = Edit(start, end, replacement)
        header = lines.offset(definition.lineno, definition.col_offset)
        match = re.compile(r"(?:(?:def|class)\s+)?(\w+)").match(document.text, header)
        assert match is not None
        edits[match.start(1)] = Edit(match.start(1), match.end(1), name)
        end = lines.offset(definition.end_lineno, len(lines.line(definition.end_lineno)))
        moved = [Edit(e.start - margin, e.end - margin, e.text) for e in edits.values()]
        return re.sub(r"\r\n|\r", "\n", apply(document.text[margin:end], moved)) + "\n"

    def _replacement(self, node: gast.expr, local: Set[str], plain: bool) -> tuple[gast.expr, str]:
        """The piece of a dotted name that stands for something as a whole, and what stands for that here."""
        program = self.module.program
        parts = dotted(node)
        root = parts[0].id
        if root not in program.bound:
            if program.has_star_import or not hasattr(builtins, root):
                raise Unresolved(f"it cannot be told what `{root}` is in {self.module.label}")
            return parts[0], self.linker.expressed(Target(None, library=f"builtins.{root}"), local)
        if root not in program.imports:
            target = self.linker.modules.resolve(self.module, HERE + root)
            self._constant(target)
            return parts[0], self.linker.expressed(target, local, plain)
        canonical = program.imports[root]
        target = self.linker.modules.resolve(self.module, canonical)
        for position, part in enumerate(parts):
            if position:
                canonical += f".{part.attr}"
                target = self.linker.modules.resolve(self.module, canonical)
            if target.library or target.name:
                self._constant(target)
                return part, self.linker.expressed(target, local, plain)
        raise Unresolved(f"`{canonical}` is a module, and used as a value in {self.module.label}")

    def _constant(self, target: Target) -> None:
        """A value of a module may only be taken from elsewhere if it never changes."""
        if target.module is None or target.definition is not None:
            return
        if target.name not in target.module.program.constants:
            raise Unresolved(f"`{target.name}` of {target.module.label} is assigned more than once")
