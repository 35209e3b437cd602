"""The functions of a file that run while they are traced, each with the flow of origins through it.

A staged function is traced, and so is what it calls: calls are followed through the file.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import gast

from lsp_ad.checks.certainty import tensors_by_use
from lsp_ad.checks.facts import Facts
from lsp_ad.checks.flow import Flow
from lsp_ad.checks.origins import PARTS, TRACED, UNKNOWN, Kind, Origin, Sure
from lsp_ad.checks.parameters import handed_over, literal_arguments, parameter_origins
from lsp_ad.checks.staged_functions import Functions, Place, Staged, is_local
from lsp_ad.checks.values import Values, module_origin
from lsp_ad.semantics.names import Program
from lsp_ad.source.trees import children

Key = TypeVar("Key")
_Call = tuple[gast.Call | None, dict[str, Origin] | None]
_LEFT_ALONE = ("lsp_ad.do_not_convert", "tensorflow.autograph.experimental.do_not_convert")
CHANGING = {
    "append", "appendleft", "extend", "insert", "add", "setdefault", "pop", "popleft", "remove", "discard",
    "clear",
}  # fmt: skip
_DEPTH = 4  # how deep results of calls are followed
_VISITS = 4  # how often a function is looked at again because more calls of it were found
_SCOPES = (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda, gast.ClassDef)


@dataclass(frozen=True, eq=False)
class Trace:
    """A function that runs while it is traced: how, and through which staged function."""

    flow: Flow
    staged: Staged
    root: Place
    traces: Traces

    @property
    def place(self) -> Place:
        assert self.flow.place
        return self.flow.place

    @property
    def functions(self) -> Functions:
        return self.flow.functions

    @property
    def facts(self) -> Facts:
        return self.flow.facts

    @property
    def described(self) -> str:
        """Its name, for a message: `f`, or "`f` for `g`" where it is traced because `g` is."""
        name = self.place.name if isinstance(self.place.node, gast.Lambda) else f"`{self.place.name}`"
        return name if self.place is self.root else f"{name} for `{self.root.name}`"

    @property
    def when(self) -> str:
        """When what is decided while tracing is decided, for a message."""
        return f"when {self.staged.transform} traces {self.described}"

    @cached_property
    def nodes(self) -> list[gast.AST]:
        """All nodes of its body, without those of functions inside it, in the order of the text."""
        return own_nodes(self.place.node)

    @cached_property
    def parents(self) -> dict[gast.AST, gast.AST]:
        return {child: node for node in [self.place.node, *self.nodes] for child in children(node)}

    def around(self, node: gast.AST) -> Iterator[gast.AST]:
        """The nodes around one, from the inside out, up to the function."""
        while (parent := self.parents.get(node)) is not None and parent is not self.place.node:
            yield parent
            node = parent

    def of(self, node: gast.AST) -> Origin:
        """The origin of the value of an expression, as it was last evaluated."""
        return self.flow.known.get(node, UNKNOWN)

    def is_tensor(self, node: gast.AST) -> bool:
        """Is the value of an expression surely one that is traced?"""
        return self.of(node).sure is Sure.ITSELF

    def is_traced(self, node: gast.AST) -> bool:
        """Is it surely traced, or a list or dict of what is traced? That is no number either."""
        return self.of(node).sure >= Sure.PARTS

    def in_vain(self, what: str, wanted: str, node: gast.AST) -> str:
        """The message that something needs what tracing does not know."""
        return (
            f"{what} needs {wanted} {self.when}, but `{self.text(node)}` is traced."
        )

    def canonical(self, node: gast.AST) -> str:
        if node not in self._names:
            self._names[node] = self.flow.functions.canonical(node, self.place) or ""
        return self._names[node]

    @cached_property
    def _names(self) -> dict[gast.AST, str]:
        return {}

    def text(self, node: gast.AST) -> str:
        return self.flow.text(node)


def own_nodes(function: gast.AST) -> list[gast.AST]:
    body = function.body
    pending = list(reversed(body)) if isinstance(body, list) else [body]
    found = []
    while pending:
        node = pending.pop()
        found.append(node)
        if isinstance(node, _SCOPES):
            # What a nested function is decorated with, and its defaults, are evaluated here.
            defaults = getattr(getattr(node, "args", None), "defaults", [])
            pending += reversed([*getattr(node, "decorator_list", []), *defaults])
        else:
            pending += reversed(children(node))
    return found


class Traces:
    """Follows calls from the staged functions of a file to its other functions."""

    def __init__(self, program: Program):
        self.program = program
        self.functions = Functions(program)
        self.facts = Facts(self.functions, module_origin)
        self._found: dict[Place, Trace] = {}
        self.outer: dict[Place, Flow] = {}
        self._calls: dict[Place, dict[gast.AST, _Call]] = {}
        self._visits: dict[Place, int] = {}
        for _ in range(_DEPTH):
            self._follow()
            results = {p: self._result(t) for p, t in self._found.items() if p in self._calls}
            if _facts(results) == _facts(self.facts.results):
                break
            self.facts.results = results

    def _follow(self) -> None:
        """Look at all functions that are traced."""
        for known in (self._found, self.outer, self._calls, self._visits):
            known.clear()
        for place, staged in self.functions.staged.items():
            # Expressions or calls nested deeper than Python recurses: what is known by then is told.
            with contextlib.suppress(RecursionError):
                self._start(place, staged)

    def _result(self, trace: Trace) -> Origin:
        """What a call of a traced function gives."""
        if self._visits.get(trace.place, 0) > _VISITS:
            return UNKNOWN
        found = trace.flow.result
        if trace.place in self.functions.staged and trace.staged.transform != "lsp_ad.staged":
            return found if found.kind is Kind.TRACED else TRACED  # whatever it gives, it gives traced
        return found

    def __iter__(self) -> Iterator[Trace]:
        return iter(self._found.values())

    def get(self, place: Place) -> Trace | None:
        return self._found.get(place)

    @cached_property
    def changes(self) -> dict[str, gast.AST]:
        """The globals that change while the program runs, each with a place where it does.

        Those that a function which is not traced assigns, or changes in place; and those that the top level
        assigns again.
        """
        found: dict[str, gast.AST] = {}
        for name, bindings in self.facts.assignments.items():
            again = [s for s, _ in bindings if isinstance(s, (gast.Assign, gast.AugAssign))]
            if len(again) > 1 and len(again) == len(bindings):
                found[name] = again[-1]
        for place in self.functions.places.values():
            if place in self._found or isinstance(place.node, gast.Lambda):
                continue
            for node in own_nodes(place.node):
                target = _changed_in_place(node)
                if (
                    target is not None
                    and target.id in self.facts.assignments
                    and not is_local(target.id, place)
                ):
                    found.setdefault(target.id, node)
        return found

    def _start(self, place: Place, staged: Staged) -> None:
        """Look at a function that is staged itself."""
        parameters = parameter_origins(self.functions, place, staged)
        if not staged.jitted:  # jax.jit traces the bools it is passed
            literal = literal_arguments(self.functions, place)
            parameters |= {n: o for n, o in literal.items() if parameters[n].kind is Kind.TRACED}
        for name in tensors_by_use(self.functions, place, staged):
            if parameters[name].kind is Kind.TRACED:
                parameters[name] = replace(parameters[name], sure=Sure.ITSELF)
        self._run(place, staged, place, parameters, self._around(place))

    def _around(self, place: Place) -> Values | None:
        """The function around, as it stands when the inner one is called."""
        parent = place.parent
        if parent is None:
            return None
        if parent in self._found:
            return self._found[parent].flow
        if parent not in self.outer:
            own = parameter_origins(self.functions, parent, None)
            self.outer[parent] = Flow(self.facts, parent, own, self._around(parent), traced=False).run()
        return self.outer[parent]

    def _run(
        self, place: Place, staged: Staged, root: Place, parameters: dict[str, Origin], around: Values | None
    ) -> None:
        flow = Flow(self.facts, place, parameters, around)
        flow.given = replace(PARTS if staged.jitted else TRACED)
        flow.run()
        self._found[place] = Trace(flow, staged, root, self)
        callees = dict.fromkeys(callee for callee, _, _ in flow.calls.values())
        for node, (callee, call, bound) in flow.calls.items():
            self._calls.setdefault(callee, {})[node] = call, bound
        for callee in callees:
            self._call(callee, staged, root)
        # A function defined inside and handed on (to a scan, a cond) is traced as well.
        for inner in flow.inner.values():
            if inner not in callees and inner not in self.functions.staged and inner not in flow.hosted:
                self._calls.setdefault(inner, {}).setdefault(inner.node, (None, None))
                self._call(inner, staged, root)

    def _call(self, callee: Place, staged: Staged, root: Place) -> None:
        if callee in self.functions.staged:
            return
        how = staged.of_callee()
        decorators = getattr(callee.node, "decorator_list", [])
        if any(self.functions.canonical(d, callee.parent) in _LEFT_ALONE for d in decorators):
            how = replace(how, converts=False)
        own = parameter_origins(self.functions, callee, how)
        passed = handed_over(list(self._calls[callee].values()), callee, own)
        parameters = parameter_origins(self.functions, callee, how, passed)
        known = self._found.get(callee)
        if known and _facts(known.flow.parameters) == _facts(parameters):
            return
        self._visits[callee] = self._visits.get(callee, 0) + 1
        if self._visits[callee] <= _VISITS:
            if known:
                how, root = known.staged, known.root
            self._run(callee, how, root, parameters, self._around(callee))


def _changed_in_place(node: gast.AST) -> gast.Name | None:
    """The name of a list or dict that a node changes."""
    if isinstance(node, gast.Subscript) and isinstance(node.ctx, (gast.Store, gast.Del)):
        return node.value if isinstance(node.value, gast.Name) else None
    function = node.func if isinstance(node, gast.Call) else None
    if (
        isinstance(function, gast.Attribute)
        and function.attr in CHANGING
        and isinstance(function.value, gast.Name)
    ):
        return function.value
    return None


def _facts(origins: dict[Key, Origin]) -> dict[Key, tuple[Kind, Sure]]:
    return {name: (origin.kind, origin.sure) for name, origin in origins.items()}
