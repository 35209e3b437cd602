"""What the compiler knows of one text, each answer computed once."""

from __future__ import annotations

from functools import cached_property

import gast

from lsp_ad.differentiate import Derivative, differentiable_parameters, differentiate, insertion
from lsp_ad.problems import Problem
from lsp_ad.semantics.classes import method_named
from lsp_ad.semantics.linking import link
from lsp_ad.semantics.modules import Files
from lsp_ad.semantics.names import Program
from lsp_ad.server.memo import Answer, Keys, Memo
from lsp_ad.source.document import Document
from lsp_ad.source.edits import Edit
from lsp_ad.source.parse import parse
from lsp_ad.source.positions import LineIndex


class Analysis:
    """What the compiler knows of one text; every answer is computed once.

    `memo` holds answers of earlier versions of the document, `files` the other files of the workspace.
    """

    def __init__(self, document: Document, memo: Memo | None = None, files: Files | None = None):
        self.document = document
        self._files = files
        self._own = Program(parse(document))
        self._linked = link(self._own, files)
        self.program = self._linked.program
        self._keys = Keys(self.program, self._linked.consulted.items())
        self._memo = memo or Memo()
        self._derivatives: dict[tuple, Answer] = {}

    @property
    def syntax_problems(self) -> tuple[Problem, ...]:
        return self.program.parsed.problems

    def derivative(
        self, function: str, wrt: tuple[str | int, ...] | None = None, mode: str = "grad"
    ) -> Answer:
        asked = (function, wrt, mode)
        if asked not in self._derivatives:
            answer = self._memo.get(self._keys, function, asked)
            if answer is None:
                answer = differentiate(self.program, function, wrt, mode)
                self._memo.put(self._keys, function, asked, answer)
            self._derivatives[asked] = answer
        return self._derivatives[asked]

    def parameters(self, function: str) -> tuple[str, ...]:
        """The parameters of a function that may be floats."""
        return differentiable_parameters(self.program, function)

    def insertion(self, derivative: Derivative, helpers: str) -> list[Edit]:
        return insertion(self._own, derivative, helpers)

    @property
    def is_current(self) -> bool:
        """Whether the other files that it depends on are still as they were."""
        return self._files is None or self._linked.is_current(self._files)

    @property
    def depends_on_others(self) -> bool:
        """Whether it asked for any other file, be there one or not."""
        return bool(self._linked.consulted)

    def lines(self, path: str) -> LineIndex | None:
        """The lines of another file that it depends on."""
        return self._files.lines(path) if self._files is not None else None

    def name_at(self, line: int, end_line: int | None = None) -> str | None:
        """The name of the function at one of these lines, or of a method of a class that can be followed."""
        function = self.function_at(line, end_line)
        if function is not None:
            return function.name
        for of in self.program.parsed.module.body:
            for s in of.body if isinstance(of, gast.ClassDef) else ():
                if s.lineno <= (end_line or line) and line <= s.end_lineno:
                    found = method_named(self.program, f"{of.name}.{getattr(s, 'name', '')}")
                    known = found is not None and not found[0].problem and found[1].function is s
                    return f"{of.name}.{s.name}" if known else None
        return None

    def function_at(self, line: int, end_line: int | None = None) -> gast.FunctionDef | None:
        """The first top-level function that has one of these lines, decorators included."""
        for function in self.program.functions.values():
            first = min([function.lineno, *(d.lineno for d in function.decorator_list)])
            if first <= (end_line or line) and line <= function.end_lineno:
                return function
        return None

    @cached_property
    def is_numeric(self) -> bool:
        """Whether the file imports a library of numbers at all."""
        roots = {canonical.split(".")[0] for canonical in self.program.imports.values()}
        return bool(roots & {"numpy", "math", "scipy", "jax", "autograd"})
