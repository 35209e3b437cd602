"""Which functions of a file run while they are traced: under `jax.jit`, `tf.function` or `lsp_ad.staged`.

A function is staged by a decorator (`@jax.jit`, `@partial(jax.jit, static_argnums=1)`,
`@tf.function(jit_compile=True)`) or by a call anywhere in the file (`step = jax.jit(jax.grad(loss))`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import gast

from lsp_ad.rules.settings import settings_of
from lsp_ad.semantics.names import HERE, Program, imported, local_names, parameters
from lsp_ad.source.trees import walk

TRANSFORMS = {
    "jax.jit": "jax.jit",
    "tensorflow.function": "tf.function",
    "tensorflow.compat.v1.function": "tf.function",
    "tensorflow.compat.v2.function": "tf.function",
    "lsp_ad.staged": "lsp_ad.staged",
    "jax.pmap": "jax.jit",
    "equinox.filter_jit": "jax.jit",
    "flax.nnx.jit": "jax.jit",
    "flax.linen.jit": "jax.jit",
}
# These call jax.jit, and trace what they choose of what they are given.
_CHOOSING = {"equinox.filter_jit", "flax.nnx.jit", "flax.linen.jit"}
# What hands its first argument on to be traced: jax.jit(jax.grad(f)) stages f.
_WRAPPERS = {
    "functools.partial", "jax.checkpoint", "jax.grad", "jax.hessian", "jax.jacfwd", "jax.jacrev", "jax.remat",
    "jax.value_and_grad", "jax.vmap",
}
_STATIC = ("static_argnums", "static_argnames", "static_broadcasted_argnums")
_FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda)


@dataclass(frozen=True, eq=False)
class Place:
    """A function (or lambda) with the function around it and the class whose method it is."""

    node: gast.AST
    parent: Place | None
    owner: gast.ClassDef | None

    @property
    def name(self) -> str:
        return getattr(self.node, "name", "the lambda")

    @cached_property
    def parameters(self) -> list[str]:
        return parameters(self.node)

    @cached_property
    def receiver(self) -> str | None:
        """The name of `self` or `cls`, in a method that has one."""
        if self.owner is None or not self.parameters or isinstance(self.node, gast.Lambda):
            return None
        plain = any(isinstance(d, gast.Name) and d.id == "staticmethod" for d in self.node.decorator_list)
        return None if plain else self.parameters[0]

    @cached_property
    def locals(self) -> frozenset[str]:
        if isinstance(self.node, gast.Lambda):
            return frozenset(self.parameters)
        return frozenset(local_names(self.node))

    @cached_property
    def imports(self) -> dict[str, str]:
        """What import statements inside the function bind."""
        if isinstance(self.node, gast.Lambda):
            return {}
        return {name: full for node in walk(self.node) for name, full in imported(node).items()}

    def chain(self) -> Iterator[Place]:
        """This place and those around it, from the inside out."""
        place: Place | None = self
        while place is not None:
            yield place
            place = place.parent


def is_local(name: str, place: Place | None) -> bool:
    """Is a name bound by the function at that place or by one around it?"""
    return any(name in around.locals for around in (place.chain() if place else ()))


def bound_already(node: gast.AST, function: Place) -> int:
    """How many parameters of what an expression names have a value: `self`, of a method of an object."""
    is_call = isinstance(node, gast.Name) and function.name == "__call__"
    return int((isinstance(node, gast.Attribute) or is_call) and function.receiver is not None)


@dataclass(frozen=True)
class Staged:
    """How a function is staged; `static` parameters stay Python values (None: which, cannot be told).

    `transform` decides its conditionals; `jitted`: jax.jit traces its arguments; `converts`: constructs on
    traced values are staged; `backend` is the one that lsp_ad compiles for, `where` what says all this.
    """

    transform: str
    static: frozenset[str] | None = frozenset()
    jitted: bool = False
    converts: bool = True
    backend: str = ""
    where: gast.AST | None = None

    def together(self, other: Staged) -> Staged:
        """How a function is staged by two transforms, one around the other."""
        plain = self if self.transform == "jax.jit" else other
        inner = other if plain is self else self
        static = None if self.static is None or other.static is None else self.static | other.static
        return replace(inner, static=static, jitted=self.jitted or other.jitted,
                       converts=self.converts or other.converts, backend=self.backend or other.backend,
                       where=plain.where)

    def of_callee(self) -> Staged:
        """How a function is staged that is called by one that is."""
        return replace(self, static=frozenset(), jitted=False, where=None)


class Functions:
    """The functions of a program and the calls in it, each with the place it stands in."""

    def __init__(self, program: Program):
        self.program = program
        self.places: dict[gast.AST, Place] = {}
        self.calls: list[tuple[gast.Call, Place | None]] = []
        self._decorated: list[tuple[Place, gast.expr]] = []
        self._named: dict[tuple[gast.AST | None, str], list[Place]] = {}
        # A stack of its own: long expressions nest deeper than Python recurses.
        pending: list[tuple[gast.AST, Place | None, gast.ClassDef | None]]
        pending = [(program.parsed.module, None, None)]
        while pending:
            node, place, owner = pending.pop()
            if isinstance(node, gast.Call):
                self.calls.append((node, place))
            if isinstance(node, _FUNCTIONS):
                inner = self.places[node] = Place(node, place, owner)
                # Decorators and defaults are evaluated outside the function.
                outside = [node.args, *getattr(node, "decorator_list", [])]
                self._decorated += [(inner, d) for d in outside[1:]]
                pending += [(child, place, owner) for child in outside]
                body = [node.body] if isinstance(node, gast.Lambda) else node.body
                pending += [(child, inner, None) for child in body]
                if not isinstance(node, gast.Lambda):
                    scope = owner or (place.node if place else None)
                    self._named.setdefault((scope, node.name), []).append(inner)
                continue
            if isinstance(node, gast.ClassDef):
                owner = node
            pending += [(child, place, owner) for child in gast.iter_child_nodes(node)]

        self.calls.sort(key=lambda item: (item[0].lineno, item[0].col_offset))

    def canonical(self, node: gast.AST, place: Place | None) -> str | None:
        """`Program.canonical`, seen from a place: local names hide, imports inside functions count."""
        root: gast.AST = node
        attributes: list[str] = []
        while isinstance(root, gast.Attribute):
            attributes.insert(0, root.attr)
            root = root.value
        if not isinstance(root, gast.Name):
            return None
        for around in place.chain() if place else ():
            if root.id in around.locals:
                base = around.imports.get(root.id)
                return ".".join([base, *attributes]) if base else None
        return self.program.canonical(node)

    def find(self, node: gast.AST, place: Place | None, called: bool = False) -> Place | None:
        """The function of this file that an expression names: `f`, a nested `f`, `self.f`, a lambda.

        `called`: what runs where it is called, which is `__call__` for an object.
        """
        if isinstance(node, gast.Lambda):
            return self.places.get(node)
        if isinstance(node, gast.Attribute) and isinstance(node.value, gast.Name):
            owner = self.object_class(node.value.id, place)
            return self.method(owner, node.attr) if owner else None
        if not isinstance(node, gast.Name):
            return None
        owner = self.object_class(node.id, place) if called else None
        if owner is not None:
            return self.method(owner, "__call__")
        for around in place.chain() if place else ():
            if node.id in around.locals:
                return self._only(around.node, node.id)
        here = self.program.canonical(node) == HERE + node.id or self._is_wrapped(node.id)
        return self._only(None, node.id) if here else None

    def made_class(self, name: str, place: Place | None) -> gast.ClassDef | None:
        """The class of what a function makes once, under a name of its own."""
        if place is None or name not in place.locals or name in place.parameters:
            return None
        made = [s for s in walk(place.node) if isinstance(s, gast.Name) and s.id == name
                and isinstance(s.ctx, gast.Store)]
        values = [s.value for s in walk(place.node) if isinstance(s, gast.Assign) and s.targets == made]
        call = values[0] if values else None
        if isinstance(call, gast.Call) and isinstance(call.func, gast.Name):
            return self.classes.get(call.func.id)
        return None

    def object_class(self, name: str, place: Place | None) -> gast.ClassDef | None:
        """The class of `self`, or of a global that is one object of a class of this file."""
        owner = self.class_of(name, place)
        if owner is not None or is_local(name, place):
            return owner
        value = self.program.constants.get(name)
        if isinstance(value, gast.Call) and isinstance(value.func, gast.Name):
            return self.classes.get(value.func.id)
        return None

    @cached_property
    def classes(self) -> dict[str, gast.ClassDef]:
        """The classes that the file defines once, at its top level."""
        return {s.name: s for s in self.program.parsed.module.body
                if isinstance(s, gast.ClassDef) and len(self.program.bindings(s.name)) == 1}

    def method(self, owner: gast.ClassDef, name: str) -> Place | None:
        """A method of a class, or of those of this file that it is made from."""
        pending = [owner]
        for known in pending:
            if (known, name) in self._named:
                return self._only(known, name)
            bases = [self.classes.get(b.id) for b in known.bases if isinstance(b, gast.Name)]
            pending += [b for b in bases if b is not None and b not in pending]
        return None

    def _is_wrapped(self, name: str) -> bool:
        """Is a name bound by a definition, and again only by what wraps it, as in `f = jax.jit(f)`?"""
        definition, *others = self.program.bindings(name) or [None]
        return isinstance(definition, gast.FunctionDef) and all(
            isinstance(s, gast.Assign) and isinstance(s.value, gast.Call) and len(s.targets) == 1
            and isinstance(s.targets[0], gast.Name)
            and any(isinstance(a, gast.Name) and a.id == name for a in s.value.args) for s in others)

    def class_of(self, name: str, place: Place | None) -> gast.ClassDef | None:
        """The class whose instance `self` is, where `name` is the `self` of a method around."""
        for around in place.chain() if place else ():
            if name in around.locals:
                return around.owner if name == around.receiver else None
        return None

    def _is_marked(self, place: Place) -> bool:
        """Do the settings say that the function is staged? By its name, or by that and the module's."""
        marked = settings_of(self.program).staged
        if not marked or isinstance(place.node, gast.Lambda):
            return False
        around = [getattr(p.node, "name", "") for p in place.chain()][::-1]
        around[-1:] = [place.owner.name, place.name] if place.owner else [place.name]
        path = self.program.parsed.document.path.removesuffix(".py").replace("\\", "/").split("/")
        full = "." + ".".join([*path, *around])
        return any(full.endswith("." + name) for name in marked)

    def _only(self, scope: gast.AST | None, name: str) -> Place | None:
        found = self._named.get((scope, name), [])
        return found[0] if len(found) == 1 else None

    @cached_property
    def staged(self) -> dict[Place, Staged]:
        """Every function that is staged itself, in the order of the text."""
        found: dict[Place, Staged] = {}
        for place, decorator in self._decorated:
            transform = self._transform(decorator, place.parent)
            if transform:
                self._add(found, place, self._staged(transform, place, 0, frozenset(), decorator))
        for place in self.places.values():
            if self._is_marked(place):
                self._add(found, place, Staged("lsp_ad.staged"))
        for call, place_of_call in self.calls:
            transform = self._transform(call.func, place_of_call)
            target = call.args[0] if call.args else next(
                (k.value for k in call.keywords if k.arg in ("fun", "func", "function")), None)
            if transform and target is not None:
                name, keywords = transform
                self._stage_value(found, (name, keywords + call.keywords), call, target, place_of_call)
        return dict(sorted(found.items(), key=lambda item: (item[0].node.lineno, item[0].node.col_offset)))

    def _stage_value(self, found: dict[Place, Staged], transform: tuple[str, list[gast.keyword]],
                     call: gast.Call, target: gast.AST, place: Place | None) -> None:
        bound: set[str] = set()
        positional = 0
        while isinstance(target, gast.Call) and target.args:
            wrapper = self.canonical(target.func, place)
            if wrapper not in _WRAPPERS and wrapper not in TRANSFORMS:
                return
            if wrapper == "functools.partial":
                bound |= {k.arg for k in target.keywords if k.arg}
                positional += len(target.args) - 1
            target = target.args[0]
        function = self.find(target, place, called=True)
        if function is None:
            return
        skip = bound_already(target, function)
        names = function.parameters
        bound |= set(names[skip:skip + positional])
        how = self._staged(transform, function, skip + positional, frozenset(bound), call)
        self._add(found, function, how)

    @staticmethod
    def _add(found: dict[Place, Staged], place: Place, staged: Staged) -> None:
        known = found.get(place)
        if known is None or known.transform == staged.transform:
            found.setdefault(place, staged)
        else:
            found[place] = known.together(staged)

    def _transform(self, node: gast.AST, place: Place | None,
                   depth: int = 0) -> tuple[str, list[gast.keyword]] | None:
        """The transform that an expression is, with the keywords given so far."""
        name = self.canonical(node, place)
        if name in TRANSFORMS:
            chosen = [gast.keyword("static_argnames", gast.Name(name, gast.Load(), None, None))]
            return TRANSFORMS[name], chosen if name in _CHOOSING else []
        if depth > 4:
            return None
        if isinstance(node, gast.Call):
            partial = self.canonical(node.func, place) == "functools.partial"
            if partial != bool(node.args):
                return None  # a bare partial(), or a transform that is applied already
            inner = self._transform(node.args[0] if partial else node.func, place, depth + 1)
            return (inner[0], inner[1] + node.keywords) if inner else None
        if isinstance(node, gast.Name) and not is_local(node.id, place):
            value = self.program.constants.get(node.id)
            return self._transform(value, None, depth + 1) if value is not None else None
        return None

    def _staged(self, transform: tuple[str, list[gast.keyword]], place: Place, skip: int,
                bound: frozenset[str], where: gast.AST) -> Staged:
        name, keywords = transform
        static: set[str] | None = set(bound)
        converts, backend = name != "jax.jit", ""
        for keyword in keywords:
            if keyword.arg == "autograph" and _value(keyword.value) is False:
                converts = False
            if keyword.arg == "backend" and name == "lsp_ad.staged":
                backend = str(_value(keyword.value) or "")
            if keyword.arg not in _STATIC:
                continue
            values = self._literals(keyword.value)
            if values is None or static is None:
                static = None
                continue
            names = place.parameters[skip:]
            for value in values:
                if isinstance(value, str):
                    static.add(value)
                elif isinstance(value, int) and -len(names) <= value < len(names):
                    static.add(names[value])
        known = None if static is None else frozenset(static)
        return Staged(name, known, name == "jax.jit", converts, backend, where)

    def _literals(self, node: gast.AST) -> list[object] | None:
        """The constants of `1`, `"n"` or a tuple or list of such, also by a global name."""
        if isinstance(node, gast.Name):
            node = self.program.constants.get(node.id, node)
        try:
            value = gast.literal_eval(node)
        except (ValueError, TypeError, SyntaxError):
            return None
        return list(value) if isinstance(value, (tuple, list, set)) else [value]


def _value(node: gast.AST) -> object:
    return node.value if isinstance(node, gast.Constant) else None
