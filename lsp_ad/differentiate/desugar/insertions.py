"""Code that the user gives for the backward sweep: `with lsp_ad.insert_grad_of(x) as dx:`.

What the fence allows here is taken out of the function, and a call that reads what the code reads stands
in its place through all passes: `insert__1(x, limit)`. The backward sweep writes the code out where it
meets that call, with the adjoint of x under the name `dx`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import gast

from lsp_ad.differentiate.fresh import adjoint_name
from lsp_ad.differentiate.reverse.adjoints import Adjoints
from lsp_ad.differentiate.reverse.forms import Form, State
from lsp_ad.differentiate.reverse.values import ForwardValues
from lsp_ad.problems import Problem, Refusal, problem
from lsp_ad.rules.resolve import Scope
from lsp_ad.semantics import flow
from lsp_ad.semantics.names import parameters
from lsp_ad.semantics.shapes import UNKNOWN, Kind
from lsp_ad.simplify.algebra import assign, name, substitute
from lsp_ad.source.parse import span_of
from lsp_ad.source.printing import plain_assignment
from lsp_ad.source.trees import copied

MARKER = "lsp_ad.insert_grad_of"
EFFECTS = ("builtins.print", "builtins.breakpoint")
_SCOPED = (gast.NamedExpr, gast.Lambda, gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)


@dataclass
class Insertion:
    """The code of one block: `gradients` has the variable of each adjoint, by the name it has in the body;
    `reads` what the marker in the function reads, under the names of the text."""

    gradients: dict[str, str]
    body: list[gast.stmt]
    reads: list[str]

    @property
    def assigned(self) -> set[str]:
        """The variables whose adjoints the body changes."""
        written = flow.writes(self.body)
        return {v for g, v in self.gradients.items() if g in written}

    @property
    def used(self) -> set[str]:
        """The variables whose adjoints the body reads."""
        read = {n for s in flow.statements(self.body) for n in flow.header_reads(s)}
        return {v for g, v in self.gradients.items() if g in read}


def is_insertion(s: gast.stmt, scope: Scope) -> bool:
    return isinstance(s, gast.With) and any(_marks(i.context_expr, scope) for i in s.items)


def _marks(node: gast.expr, scope: Scope) -> bool:
    return isinstance(node, gast.Call) and scope.canonical(node.func) == MARKER


# --- what is allowed -----------------------------------------------------------------------------


def check(s: gast.With, scope: Scope, expression: Callable[[gast.expr], None]) -> Iterator[Problem]:
    """What is wrong with a block; `expression` finds it in an expression."""
    for item in s.items:
        call, alias = item.context_expr, item.optional_vars
        if not _marks(call, scope):
            yield _wrong("It cannot be mixed with other context managers.", call)
        elif len(call.args) != 1 or call.keywords or not isinstance(call.args[0], gast.Name):
            yield _wrong("`insert_grad_of` takes one variable, by its name.", call)
        elif call.args[0].id not in scope.local:
            yield _wrong(f"`{call.args[0].id}` is not a variable of the function.", call)
        elif not isinstance(alias, gast.Name):
            yield _wrong("`insert_grad_of(x)` needs a name for the adjoint: `as dx`.", call)
    adjoints = {i.optional_vars.id for i in s.items if isinstance(i.optional_vars, gast.Name)}
    if len(adjoints) < len(s.items):
        yield _wrong("Two adjoints have the same name.", s.items[0].context_expr)
    for n in (n for x in s.body for n in flow.walk(x)):
        if isinstance(n, _SCOPED):
            yield _wrong("An expression in it binds a name.", n, "Write an assignment or a function.")
    yield from _check_body(s.body, adjoints, scope, expression, False)


def _check_body(
    body: list[gast.stmt],
    adjoints: set[str],
    scope: Scope,
    expression: Callable[[gast.expr], None],
    left: bool,
) -> Iterator[Problem]:
    """`left`: the function itself, which runs the body too, has surely left it before."""
    for s in body:
        if isinstance(s, (gast.Assign, gast.AugAssign)):
            target = s.target if isinstance(s, gast.AugAssign) else s.targets[0]
            if not isinstance(target, gast.Name) or (isinstance(s, gast.Assign) and len(s.targets) > 1):
                yield _wrong("An assignment in it is to one name.", target)
            expression(s.value)
            left |= _uses(s.value, adjoints)
            left |= isinstance(s, gast.AugAssign) and isinstance(target, gast.Name) and target.id in adjoints
        elif isinstance(s, (gast.If, gast.Assert)):
            expression(s.test)
            left |= _uses(s.test, adjoints)
            for block in flow.blocks(s):
                yield from _check_body(block, adjoints, scope, expression, left)
        elif isinstance(s, gast.Expr) and isinstance(s.value, gast.Call):
            if scope.canonical(s.value.func) not in EFFECTS:
                yield _wrong("A call in it whose value is not used is one of print and breakpoint.", s)
                continue
            for argument in [*s.value.args, *(k.value for k in s.value.keywords)]:
                expression(argument)
                left |= _uses(argument, adjoints)
            if not left:
                yield _wrong(
                    "This would happen in the function itself as well, which leaves the block only where the "
                    "adjoint is first used.",
                    s,
                    "Use the adjoint before, or in an argument: `print(f'{dx}')`.",
                )
        elif not isinstance(s, gast.Pass) and not (
            isinstance(s, gast.Expr) and isinstance(s.value, gast.Constant)
        ):
            yield _wrong("Only assignments, if, assert, print and breakpoint may stand in it.", s)


def _uses(node: gast.expr, adjoints: set[str]) -> bool:
    """Whether an expression surely computes something with an adjoint, and does not only hand it on."""
    if isinstance(node, (gast.Name, gast.Constant)):
        return False
    if isinstance(node, gast.IfExp):
        return _uses(node.test, adjoints)
    if isinstance(node, gast.BoolOp):
        return _uses(node.values[0], adjoints) or _is_adjoint(node.values[0], adjoints)
    if isinstance(node, gast.Compare) and isinstance(node.ops[0], (gast.Is, gast.IsNot)):
        return False
    if isinstance(node, (gast.Tuple, gast.List, gast.JoinedStr)):
        return any(_uses(e, adjoints) for e in getattr(node, "elts", None) or node.values)
    if isinstance(node, gast.Call):
        # what a function of the file does with it is not looked into
        return any(_uses(a, adjoints) for a in [node.func, *node.args]) or (
            isinstance(node.func, gast.Attribute) and any(_is_adjoint(a, adjoints) for a in node.args)
        )
    children = [c for c in gast.iter_child_nodes(node) if isinstance(c, gast.expr)]
    if isinstance(node, gast.Compare):
        children = [node.left, node.comparators[0]]
    return any(_is_adjoint(c, adjoints) or _uses(c, adjoints) for c in children)


def _is_adjoint(node: gast.expr, adjoints: set[str]) -> bool:
    return isinstance(node, gast.Name) and node.id in adjoints


def check_names(function: gast.FunctionDef, scope: Scope) -> Iterator[Problem]:
    """What blocks assign must not matter to the rest of the function, nor the other way round."""
    blocks = [s for s in flow.statements(function.body) if is_insertion(s, scope)]
    inner = {id(x) for s in blocks for x in flow.statements([s])}
    outside = set(parameters(function))
    for s in flow.statements(function.body) if blocks else ():
        if id(s) not in inner:
            outside |= flow.header_reads(s) | flow.header_writes(s)
    for s in blocks:
        own = flow.writes([s])
        for n in sorted(own & outside):
            yield _wrong(f"`{n}`, which it assigns, is used outside of it.", s.items[0].context_expr)
        bound = flow.writes(s.body)
        elsewhere = {n for other in blocks if other is not s for n in flow.writes([other])} - own
        for n in sorted(
            {n for x in flow.statements(s.body) for n in flow.header_reads(x)} & elsewhere - bound
        ):
            yield _wrong(f"`{n}` belongs to another block.", s.items[0].context_expr)


def _wrong(message: str, node: gast.AST, way_out: str = "") -> Problem:
    return problem(
        "AD601", f"Code for the backward sweep: {message[:1].lower()}{message[1:]}", span_of(node), way_out
    )


# --- in place of it, a marker --------------------------------------------------------------------


def extract(tree: gast.FunctionDef, scope: Scope) -> dict[str, Insertion]:
    """Put markers in place of the blocks of a tree that the fence has passed; what each stands for."""
    found: dict[str, Insertion] = {}

    def block(body: list[gast.stmt]) -> None:
        for position, s in enumerate(body):
            if is_insertion(s, scope):
                gradients = {i.optional_vars.id: i.context_expr.args[0].id for i in s.items}
                inner = [
                    x for x in map(_plain, s.body) if not isinstance(x, (gast.Expr, gast.Pass)) or _does(x)
                ]
                read = {n for x in flow.statements(inner) for n in flow.header_reads(x)}
                own = flow.writes([s])
                variables = list(dict.fromkeys(gradients.values()))
                reads = [*variables, *sorted((read & set(scope.local)) - own - set(variables))]
                marker = f"insert__{len(found) + 1}"
                found[marker] = Insertion(gradients, inner, reads)
                call = gast.Call(name(marker), [gast.copy_location(name(n), s) for n in reads], [])
                body[position] = gast.copy_location(gast.Expr(call), s)
            else:
                for inner in flow.blocks(s):
                    block(inner)

    block(tree.body)
    return found


def _plain(s: gast.stmt) -> gast.stmt:
    for field_name in ("body", "orelse"):
        if isinstance(s, gast.If):
            setattr(s, field_name, [_plain(x) for x in getattr(s, field_name)])
    return plain_assignment(s)


def _does(s: gast.stmt) -> bool:
    return isinstance(s, gast.Expr) and isinstance(s.value, gast.Call)


@dataclass
class Insertions:
    """The blocks of one function, for the passes after `extract`."""

    blocks: dict[str, Insertion] = field(default_factory=dict)

    def of(self, s: gast.stmt) -> Insertion | None:
        """The block that a marker stands for."""
        if (
            isinstance(s, gast.Expr)
            and isinstance(s.value, gast.Call)
            and isinstance(s.value.func, gast.Name)
        ):
            return self.blocks.get(s.value.func.id)
        return None

    def values(self, s: gast.stmt) -> dict[str, gast.expr]:
        """What the names that a block reads stand for where its marker stands."""
        found = self.of(s)
        assert found is not None
        return dict(zip(found.reads, s.value.args, strict=True))

    def renamed(self, s: gast.stmt) -> dict[str, str]:
        """What the variables whose adjoints a block uses are called where its marker stands."""
        found, values = self.of(s), self.values(s)
        assert found is not None
        names = {}
        for v in dict.fromkeys(found.gradients.values()):
            if not isinstance(values[v], gast.Name):
                message = f"`{v}` is part of an array that is changed in place, with no adjoint of its own."
                raise Refusal(_wrong(message, s, "Take the adjoint of the whole array."))
            names[v] = values[v].id
        return names

    def edges(self, body: list[gast.stmt]) -> list[tuple[set[str], set[str]]]:
        """A variable whose adjoint is made of that of another one influences that one, as far as derivatives
        go: (what influences, what is influenced) for each block."""
        edges = []
        for s in flow.statements(body) if self.blocks else ():
            if (found := self.of(s)) is not None:
                names = self.renamed(s)
                edges.append(({names[v] for v in found.assigned}, {names[v] for v in found.used}))
        return edges

    def touched(self, s: gast.stmt) -> set[str]:
        """The variables whose adjoints a statement may read or change in this way."""
        found = self.of(s)
        return set() if found is None else {self.renamed(s)[v] for v in found.gradients.values()}

    def removed(self, body: list[gast.stmt]) -> list[gast.stmt]:
        """A block without markers."""
        kept = []
        for s in body:
            for block in flow.blocks(s):
                block[:] = self.removed(block)
            if isinstance(s, (gast.If, gast.For, gast.While)) and not s.body:
                s.body.append(gast.Pass())
            if self.of(s) is None:
                kept.append(s)
        return kept

    def backward(
        self, s: gast.stmt, state: State, values: ForwardValues, adjoints: Adjoints
    ) -> list[gast.stmt]:
        """The code of a block in the backward sweep, where there is an adjoint that it could change.

        It is left out where the derivative asked for does not lead through its variables.
        """
        found = self.of(s)
        if found is None:
            return []
        names = self.renamed(s)
        wanted = found.assigned or set(found.gradients.values())
        if not all(names[v] in adjoints.active for v in wanted):
            return []
        out: list[gast.stmt] = []
        shown: dict[str, gast.expr] = {}
        kinds = adjoints.kinds
        for gradient, variable in found.gradients.items():
            v = names[variable]
            kind = kinds.names.get(v, Kind())
            if not kind.may_be_real or kind.is_structure:
                raise Refusal(_wrong(f"`{variable}` is not known to be a float or an array of floats.", s))
            target = adjoint_name(v)
            if v not in state:
                out.append(assign(target, values.zeros(name(v), s)))
            elif not state[v].exact:
                out.append(assign(target, values.full(name(target), name(v), s)))
            state[v] = Form(True, kind.shape == (), False)
            shown[gradient] = name(target)
            kinds.names[target] = Kind(kind.type, "float", kind.shape)
        for n in sorted(flow.writes(found.body) - shown.keys()):
            shown[n] = name(values.fresh.new("b", n))
        forward = {n: values.operand(v, s) for n, v in self.values(s).items()}
        body = [_written(copied(x), {**forward, **shown}) for x in found.body]
        same = self._keep_shape(body, shown, adjoints)
        out += body
        for gradient, variable in found.gradients.items():
            if variable in found.assigned and gradient not in same:
                shape = values.shape(name(names[variable]), s)
                spread = gast.Attribute(values.module("numpy"), "broadcast_to", gast.Load())
                target = adjoint_name(names[variable])
                out.append(assign(target, gast.Call(spread, [name(target), shape], [])))
        return out

    def _keep_shape(self, body: list[gast.stmt], shown: dict[str, gast.expr], adjoints: Adjoints) -> set[str]:
        """The adjoints to which the body surely assigns nothing of another shape than they have."""
        same = set(shown)
        for s in flow.statements(body):
            if isinstance(s, gast.Assign):
                target = s.targets[0].id
                kind = adjoints.kinds.of(s.value)
                for gradient, node in shown.items():
                    if node.id != target:
                        continue
                    before = adjoints.kinds.names.get(target, UNKNOWN)
                    if target.startswith("b__"):
                        adjoints.kinds.bind(target, kind)
                    elif kind.shape is None or kind.shape != before.shape:
                        same.discard(gradient)
                        adjoints.kinds.names[target] = UNKNOWN
        return same


def _written(s: gast.stmt, names: dict[str, gast.expr]) -> gast.stmt:
    """A statement of a block with its names replaced, the assigned ones too."""
    for n in flow.walk(s):
        if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store):
            n.id = names[n.id].id
    return substitute(s, names)
