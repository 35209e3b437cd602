"""The origin of the value of an expression."""

from __future__ import annotations

import gast

from lsp_ad.checks.bodies import applied, bodies, parameters_of
from lsp_ad.checks.certainty import (
    of_attribute,
    of_builtin,
    of_call,
    of_comparison,
    of_method,
    of_operation,
    of_subscript,
)
from lsp_ad.checks.conditions import Conditions
from lsp_ad.checks.facts import Facts
from lsp_ad.checks.origins import (
    FIELD,
    PARTS,
    TRACED,
    UNKNOWN,
    Kind,
    Origin,
    Sure,
    computed,
    derived,
    frozen,
    held,
    is_constant,
    join,
    outside,
    related,
)
from lsp_ad.checks.parameters import bind
from lsp_ad.checks.staged_functions import Place, bound_already, is_local

_FORM_ATTRIBUTES = {"shape", "ndim", "dtype"}
_FORM_CALLS = {
    "builtins.len", "builtins.isinstance", "builtins.issubclass", "builtins.hasattr", "builtins.callable",
    "builtins.type", "jax.numpy.shape", "jax.numpy.ndim", "jax.numpy.size", "jax.numpy.issubdtype",
    "jax.numpy.result_type", "jax.numpy.isscalar", "jax.numpy.iscomplexobj", "jax.dtypes.",
    "jax.default_backend", "jax.devices", "jax.device_count", "jax.local_device_count", "jax.process_index",
    "jax.process_count", "jax.config.", "numpy.shape", "numpy.ndim", "numpy.size", "numpy.issubdtype",
    "numpy.result_type", "numpy.isscalar",
    "numpy.iscomplexobj", "numpy.isrealobj", "tensorflow.is_tensor", "tensorflow.executing_eagerly",
    "tensorflow.get_static_value", "tensorflow.config.",
}
_ARRAYS = (".Array", ".ndarray", ".Tracer", ".Tensor", ".Variable")
# These call a function when the traced one runs, with numbers.
_CALLBACKS = {
    "jax.pure_callback", "jax.debug.callback", "jax.experimental.io_callback", "tensorflow.py_function",
    "tensorflow.numpy_function",
}  # fmt: skip
# Python values made anew each time the function is traced, and only then.
_HOST_CALLS = ("os.", "random.", "time.", "datetime.", "numpy.random.", "platform.", "socket.")
_PURE = {f"builtins.{name}" for name in
         ("abs", "all", "any", "bool", "divmod", "enumerate", "float", "frozenset", "int", "max", "min",
          "pow", "range", "reversed", "round", "set", "sorted", "str", "sum", "tuple", "zip")}


class Values(Conditions):
    """Origins of expressions in one state of one function (`place`; None for the module itself).

    Conditional expressions, calls of functions of this file and lambdas met on the way are kept:
    `predicates`, `calls` and `inner`.
    """

    def __init__(self, facts: Facts, place: Place | None, around: Values | None = None):
        super().__init__()
        self.facts, self.functions, self.place, self.around = facts, facts.functions, place, around
        self.calls: dict[gast.AST, tuple[Place, gast.Call | None, dict[str, Origin] | None]] = {}
        self.inner: dict[gast.AST, Place] = {}
        self.known: dict[gast.AST, Origin] = {}
        self.hosted: set[Place] = set()
        self.bodies: set[Place] = set()

    def origin(self, node: gast.AST | None) -> Origin:
        if node is None:
            return Origin(Kind.CONSTANT)
        method = getattr(self, "_" + type(node).__name__.lower(), None)
        found = self.known[node] = method(node) if method else UNKNOWN
        return found

    def all(self, nodes: list) -> list[Origin]:
        return [self.origin(n) for n in nodes if n is not None]

    def bind(self, target: gast.AST, origin: Origin) -> None:
        """Let a target have a value of that origin."""
        if isinstance(target, gast.Name):
            self.state[target.id] = origin.through(related(f"`{target.id}` is assigned here.", target))
        elif isinstance(target, gast.Starred):
            self.bind(target.value, origin)
        elif isinstance(target, (gast.Tuple, gast.List)):
            for element in target.elts:
                self.bind(element, origin)
        elif target is not None:
            self.all([child for child in gast.iter_child_nodes(target) if isinstance(child, gast.expr)])

    def is_concrete(self, test: gast.Call, outcome: bool) -> bool:
        name = self.functions.canonical(test.func, self.place) or ""
        if name in ("tensorflow.executing_eagerly", "builtins.callable", "jax.core.is_concrete"):
            return outcome
        if name in ("builtins.hasattr", "tensorflow.is_tensor", "tensorflow.is_symbolic_tensor"):
            return not outcome
        if name != "builtins.isinstance" or len(test.args) != 2:
            # `is_list_like(x)` of whoever: what it is asked of may be something else than an array.
            library = name.startswith(("jax.", "tensorflow.", "numpy."))
            asks = getattr(test.func, "attr", getattr(test.func, "id", "")).startswith("is_")
            return outcome and asks and not library and len(test.args) == 1
        kinds = test.args[1].elts if isinstance(test.args[1], gast.Tuple) else [test.args[1]]
        names = [self.functions.canonical(k, self.place) or "" for k in kinds]
        arrays = any(n.endswith(_ARRAYS) and not n.startswith("numpy.") for n in names)
        return arrays is not outcome

    # Expressions, by the name of the node

    def _constant(self, node: gast.Constant) -> Origin:
        return Origin(Kind.CONSTANT, f"`{self.text(node)}` is a constant")

    def _name(self, node: gast.Name) -> Origin:
        self._handed_on(node)
        return self.lookup(node.id)

    def lookup(self, name: str) -> Origin:
        if name in self.state:
            return self.state[name]
        if self.place and name in self.place.locals:
            return UNKNOWN
        if self.around:
            return self.around.captured(name, self.place)
        canonical = self.functions.program.imports.get(name)
        return self.facts.imported_name(canonical, name) if canonical else self.facts.of_global(name)

    def captured(self, name: str, inner: Place | None) -> Origin:
        """The origin of a name of this function, seen from a function inside it."""
        return self.lookup(name)

    def _attribute(self, node: gast.Attribute) -> Origin:
        self._handed_on(node)
        if isinstance(node.value, gast.Name):
            owner = self.functions.class_of(node.value.id, self.place)
            if owner:
                return self.facts.attribute(owner, node.attr)
            if self._is_class(node.value) and node.attr.isupper():
                return Origin(Kind.GLOBAL, f"`{self.text(node)}` is an attribute of a class")
        canonical = self.functions.canonical(node, self.place)
        if canonical:
            return self.facts.imported_name(canonical, self.text(node).split(".")[0])
        base = self.origin(node.value)
        if base.owner is not None:
            return self.facts.field(base.owner, node.attr)
        if node.attr in _FORM_ATTRIBUTES and base.kind > Kind.SILENT:
            return Origin(Kind.FORM, f"`{self.text(node)}` is known then")
        # The attributes of a global object may be anything; a flag by their name alone.
        if base.kind is Kind.UNKNOWN and node.attr.isupper() and isinstance(node.value, gast.Name):
            where = self.facts.assignments.get(node.value.id, [])
            if where and not is_local(node.value.id, self.place):
                return frozen(self.text(node), related=(related("It is assigned here.", where[0][0]),))
        return of_attribute(base, node.attr)

    def _is_class(self, node: gast.Name) -> bool:
        found = self.facts.assignments.get(node.id, [])
        is_class = len(found) == 1 and isinstance(found[0][0], gast.ClassDef)
        return is_class and not is_local(node.id, self.place)

    def _subscript(self, node: gast.Subscript) -> Origin:
        return of_subscript(self.origin(node.value), self.origin(node.slice))

    def _slice(self, node: gast.Slice) -> Origin:
        return derived(self.all([node.lower, node.upper, node.step]))

    def _binop(self, node: gast.BinOp) -> Origin:
        left, right = self.origin(node.left), self.origin(node.right)
        return of_operation(node.op, (node.left, left), (node.right, right))

    def _unaryop(self, node: gast.UnaryOp) -> Origin:
        return computed([self.origin(node.operand)])

    def _boolop(self, node: gast.BoolOp) -> Origin:
        return derived(self._in_turn(node, self.origin))

    def _ifexp(self, node: gast.IfExp) -> Origin:
        decided = self.predicate(node, node.test)
        before = self.state
        values = []
        for branch, outcome in ((node.body, True), (node.orelse, False)):
            self.state = dict(before)
            self.narrow(node.test, outcome)
            values.append(self.origin(branch))
        self.state = before
        return join(values) if decided.kind.decided else Origin(decided.kind, sure=decided.sure)

    def _compare(self, node: gast.Compare) -> Origin:
        operands = [node.left, *node.comparators]
        origins = self.all(operands)
        found = of_comparison(node, origins)
        identity = all(isinstance(op, (gast.Is, gast.IsNot)) for op in node.ops)
        asked = join(origins)
        none = any(isinstance(o, gast.Constant) and o.value is None for o in operands)
        if identity and (asked.kind > Kind.SILENT or (none and asked.parameter is not None)):
            other = 0 if _is_bool(operands[-1]) else -1
            traced = self.text(operands[other])
            tested = isinstance(operands[other], (gast.Compare, gast.BoolOp))
            sure = tested or origins[other].sure is Sure.ITSELF
            if asked.kind is Kind.TRACED and any(_is_bool(o) for o in operands) and sure:
                return Origin(Kind.SILENT, f"`{traced}` is traced, so it is neither True nor False itself",
                              "Test the value, without `is`.")
            return Origin(Kind.FORM, f"`{self.text(node)}` asks which object it is, not for its value")
        membership = isinstance(node.ops[0], (gast.In, gast.NotIn))
        if membership and is_constant(node.left) and not found.kind.decided:
            return Origin(Kind.FORM, f"`{self.text(node)}` asks for a key")
        if membership and found.kind is Kind.TRACED:
            return TRACED
        return found

    def _call(self, node: gast.Call) -> Origin:
        canonical = self.functions.canonical(node.func, self.place) or ""
        callee = self.functions.find(node.func, self.place, called=True)
        if canonical in _CALLBACKS and node.args:
            self._hosted(node.args[0])
            self.all([*node.args[1:], *(k.value for k in node.keywords)])
            return of_call(canonical, [PARTS])
        arguments = self.all([*node.args, *(k.value for k in node.keywords)])
        if self._bodies(canonical, node, arguments) >= Sure.PARTS:
            return PARTS
        if callee:
            bound = bind(node, callee, bound_already(node.func, callee))
            self.calls[node] = (callee, node, None if bound is None else
                                {name: self.origin(value) for name, value in bound.items()})
            known = self.facts.results.get(callee)
            if known is not None:
                return known
            return TRACED if derived(arguments).kind is Kind.TRACED else UNKNOWN
        if _matches(canonical, _FORM_CALLS):
            subject = arguments[0] if arguments else UNKNOWN
            known = Origin(Kind.FORM, f"`{self.text(node)}` is known then")
            form = subject.kind > Kind.SILENT or subject.parameter is not None
            return known if form else subject
        if canonical.startswith(("jax.", "tensorflow.")):
            return of_call(canonical, arguments)
        whole = derived(arguments)
        if canonical.startswith(_HOST_CALLS) and whole.kind.decided:
            return Origin(Kind.SILENT, f"`{self.text(node.func)}` is called then, and not again")
        if canonical in _PURE:
            return of_builtin(canonical.removeprefix("builtins."), arguments)
        if canonical.startswith(("numpy.", "math.", "operator.")):
            return computed(arguments)
        if canonical or not isinstance(node.func, gast.Attribute):
            self.origin(node.func)
            return TRACED if whole.kind is Kind.TRACED else UNKNOWN
        self.origin(node.func)
        return of_method(self.known.get(node.func.value, UNKNOWN), node.func.attr, arguments)

    def _bodies(self, canonical: str, node: gast.Call, arguments: list[Origin]) -> Sure:
        """Note what a library calls the functions with that a call hands on to it.

        How sure it is that `jax.grad(f)(x)` gives something traced.
        """
        result = Sure.MAYBE
        found = [(f, bound, origins, False) for f, bound, origins in bodies(canonical, node)]
        if isinstance(node.func, gast.Call):
            maker = self.functions.canonical(node.func.func, self.place) or ""
            called = applied(maker, node, arguments[: len(node.args)])
            if called is not None:
                self.origin(node.func)
                found.append((called[0], 0, called[1], True))
                result = max((o.sure for o in called[1]), default=Sure.MAYBE)
        for function, bound, origins, exact in found:
            place = self.functions.find(function, self.place, called=True)
            if place is None:
                continue
            given = parameters_of(place, bound + bound_already(function, place), origins, exact)
            if given is not None:
                self.calls[function] = (place, None, given)
            if not exact:
                self.bodies.add(place)
        return result

    def _hosted(self, function: gast.expr) -> None:
        """A function that is handed to the run time: it is not traced."""
        if isinstance(function, gast.Call) and function.args:  # functools.partial(f, ...)
            function = function.args[0]
        callee = self.functions.find(function, self.place)
        if callee is not None:
            self.hosted.add(callee)

    def _handed_on(self, node: gast.expr) -> None:
        """A function of this file that is a value here: it may be called, with anything."""
        callee = self.functions.find(node, self.place)
        if callee:
            self.calls.setdefault(node, (callee, None, None))

    def _elements(self, node: gast.AST) -> Origin:
        elements = node.elts
        origins = self.all(elements)
        # What is empty now is filled later.
        return held(origins) if elements else UNKNOWN

    _tuple = _list = _set = _elements

    def _dict(self, node: gast.Dict) -> Origin:
        return held(self.all(node.values)) if node.values else UNKNOWN

    def _starred(self, node: gast.Starred) -> Origin:
        return self.origin(node.value)

    def _joinedstr(self, node: gast.JoinedStr) -> Origin:
        return outside(derived(self.all(node.values)))

    def _formattedvalue(self, node: gast.FormattedValue) -> Origin:
        return self.origin(node.value)

    def _namedexpr(self, node: gast.NamedExpr) -> Origin:
        found = self.origin(node.value)
        self.bind(node.target, found)
        return found

    def _await(self, node: gast.Await) -> Origin:
        return self.origin(node.value) and UNKNOWN

    _yieldfrom = _yield = _await

    def _lambda(self, node: gast.Lambda) -> Origin:
        place = self.functions.places.get(node)
        if place:
            self.inner[node] = place
        return UNKNOWN

    def _comprehension(self, node: gast.AST) -> Origin:
        before = dict(self.state)
        for generator in node.generators:
            self.bind_loop(generator.target, generator.iter)
            self.all(generator.ifs)
        parts = [node.key, node.value] if isinstance(node, gast.DictComp) else [node.elt]
        found = derived(self.all(parts))
        self.state = before
        if found.kind is Kind.FORM and isinstance(node, gast.GeneratorExp):
            return found
        return held([found]) if found.kind is Kind.TRACED else UNKNOWN

    _listcomp = _setcomp = _dictcomp = _generatorexp = _comprehension

    def bind_loop(self, target: gast.AST, iterable: gast.expr) -> Origin:
        """Let a loop target have an element of an iterable; how the iteration is decided."""
        function = iterable.func if isinstance(iterable, gast.Call) else iterable
        name = self.functions.canonical(function, self.place)
        whole = self.origin(iterable)
        index = Origin(Kind.FLAG, "it is the index of a loop that is unrolled")
        pair = isinstance(target, (gast.Tuple, gast.List)) and len(target.elts) == 2
        if name == "builtins.range":
            self.bind(target, index if whole.kind.decided else whole)
        elif name == "builtins.enumerate" and pair:
            self.bind(target.elts[0], index)
            self.bind(target.elts[1], whole)
        else:
            # Elements of a literal list are as deliberate as the index; what may be a dict gives its keys.
            element = whole
            if isinstance(iterable, (gast.List, gast.Tuple)):
                element = join(self.known.get(e, UNKNOWN) for e in iterable.elts)
            elif whole.sure is Sure.PARTS and not isinstance(iterable, gast.Call):
                element = FIELD
            self.bind(target, Origin(Kind.FLAG, index.clause) if whole.kind is Kind.CONSTANT else element)
        return whole

    def text(self, node: gast.AST) -> str:
        """The text of an expression, on one line and not long."""
        lines = self.functions.program.parsed.document.lines
        start = lines.offset(node.lineno, node.col_offset)
        text = " ".join(lines.text[start:lines.offset(node.end_lineno, node.end_col_offset)].split())
        return text if len(text) <= 60 else text[:57] + "..."


def _is_bool(node: gast.expr) -> bool:
    return isinstance(node, gast.Constant) and isinstance(node.value, bool)


def _matches(canonical: str, names: set[str]) -> bool:
    return canonical in names or any(n.endswith(".") and canonical.startswith(n) for n in names)


def module_origin(facts: Facts, node: gast.expr) -> Origin:
    """The origin of an expression at the top level of the file."""
    return Values(facts, None).origin(node)
