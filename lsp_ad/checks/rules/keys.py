"""STG305: a key of jax.random that is used twice, and so draws the same numbers twice."""

from __future__ import annotations

from collections.abc import Iterator

import gast

from lsp_ad.checks.traces import Trace
from lsp_ad.problems import Problem, Related, problem
from lsp_ad.semantics.names import bound_names
from lsp_ad.source.parse import span_of

_NO_USE = {"PRNGKey", "key", "fold_in", "key_data", "wrap_key_data", "clone", "key_impl"}


def key_reuse(trace: Trace) -> Iterator[Problem]:
    body = trace.place.node.body
    if isinstance(body, list) and any(trace.canonical(n).startswith("jax.random.") for n in trace.nodes):
        yield from _Keys(trace).block(body, {})


class _Keys:
    """The keys that are used up, with the call that used them."""

    def __init__(self, trace: Trace):
        self.trace = trace

    def block(self, body: list[gast.stmt], used: dict[str, gast.AST]) -> Iterator[Problem]:
        """The findings of some statements; `used` is brought up to date."""
        for s in body:
            if isinstance(s, (gast.For, gast.While)):
                yield from self._loop(s, used)
            elif isinstance(s, gast.If):
                yield from self._uses([s.test], used)
                one, other = dict(used), dict(used)
                yield from self.block(s.body, one)
                yield from self.block(s.orelse, other)
                used.clear()
                used |= (other if _leaves(s.body) else one) | (one if _leaves(s.orelse) else other)
            elif isinstance(s, gast.With):
                yield from self.block(s.body, used)
            elif not isinstance(s, (gast.FunctionDef, gast.ClassDef)):
                yield from self._uses([s], used)
                for name in bound_names([s]):
                    self._renewed(name, used)

    def _loop(self, s: gast.For | gast.While, used: dict[str, gast.AST]) -> Iterator[Problem]:
        inside = bound_names([s])
        fresh: dict[str, gast.AST] = {}
        yield from self.block(s.body, fresh)
        for text, call in fresh.items():
            name = text.split("[")[0]
            if name not in inside and not self._varies(text, inside):
                yield self._finding(call, text, call, "in each iteration")
            elif text in used:
                yield self._finding(call, text, used[text], "again")
        used |= fresh

    @staticmethod
    def _varies(text: str, inside: set[str]) -> bool:
        return "[" in text and any(name in text.split("[", 1)[1] for name in inside)

    @staticmethod
    def _renewed(name: str, used: dict[str, gast.AST]) -> None:
        for text in [t for t in used if t.split("[")[0] == name]:
            del used[text]

    def _uses(self, nodes: list[gast.AST], used: dict[str, gast.AST]) -> Iterator[Problem]:
        calls = [n for node in nodes for n in gast.walk(node) if isinstance(n, gast.Call)]
        for call in sorted(calls, key=lambda c: (c.end_lineno, c.end_col_offset)):
            key = self._key(call)
            if key is None:
                continue
            if key in used and not self._is_paired(call, used[key]):
                yield self._finding(call, key, used[key], "again")
            used[key] = call

    def _is_paired(self, one: gast.Call, other: gast.AST) -> bool:
        """Do both take the same elements of two arrays: `permutation(key, x)`, `permutation(key, y)`?"""
        names = {self.trace.canonical(c.func) for c in (one, other) if isinstance(c, gast.Call)}
        return names in ({"jax.random.permutation"}, {"jax.random.choice"})

    def _key(self, call: gast.Call) -> str | None:
        """The key that a call of jax.random uses up: a name, or an element of one."""
        name = self.trace.canonical(call.func)
        if not name.startswith("jax.random.") or name.removeprefix("jax.random.") in _NO_USE:
            return None
        given = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "key"), None)
        plain = isinstance(given, gast.Name) or (
            isinstance(given, gast.Subscript) and isinstance(given.value, gast.Name)
        )
        return self.trace.text(given) if given is not None and plain else None

    def _finding(self, call: gast.AST, key: str, before: gast.AST, when: str) -> Problem:
        message = f"The key `{key}` is used {when}: the same key gives the same numbers."
        where = () if before is call else (Related("It is used here.", span_of(before)),)
        return problem("STG305", message, span_of(call), related=where)


def _leaves(body: list[gast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], (gast.Return, gast.Raise, gast.Continue, gast.Break))
