"""Objects are taken apart into their fields: a function of an object becomes one of what it reads of it.

Before:                                     After:
    class Layer:                                def Layer_apply(w, b, x):
        def apply(self, x):                         return x @ w + b
            return x @ self.w + self.b
                                                def f(layer, x):     # w, b stand for layer.w, layer.b
    def f(layer: Layer, x):                         return np.sum(Layer_apply(w, b, x))
        return np.sum(layer.apply(x))

Where an object is made in the function (`p = Point(x, y)`) its fields become names of their own: `p_x`,
`p_y`. Whatever else is done with an object as a whole is refused (AD404).
"""

from __future__ import annotations

import builtins
from dataclasses import dataclass, field, replace

import gast

from lsp_ad.differentiate.normal.paths import Path, Step
from lsp_ad.differentiate.objects.frames import Frame
from lsp_ad.differentiate.objects.places import CLASS_VARIABLE
from lsp_ad.differentiate.objects.results import Apart
from lsp_ad.problems import Refusal, problem
from lsp_ad.semantics.classes import Class, Method, called, class_of, has_classes
from lsp_ad.semantics.names import Program, parameters
from lsp_ad.source.parse import span_of

ROUNDS = 20  # until what recursive functions read of an object is known


@dataclass(eq=False)
class Version:
    """A function for arguments of known classes.

    `reads`: what it reads of its parameters, the name of each and what its class says of it. `relied`: what
    must be of exactly this class, because a method of it is called. `returns`: the class of its result.
    """

    function: gast.FunctionDef
    classes: dict[str, Class]
    method: Method | None
    own: Class | None
    name: str
    reads: dict[tuple[str, tuple[str, ...]], tuple[str, gast.expr | None]] = field(default_factory=dict)
    relied: dict[tuple[str, tuple[str, ...]], Class] = field(default_factory=dict)
    returns: Class | None = None
    made: gast.FunctionDef | None = None
    settled: bool = False


def take_apart(
    program: Program, function: gast.FunctionDef, own: Class | None = None, method: Method | None = None
) -> tuple[Program, Apart]:
    """The program in which a function, and what it calls, has no objects of known classes any more.

    `own` and `method`: the function is a method of that class. Raises Refusal.
    """
    if not has_classes(program):
        return program, Apart()
    taker = Taker(program)
    classes = taker.annotated(function)
    if method is not None and own is not None and method.kind in ("method", "property"):
        classes[parameters(function)[0]] = own
    entry = Version(function, classes, method, own, function.name)
    taker.settle(entry, is_entry=True)
    versions = [v for v in taker.versions.values() if v.made is not None]
    if not versions and entry.made is None and method is None:
        return program, Apart()
    made = {v.name: v.made for v in versions if v.made is not None}
    # a function that was lifted before keeps the text that it comes from; a method has its own
    texts = program.written
    written: dict[str, gast.AST] = {
        v.name: v.function if v.method else texts.get(v.function.name, v.function) for v in versions
    }
    made[entry.name], written[entry.name] = entry.made or function, texts.get(function.name, function)
    apart = Apart(
        {name: (_path(*key), known) for key, (name, known) in entry.reads.items()},
        frozenset(name for name, known in entry.reads.values() if known is CLASS_VARIABLE),
        f"{own.name}.{method.function.name}" if own is not None and method is not None else "",
        classes,
        lambda says: class_of(program, says),
        {_path(*key): called(program, c) for key, c in entry.relied.items()},
        lambda of: called(program, of),
    )
    return replace(program, made={**program.made, **made}, written={**written, **program.written}), apart


def _path(parameter: str, steps: tuple[str, ...]) -> Path:
    return Path(parameter, tuple(Step(s) for s in steps))


class Taker:
    """All versions of functions that are reached from one."""

    def __init__(self, program: Program):
        self.program = program
        self.versions: dict[tuple, Version] = {}
        self.active: list[Version] = []
        self.waiting: set[int] = set()
        self.taken = {*program.bound, *program.functions, *program.links.functions, *dir(builtins)}

    def annotated(self, function: gast.FunctionDef) -> dict[str, Class]:
        """The parameters that are annotated with a class."""
        a = function.args
        found = {p.id: class_of(self.program, p.annotation) for p in (*a.posonlyargs, *a.args, *a.kwonlyargs)}
        return {p: c for p, c in found.items() if c is not None}

    def version(
        self, function: gast.FunctionDef, classes: dict[str, Class], method: Method | None, own: Class | None
    ) -> Version:
        """The version of a function for arguments of these classes, as far as it is known."""
        of = tuple(sorted((p, c.name) for p, c in classes.items()))
        key = (id(function), of, own.name if own is not None else "")
        known = self.versions.get(key)
        if known is None:
            title = f"{own.name}_{function.name.strip('_')}" if own is not None else function.name
            known = self.versions[key] = Version(function, classes, method, own, self.unique(title))
        if known in self.active:
            self.waiting.add(id(known))
        elif not known.settled:
            self.settle(known)
        return known

    def settle(self, version: Version, is_entry: bool = False) -> None:
        """Rewrite a function, again where it calls itself, until no more is read of its objects."""
        self.active.append(version)
        for _ in range(ROUNDS):
            before = (len(version.reads), len(version.relied), version.returns)
            frame = Frame(self, version, is_entry)
            frame.run()
            if id(version) not in self.waiting:
                break
            if (len(version.reads), len(version.relied), version.returns) == before:
                break
        else:
            message = f"`{version.function.name}` calls itself for ever more of an object."
            raise Refusal(problem("AD404", message, span_of(version.function)))
        self.active.pop()
        self.waiting.discard(id(version))
        # what was found while another function was not known yet is found again
        version.settled = not self.waiting
        version.made = frame.function if frame.changed else None

    def unique(self, wanted: str) -> str:
        chosen, number = wanted, 2
        while chosen in self.taken:
            chosen, number = f"{wanted}{number}", number + 1
        self.taken.add(chosen)
        return chosen
