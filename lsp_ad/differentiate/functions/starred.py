"""Calls and parameters with stars, where it is known how many arguments there are.

Before:                                 After:
    def total(*xs, **options):              def f_total(xs_0, xs_1, options_scale):
        return sum_of(*xs) * options["scale"]   return sum_of(xs_0, xs_1) * options_scale
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gast

from lsp_ad.differentiate.functions.callables import Lifted, located, placed
from lsp_ad.problems import Refusal, problem
from lsp_ad.semantics import flow
from lsp_ad.simplify.algebra import constant, name
from lsp_ad.source.parse import span_of
from lsp_ad.source.printing import expression_text


class Starred:
    """What stars give and take in one lifted function."""

    def __init__(self, lifted: Lifted):
        self.lifted = lifted

    def unrolled(
        self,
        args: Sequence[Any],
        named: dict[str, Any],
        keywords: list[gast.keyword],
        hidden: frozenset[str],
        wanted: tuple[str, ...] | None = None,
    ) -> tuple[list[Any], dict[str, Any]]:
        """Arguments without stars; `wanted`: the parameters that have to be given, if no others
        can be given by position, so that one `*args` gives what is missing."""
        found = dict(named)
        for k in keywords:
            for key, item in [(k.arg, k.value)] if k.arg is not None else self._entries(k.value):
                found[key] = item
        positional: list[Any] = []
        for a in args:
            if isinstance(a, gast.Starred):
                plain = [b for b in args if b is not a]
                alone = wanted is not None and not any(isinstance(b, gast.Starred) for b in plain)
                missing = [p for p in wanted or () if p not in found][len(plain) :]
                positional += self._elements(a, hidden, len(missing) if alone else None)
            else:
                positional.append(a)
        return positional, found

    def _elements(
        self, node: gast.Starred, hidden: frozenset[str], missing: int | None = None
    ) -> list[Any]:
        """What `*args` gives, where that is the tuple of a starred parameter, or written out, or a name that
        gives all that is missing."""
        value = node.value
        if isinstance(value, (gast.Tuple, gast.List)):
            inner = [self._elements(e, hidden) if isinstance(e, gast.Starred) else [e] for e in value.elts]
            return [e for part in inner for e in part]
        if isinstance(value, gast.Name) and value.id not in hidden:
            if value.id == self.lifted.vararg and value.id not in self.lifted.sites:
                return [gast.copy_location(name(n), value) for n in self.lifted.more]
            home = self.lifted.home(value.id)
            sites = home.sites.get(value.id, []) if home is not None else []
            if home is not None and len(sites) == 1 and value.id not in home.parameters:
                missing = _length(sites[0]) or missing
            if home is not None and missing is not None:
                return [
                    located(gast.Subscript(name(value.id), constant(i), gast.Load()), value)
                    for i in range(missing)
                ]
        raise _unknown_length(node)

    def _entries(self, node: gast.expr) -> list[tuple[str, Any]]:
        """What `**kwargs` gives, where that is a starred parameter, or written out."""
        if isinstance(node, gast.Dict) and all(
            isinstance(k, gast.Constant) and isinstance(k.value, str) for k in node.keys
        ):
            return [(k.value, v) for k, v in zip(node.keys, node.values, strict=True)]
        if isinstance(node, gast.Name) and node.id == self.lifted.kwarg and node.id not in self.lifted.sites:
            known = self.lifted.keywords
            return [(k, gast.copy_location(name(n), node)) for k, n in known.items()]
        if isinstance(node, gast.Name) and (found := self._items(node)) is not None:
            return [(k, placed(gast.Subscript(node, constant(k), gast.Load()), node)) for k in found]
        message = f"It cannot be told which arguments `**{expression_text(node)}` gives."
        raise Refusal(problem("AD205", message, span_of(node), "Write the arguments out."))

    def _items(self, node: gast.Name) -> list[str] | None:
        """The keys of a dictionary of the function that is written out once, and only read after that."""
        sites = self.lifted.sites.get(node.id, [])
        written = sites[0].value if len(sites) == 1 and _binds(sites[0], node.id) else None
        if not isinstance(written, gast.Dict) or node.id in self.lifted.parameters:
            return None
        keys = [k.value if isinstance(k, gast.Constant) else None for k in written.keys]
        reads = [n for n in flow.walk(self.lifted.definition.node) if _is_name(n, node.id)]
        read = [n.value for n in flow.walk(self.lifted.definition.node) if _reads_item(n) or _is_unrolled(n)]
        if len([n for n in read if _is_name(n, node.id)]) != len(reads) - 1:
            return None
        return [str(k) for k in keys] if all(isinstance(k, str) for k in keys) else None

    def entry(self, node: gast.expr, default: Callable[[gast.expr], gast.expr]) -> gast.expr | None:
        """`kwargs['a']`, `kwargs.get('a', e)`, `'a' in kwargs`, where it is known what `**kwargs` takes."""
        kwarg, known = self.lifted.kwarg, self.lifted.keywords
        if kwarg is None or kwarg in self.lifted.sites:
            return None
        if isinstance(node, gast.Subscript) and _is_name(node.value, kwarg):
            key = node.slice.value if isinstance(node.slice, gast.Constant) else None
            return name(known[key]) if key in known else None
        if isinstance(node, gast.Compare) and _is_name(node.comparators[0], kwarg):
            is_in = {gast.In: True, gast.NotIn: False}.get(type(node.ops[0]))
            if is_in is not None and len(node.ops) == 1 and isinstance(node.left, gast.Constant):
                return constant((node.left.value in known) == is_in)
        if (
            isinstance(node, gast.Call)
            and isinstance(node.func, gast.Attribute)
            and node.func.attr == "get"
            and _is_name(node.func.value, kwarg)
            and node.args
            and isinstance(node.args[0], gast.Constant)
        ):
            if node.args[0].value in known:
                return name(known[node.args[0].value])
            return default(node.args[1]) if len(node.args) == 2 else None
        return None


def _reads_item(node: gast.AST) -> bool:
    return isinstance(node, gast.Subscript) and isinstance(node.ctx, gast.Load)


def _is_unrolled(node: gast.AST) -> bool:
    return isinstance(node, gast.keyword) and node.arg is None


def _is_name(node: gast.expr, wanted: str) -> bool:
    return isinstance(node, gast.Name) and node.id == wanted


def _binds(s: gast.stmt, variable: str) -> bool:
    """Whether a statement assigns to one name, and nothing else."""
    return isinstance(s, gast.Assign) and len(s.targets) == 1 and _is_name(s.targets[0], variable)


def _length(s: gast.stmt) -> int | None:
    """How many elements the tuple has that a statement assigns to one name, if it does so."""
    if (
        isinstance(s, gast.Assign)
        and len(s.targets) == 1
        and isinstance(s.targets[0], gast.Name)
        and isinstance(s.value, gast.Tuple)
        and not any(isinstance(e, gast.Starred) for e in s.value.elts)
    ):
        return len(s.value.elts)
    return None


def _unknown_length(node: gast.Starred) -> Refusal:
    message = f"It cannot be told how many arguments `{expression_text(node)}` gives."
    return Refusal(problem("AD205", message, span_of(node), "Write the arguments out."))
