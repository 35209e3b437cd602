"""The kind of every name of a function: a small abstract interpretation.

Every name has one kind for the whole function (names were split so that this is precise), found
by going through the statements until nothing changes.
"""

from __future__ import annotations

from collections.abc import Callable

import gast

from lsp_ad.semantics import flow, indexing
from lsp_ad.semantics.changes import change_of, changed, growing_lists
from lsp_ad.semantics.memory import stored_value, written, written_root
from lsp_ad.semantics.shapes import (
    BOOL,
    BOTTOM,
    INT,
    OTHER,
    STR,
    UNKNOWN,
    Kind,
    Opaque,
    Shape,
    element_kind,
    elementwise,
    growing,
    join,
    lasting,
    of_constant,
    structure,
)
from lsp_ad.semantics.texts import kind_of_method
from lsp_ad.semantics.uses import used_as_dict
from lsp_ad.source.trees import children

_COMPUTED = (gast.BinOp, gast.Call)
Library = Callable[[gast.expr, Callable[[gast.expr], Kind]], Kind | None]


class Kinds:
    """Kinds of names and expressions. `library` gives the kind of operations and calls,
    `free` that of names from outside.
    """

    def __init__(self, names: dict[str, Kind], library: Library, free: Callable[[str], Kind]):
        self.names = dict(names)
        self.fixed = frozenset(names)
        self.library = library
        self.free = free
        self._carried: frozenset[str] = frozenset()
        self._local: set[str] = set()
        self._changed: set[str] = set()
        self._dicts: set[str] = set()
        self._lists: frozenset[str] = frozenset()
        self._growing: set[str] = set()
        self._varying: frozenset[str] = frozenset()
        self._fits: dict[int, tuple[gast.expr, Shape]] = {}
        self._memo: dict[int, tuple[gast.expr, Kind]] = {}
        self._asked: set[str] = set()  # the names that the kinds in the memo depend on

    def run(
        self,
        body: list[gast.stmt],
        carried: frozenset[str] = frozenset(),
        lists: frozenset[str] = frozenset(),
    ) -> None:
        """Find the kinds of all names that `body` binds.

        `carried`: names that live from one iteration to the next; `lists`: names that hold lists, if nothing
        else tells.
        """
        self._carried = carried
        self._lists = lists
        self._local = flow.writes(body)
        self._changed = changed(body)
        self._varying = _varying(body, self.fixed)
        self._dicts = used_as_dict(body)
        self._growing = growing_lists(body)
        for _ in range(50):
            before = dict(self.names)
            self._block(body)
            if self.names == before:
                keyed = self._keyed(body) - self._dicts
                if not keyed:
                    return
                self._dicts |= keyed
                self.names.update(dict.fromkeys(keyed, Kind("dict")))
                self.forget()
        for name in self._local:  # never seen; a fixpoint that is not reached proves nothing
            self.names[name] = UNKNOWN

    def writes_array(self, s: gast.stmt) -> bool:
        """Whether a statement writes into an array (not into a list or dict)."""
        array = written_root(s)
        return array is not None and not self.names.get(array, UNKNOWN).is_structure

    def is_structure(self, n: str) -> bool:
        """Whether a name stands for a list, a tuple or a dict."""
        return self.names.get(n, UNKNOWN).is_structure

    def forget(self) -> None:
        """Forget the kinds of expressions, after those of names were changed from outside."""
        self._memo.clear()
        self._asked.clear()

    def _keyed(self, body: list[gast.stmt]) -> set[str]:
        """The names of unknown kind that are read under a string: dicts."""
        return {
            n.value.id
            for s in body
            for n in flow.walk(s)
            if isinstance(n, gast.Subscript) and isinstance(n.value, gast.Name)
            if not isinstance(n.slice, gast.Slice) and self.of(n.slice) == STR
            if self.names.get(n.value.id, OTHER).type == "numeric"
        }

    def bind(self, name: str, kind: Kind) -> None:
        old = self.names.get(name, BOTTOM)
        if name in self._dicts and kind.type == "numeric" and kind.dtype is None:
            kind = Kind("dict")
        unknown = name in self._lists and kind.type == "numeric"
        if unknown or (name in self._growing and kind.may_be_list):
            kind = Kind("list")
        if name in self._carried:
            kind = lasting(kind)
        if name in self._changed and kind.is_structure:
            kind = growing(kind)
        merged = join(old, kind)
        if merged != old:
            if name in self._asked:
                self.forget()
            self.names[name] = merged

    def of(self, node: gast.expr) -> Kind:
        """The kind of an expression. Every part that cannot be told is unknown, never guessed."""
        if type(node) is gast.Name:
            self._asked.add(node.id)
            if node.id in self.names:
                return self.names[node.id]
            return BOTTOM if node.id in self._local else self.free(node.id)
        known = self._memo.get(id(node))
        if known is not None:
            return known[1]
        kind = self._of(node)
        if id(node) in self._fits and isinstance(kind.shape, Opaque):
            whole = self._fits[id(node)][1]
            if whole in kind.shape.parts:
                kind = kind._replace(type="array", shape=whole)
        if kind.shape is None and kind.type in ("numeric", "array"):
            # The value of this very expression has one shape, whatever it is; equal text in one
            # place is one value.
            kind = Kind(kind.type, kind.dtype, Opaque(f"@{id(node)}"), fresh=kind.fresh)
        self._memo[id(node)] = (node, kind)
        return kind

    def _of(self, node: gast.expr) -> Kind:
        if type(node) in _COMPUTED:
            known = self.library(node, self.of)
            if known is not None:
                return known
            if isinstance(node, gast.BinOp):
                return elementwise(self.of(node.left), self.of(node.right))
            return kind_of_method(node) or UNKNOWN
        if isinstance(node, gast.Constant):
            return of_constant(node.value)
        if isinstance(node, (gast.Tuple, gast.List)):
            return self._display(node)
        if isinstance(node, gast.Dict):
            return self._dict(node)
        if isinstance(node, gast.ListComp):
            inner = self.of(node.elt)
            return (
                Kind("list", element=lasting(inner))
                if inner.is_structure or inner.is_scalar
                else Kind("list")
            )
        if isinstance(node, gast.DictComp):
            return Kind("dict")
        if isinstance(node, (gast.Compare, gast.BoolOp)):
            return self._truth(node)
        if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Not):
            return BOOL
        if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Invert):
            return self.of(node.operand)
        if isinstance(node, gast.IfExp):
            return join(self.of(node.body), self.of(node.orelse))
        if isinstance(node, gast.Subscript):
            return self._subscript(node)
        if isinstance(node, gast.JoinedStr):
            return STR
        known = self.library(node, self.of)
        if known is None:
            known = kind_of_method(node)
        if known is not None:
            return known
        if isinstance(node, gast.Attribute) and node.attr in ("size", "ndim"):
            return INT
        if isinstance(node, gast.Attribute) and node.attr == "shape":
            base = self.of(node.value)
            return Kind("tuple", "int", None, (INT,) * base.rank if base.rank is not None else None)
        return UNKNOWN

    def _display(self, node: gast.Tuple | gast.List) -> Kind:
        kind = "tuple" if isinstance(node, gast.Tuple) else "list"
        if any(isinstance(e, gast.Starred) for e in node.elts):
            return Kind(kind)
        return structure(kind, tuple(self.of(e) for e in node.elts))

    def _dict(self, node: gast.Dict) -> Kind:
        if all(isinstance(k, gast.Constant) for k in node.keys):
            values = tuple(self.of(v) for v in node.values)
            return structure("dict", values, tuple(k.value for k in node.keys))
        return Kind("dict")

    def _truth(self, node: gast.Compare | gast.BoolOp) -> Kind:
        if isinstance(node, gast.BoolOp):
            kind = self.of(node.values[0])
            for value in node.values[1:]:
                kind = join(kind, self.of(value))
            return kind
        if any(isinstance(op, (gast.Is, gast.IsNot, gast.In, gast.NotIn)) for op in node.ops):
            return BOOL
        return elementwise(self.of(node.left), *(self.of(c) for c in node.comparators), dtype="bool")

    def _subscript(self, node: gast.Subscript) -> Kind:
        base = self.of(node.value)
        if base is BOTTOM:
            return BOTTOM
        if base.type in ("tuple", "list"):
            value = node.slice.value if isinstance(node.slice, gast.Constant) else None
            if (
                base.items is not None
                and isinstance(value, int)
                and -len(base.items) <= value < len(base.items)
            ):
                return base.items[value]
            if isinstance(node.slice, gast.Slice):
                return growing(base)
            return element_kind(base) if base.items != () else UNKNOWN
        if base.type == "dict":
            key = getattr(node.slice, "value", None)
            if base.keys is not None and base.items is not None and key in base.keys:
                return base.items[base.keys.index(key)]
            return element_kind(base) if base.items != () else UNKNOWN
        if base.type in ("other", "str"):
            return UNKNOWN
        shape = self._indexed(base, node.slice)
        parts = node.slice.elts if isinstance(node.slice, gast.Tuple) else [node.slice]
        sliced = base.type == "array" and any(isinstance(p, gast.Slice) for p in parts)
        is_array = sliced or (isinstance(shape, tuple) and shape)
        return Kind("array" if is_array else "number" if shape == () else "numeric", base.dtype, shape)

    def _indexed(self, base: Kind, index: gast.expr) -> Shape:
        """The shape of base[index] for integers, slices, None and Ellipsis."""
        parts = index.elts if isinstance(index, gast.Tuple) else [index]
        if isinstance(base.shape, Opaque) and _is_no_list(base):
            return indexing.of_opaque(base.shape, [self._form(p) for p in parts])
        if not isinstance(base.shape, tuple):
            return None
        return indexing.of_known(base.shape, [self._form(p) for p in parts])

    def _form(self, part: gast.expr) -> object:
        """What an index does with an axis, in the terms of semantics/indexing.py."""
        if isinstance(part, gast.Constant) and (part.value is None or part.value is Ellipsis):
            return part.value
        if isinstance(part, gast.Slice):
            return indexing.slice_form(part, self._varying)
        return indexing.ONE if self.of(part) == INT else indexing.UNKNOWN

    def _block(self, body: list[gast.stmt]) -> None:
        for statement in body:
            if isinstance(statement, gast.Assign):
                kind = self.of(statement.value)
                for target in statement.targets:
                    self._assign(target, kind, statement.value)
                self._change(statement)
            elif isinstance(statement, gast.Expr):
                self._change(statement)
            elif isinstance(statement, gast.AugAssign) and isinstance(statement.target, gast.Name):
                name = gast.Name(statement.target.id, gast.Load(), None, None)
                self.bind(statement.target.id, self.of(gast.BinOp(name, statement.op, statement.value)))
            elif isinstance(statement, gast.For):
                self._assign(statement.target, self.element_of(statement.iter))
                self._block(statement.body)
                self._block(statement.orelse)
            else:
                if isinstance(statement, gast.Try):
                    for name in flow.header_writes(statement):
                        self.bind(name, OTHER)  # the exception
                for block in flow.blocks(statement):
                    self._block(block)
            target = written(statement)
            if target is not None:
                self._fit(stored_value(statement), gast.Subscript(target.value, target.slice, gast.Load()))

    def _fit(self, value: gast.expr, part: gast.expr) -> None:
        """What is written into a part of an array broadcasts to its shape: a value that was broadcast with
        something of this shape has this shape, and so has every value that it was made of elementwise."""
        whole = self.of(part).shape
        if whole is None or whole == ():
            return
        shape = self.of(value).shape
        if isinstance(shape, Opaque) and whole in shape.parts:
            pending = [value]
            while pending:
                node = pending.pop()
                if isinstance(node, (gast.BinOp, gast.UnaryOp)):
                    self._fits[id(node)] = (node, whole)
                    pending += [c for c in children(node) if isinstance(c, gast.expr)]
            self.forget()

    def fits_as(self, node: gast.expr, other: gast.expr) -> None:
        """Take an expression for one that is written where another was."""
        if id(other) in self._fits:
            self._fits[id(node)] = (node, self._fits[id(other)][1])
            self._memo.pop(id(node), None)

    def _change(self, s: gast.stmt) -> None:
        """A change of a list or dict adds to what its items may be."""
        change = change_of(s)
        if change is None or change.method == "pop" or not change.args:
            return
        old = self.names.get(change.base, BOTTOM)
        if old.is_structure:
            self.bind(change.base, old._replace(items=None, keys=None, element=self.of(change.args[-1])))

    def _assign(self, target: gast.expr, kind: Kind, value: gast.expr | None = None) -> None:
        if isinstance(target, gast.Name):
            # after `y = x` both names share their memory
            shared = isinstance(value, (gast.Name, gast.IfExp)) and kind.type not in ("number", "bottom")
            self.bind(target.id, kind._replace(fresh=False) if shared else kind)
        elif isinstance(target, (gast.Tuple, gast.List)):
            starred = any(isinstance(e, gast.Starred) for e in target.elts)
            for position, part in enumerate(target.elts):
                if isinstance(part, gast.Starred):
                    self._assign(part.value, _rest(kind))
                else:
                    self._assign(part, element(kind, None if starred else position, len(target.elts)))

    def element_of(self, iterable: gast.expr) -> Kind:
        """The kind of what a loop over an expression yields."""
        if (
            isinstance(iterable, gast.Call)
            and isinstance(iterable.func, gast.Name)
            and iterable.func.id not in self.names
        ):
            name, args = iterable.func.id, iterable.args
            if name == "range":
                return INT
            if name == "enumerate" and args:
                return Kind("tuple", None, None, (INT, self.element_of(args[0])))
            if name == "zip":
                return Kind("tuple", None, None, tuple(self.element_of(a) for a in args))
            if name == "reversed" and args:
                return self.element_of(args[0])
        kind = self.of(iterable)
        return element(kind, None, 0)


def element(kind: Kind, position: int | None, count: int) -> Kind:
    """The kind of one element of a value that is unpacked or iterated."""
    if kind is BOTTOM:
        return BOTTOM
    if kind.type == "dict":
        return OTHER  # a key
    if kind.type in ("tuple", "list"):
        if kind.items is not None and position is not None and len(kind.items) == count:
            return kind.items[position]
        return element_kind(kind) if kind.items != () else UNKNOWN
    if isinstance(kind.shape, tuple) and kind.shape:
        shape = kind.shape[1:]
        return Kind("number" if not shape else "array", kind.dtype, shape)
    if isinstance(kind.shape, Opaque) and _is_no_list(kind):
        return Kind("numeric", kind.dtype, indexing.of_opaque(kind.shape, [indexing.ONE]))
    return Kind("numeric", kind.dtype) if kind.type in ("array", "numeric") else UNKNOWN


def _rest(kind: Kind) -> Kind:
    """The kind of the list that a starred target takes."""
    if kind is BOTTOM:
        return BOTTOM
    return Kind("list", element=lasting(element(kind, None, 0)))


def _is_no_list(kind: Kind) -> bool:
    """Whether the elements of a value have one shape: it surely is no list, which nothing tells to be one."""
    return kind.type == "array" or (kind.type == "numeric" and kind.fresh)


def _varying(body: list[gast.stmt], parameters: frozenset[str]) -> frozenset[str]:
    """The names that are bound more than once, on entry or by statements."""
    counts = dict.fromkeys(parameters, 1)
    for s in flow.statements(body):
        for n in flow.header_writes(s):
            counts[n] = counts.get(n, 0) + 1
    return frozenset(n for n, count in counts.items() if count > 1)
