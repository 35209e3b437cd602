"""The two sweeps of one function as one body: forward statements, a mark, backward statements, a return."""

from __future__ import annotations

import builtins
from dataclasses import dataclass, field, replace

import gast

from lsp_ad.differentiate.desugar.checkpoints import Reruns, removed
from lsp_ad.differentiate.fresh import adjoint_name, primal_name
from lsp_ad.differentiate.normal.paths import assembled
from lsp_ad.differentiate.options import DEFAULT, Options
from lsp_ad.differentiate.output.display import PATTERNS, Display
from lsp_ad.differentiate.output.simplified import shared_memory, simplify
from lsp_ad.differentiate.reverse import saves, seeds
from lsp_ad.differentiate.reverse.adjoints import Adjoints
from lsp_ad.differentiate.reverse.calls import Callees
from lsp_ad.differentiate.reverse.forms import Form, State
from lsp_ad.differentiate.reverse.operations import Operations
from lsp_ad.differentiate.reverse.statements import Reverse
from lsp_ad.differentiate.reverse.tape import Tapes
from lsp_ad.differentiate.reverse.values import ForwardValues
from lsp_ad.differentiate.types.nested import may_be_lists, may_nest
from lsp_ad.differentiate.unit import Unit
from lsp_ad.semantics import flow
from lsp_ad.semantics.binding import definitely_bound
from lsp_ad.semantics.memory import mutated
from lsp_ad.semantics.points import Points
from lsp_ad.semantics.shapes import Kind
from lsp_ad.simplify.algebra import assign, call, constant, name, substitute
from lsp_ad.simplify.compositions import compose
from lsp_ad.simplify.dead import drop_dead_writes
from lsp_ad.simplify.symmetric import Facts, shorten

MARK = "where the backward sweep begins"
NAMES = {
    "grad": "{}_grad",
    "vjp": "{}_vjp",
    "value_and_grad": "{}_value_and_grad",
    "pair": "{}",
    "split": "{}_forward",
}


@dataclass(frozen=True)
class Swept:
    """The generated body under the names that people see.

    `checked`: the value whose shape the seed must have, if that has to be checked when the code runs;
    `structured`: it is no single array. `start`: what the backward sweep does before that check.
    `undone`, in split motion: the backward sweep changes arrays of the forward sweep.
    In forward mode all stands in `forward`; `tangents` are those of the parameters, by parameter, and
    `derived` the tangent statements by their ids.
    """

    name: str
    seed: str
    forward: list[gast.stmt]
    backward: list[gast.stmt]
    returned: gast.expr
    checked: str | None
    scalar: bool
    helpers: frozenset[str]
    modules: frozenset[str]
    parameters: frozenset[str]
    tangents: dict[str, str] = field(default_factory=dict)
    derived: frozenset[int] = frozenset()
    structured: bool = False
    start: tuple[gast.stmt, ...] = ()
    undone: bool = False


def sweep(unit: Unit, mode: str, callees: Callees, options: Options = DEFAULT) -> Swept:
    """Differentiate a prepared function."""
    values = ForwardValues(unit.original, unit.scope, unit.kinds, unit.stability, unit.fresh, unit.declared)
    adjoints = Adjoints(values, unit.kinds, unit.active, of_callee=mode == "pair")
    values.lists = adjoints.lists = may_be_lists(unit.tree.body, unit.active, unit.kinds, unit.scope)
    use_checks(unit, values)
    adjoints.once, adjoints.factors = _read_once(unit), _factors(unit.tree.body)
    operations = Operations(values, adjoints, unit.active, unit.carries, callees, unit.symmetric)
    reverse = Reverse(operations, unit.insertions)
    seed = adjoint_name(unit.result)
    kind = unit.kinds.names.get(unit.result, Kind())
    scalar = kind.shape == ()
    state: State = {unit.result: Form(True, scalar, False)}
    body, last = unit.tree.body[:-1], unit.tree.body[-1]
    backward = reverse.block(body, state)
    check = None
    single = kind.type in ("numeric", "array")
    start = []
    if options.product is not None:
        start = [assign(seed, constant(1.0))]
    if not scalar and mode != "pair":
        computed = mode not in ("grad", "vjp") or options.seed_of(mode) == "ones"
        like = seeds.like_result(unit, values, backward, computed) if single else name(unit.result)
        check = seeds.check(seed, like)
        if not single:
            values.helper("same_form")
        if options.seed_of(mode) == "ones":
            start = [seeds.ones(seed, unit.result, values)]
    first = unit.tree.body[0]
    nested = may_nest(unit.tree.body, adjoints.lists, unit.unpacked, unit.kinds, unit.scope)
    if mode == "pair":  # a parameter that does not matter may be anything; lists stand for tuples
        nested = set()
        unused = [p for p in unit.wrt if p not in state]
        values.lists |= {p for p in unused if unit.kinds.names.get(p, Kind()).may_be_list}
    gradients = [_gradient_of(p, unit, nested, state, values, backward, first) for p in unit.wrt]
    returned: gast.expr = gradients[0] if len(gradients) == 1 else gast.Tuple(gradients, gast.Load())
    backward[:0] = [*start, *([check] if check is not None else [])]
    options.record("sweeps", unit.tree, _joint(body, backward, returned))
    points = unit.points
    if options.optimized:
        saves.compute_again(body, backward, values, points)
    reruns = Reruns(body, unit.stability.carried, unit.fresh)
    unit.insertions.removed(list(reruns.plain.values()))
    forward: list[gast.stmt] = [assign(n, constant(None)) for n in sorted(values.bound_first)]
    forward += unit.insertions.removed(values.insert_saves([*body, last], points)[:-1])
    bound = {*unit.parameters, *unit.paths}
    if options.optimized:
        saves.fold(forward, backward, bound, points)
        whole = _joint(forward, backward, returned)
        whole = drop_dead_writes(whole, shared_memory(whole, unit, values, points), points)[:-1]
        mark = next(i for i, s in enumerate(whole) if _is_mark(s))
        forward, backward = whole[:mark], whole[mark + 1 :]
    options.record("saves", unit.tree, _joint(forward, backward, returned))
    tapes = Tapes(unit.scope, unit.kinds, unit.stability, unit.fresh, forward, bound, reruns)
    tapes.add(reverse.loops)
    for pair in reverse.loops:
        points.forget_header(pair.node)
    forward = removed(forward)
    options.record("tapes", unit.tree, _joint(forward, backward, returned))
    if mode in ("value_and_grad", "pair", "split"):
        kept = unit.result
        whole = _joint(forward, backward, returned)
        shared = shared_memory(whole, unit, values, points, tapes.names)
        undone = bool(points.mutated(backward) & shared.get(kept, frozenset([kept])))
        if undone or kept in flow.writes(backward):
            kept = unit.fresh.new("result")
            own = call(values.helper("copy_of"), name(unit.result)) if undone else name(unit.result)
            forward.append(assign(kept, own))
        returned = gast.Tuple([name(kept), returned], gast.Load())
    joint = _joint(forward, backward, returned)

    def is_matrix(n: str) -> bool:
        return unit.kinds.names.get(n, Kind()).rank == 2

    if options.optimized:
        helpers = compose(joint, values.helpers, lambda: unit.fresh.new("b"), points, is_matrix)
        values.helpers |= helpers
        given = bound if options.product is not None else {*bound, seed}
        shared = shared_memory(joint, unit, values, points, tapes.names)
        values.helpers |= shorten(joint, _facts(joint, unit, values, given, shared, points), points)
        joint = simplify(joint, given, points, shared)
        options.record("simplified", unit.tree, joint)
    items = {n: path.expression() for n, path in unit.paths.items()}
    for s in points.mentioning(joint, items) if items else ():
        substitute(s, items)
        points.forget(s)
    if mode in ("pair", "split"):
        joint = _bound_at_mark(joint, {*unit.parameters, seed})
    swept = _shown(joint, unit, mode, seed, scalar, values, points)
    if mode in ("pair", "split"):
        undone = bool(mutated(swept.backward) & (flow.writes(swept.forward) | swept.parameters))
        own = swept.helpers | ({"own_copy"} if undone and mode == "split" else set())
        swept = replace(swept, undone=undone, helpers=own)
    return replace(swept, structured=check is not None and not single)


def _joint(forward: list[gast.stmt], backward: list[gast.stmt], returned: gast.expr) -> list[gast.stmt]:
    """The two sweeps as one body."""
    return [*forward, gast.Expr(constant(MARK)), *backward, gast.Return(returned)]


def _bound_at_mark(joint: list[gast.stmt], parameters: set[str]) -> list[gast.stmt]:
    """What the forward function hands over exists on every path: None, where a path does not compute it."""
    mark = next(i for i, s in enumerate(joint) if _is_mark(s))
    live = flow.live_before(flow.Flow.of(joint[mark:]))[0] & flow.writes(joint[:mark])
    sure = definitely_bound(joint[:mark], parameters)
    return [*(assign(n, constant(None)) for n in sorted(live - sure)), *joint]


def _facts(
    joint: list[gast.stmt],
    unit: Unit,
    values: ForwardValues,
    given: set[str],
    shared: dict[str, frozenset[str]],
    points: Points,
) -> Facts:
    """What is known of the names of a generated body; the adjoint of a number is a number."""
    written = points.mutated(joint)

    def called(node: gast.expr) -> tuple[str, list[gast.expr]]:
        operation = unit.scope.operation(node)
        if operation is None or operation.keywords:
            return "", []
        return operation.rule.name, operation.args

    return Facts(
        unit.symmetric,
        lambda n: unit.kinds.names.get(primal_name(n), Kind()).shape == (),
        given,
        written.union(*(shared.get(n, frozenset()) for n in written)),
        called,
        lambda: values.module("numpy"),
    )


def _factors(body: list[gast.stmt]) -> set[str]:
    """The operands of matrix products: surely no numbers."""
    return {
        operand.id
        for s in flow.statements(body)
        if isinstance(s, gast.Assign) and isinstance(s.value, gast.BinOp)
        if isinstance(s.value.op, gast.MatMult)
        for operand in (s.value.left, s.value.right)
        if isinstance(operand, gast.Name)
    }


def _read_once(unit: Unit) -> set[str]:
    """The temporaries that one expression reads."""
    counts = unit.points.counts(unit.tree.body)
    return {n for n, count in counts.items() if count == 1 and n.startswith("t__")}


def unnest(body: list[gast.stmt]) -> None:
    """`if c: break; else: rest` as the user wrote it: `if c: break`, then the rest."""
    position = 0
    while position < len(body):
        s = body[position]
        for block in flow.blocks(s):
            unnest(block)
        if isinstance(s, gast.If) and s.orelse and isinstance(s.body[-1], (gast.Break, gast.Raise)):
            body[position + 1 : position + 1] = s.orelse
            s.orelse = []
        position += 1


def _gradient_of(
    p: str,
    unit: Unit,
    nested: set[str],
    state: State,
    values: ForwardValues,
    out: list[gast.stmt],
    first: gast.stmt,
) -> gast.expr:
    """The gradient of a parameter; that of a dict is put together from the adjoints of its items."""
    if p in unit.apart.classes:
        moving = {
            n: path for n, path in unit.apart.paths.items() if path.parameter == p and unit.apart.moves(n)
        }
        fields = {path: _gradient(n, nested, state, values, out, first) for n, path in moving.items()}
        return unit.apart.gradient(p, fields, lambda x: call(values.helper("zeros_of"), x))
    items = {n: path for n, path in unit.paths.items() if path.parameter == p}
    if not items:
        return _gradient(p, nested, state, values, out, first)
    parts = {path: _gradient(n, nested, state, values, out, first) for n, path in items.items()}
    return call(values.helper("filled"), assembled(p, parts), name(p))


def _gradient(
    p: str, nested: set[str], state: State, values: ForwardValues, out: list[gast.stmt], first: gast.stmt
) -> gast.expr:
    """The gradient of a parameter, in the shape that it has on entry, before the first statement."""
    target = adjoint_name(p)
    if p not in state:
        kind = values.kinds.names.get(p, Kind())
        out.append(assign(target, constant(0.0) if kind.shape == () else values.zeros(name(p), first)))
    elif not state[p].exact:
        out.append(assign(target, values.full(name(target), name(p), first)))
    if p in nested:
        return call(values.helper("like"), name(target), name(p))
    return name(target)


def _shown(
    joint: list[gast.stmt],
    unit: Unit,
    mode: str,
    seed: str,
    scalar: bool,
    values: ForwardValues,
    points: Points,
) -> Swept:
    if mode in ("pair", "split"):
        unit.webs.setdefault(seed, seed)
    display = display_of(joint, unit, {seed: unit.title.rpartition(".")[2]}, values, points)
    # the last two stand in the checks on entry and of the seed
    helpers = values.helpers & (points.mentioned(joint) | {"same_form", "holds_complex"})
    joint = display.rename(joint)
    unnest(joint)
    mark = next(i for i, s in enumerate(joint) if _is_mark(s))
    forward, backward = joint[:mark], joint[mark + 1 : -1]
    at = next((i for i, s in enumerate(backward) if seeds.is_check(s)), None)
    check = None if at is None else backward[at]
    start, backward = ((), backward) if at is None else (tuple(backward[:at]), backward[at + 1 :])
    returned = joint[-1].value
    like = _text(check.value.args[1]) if check is not None else None
    return Swept(
        NAMES[mode].format(unit.original.name),
        display.shown[seed],
        forward,
        backward,
        returned,
        like,
        scalar,
        frozenset(helpers),
        modules(unit, values),
        frozenset(unit.parameters),
        start=start,
    )


def display_of(
    joint: list[gast.stmt],
    unit: Unit,
    seeds: dict[str, str],
    values: ForwardValues,
    points: Points,
    patterns: tuple[str, ...] = PATTERNS,
) -> Display:
    """The names that people see in a generated body; `seeds` are its further parameters, each with what it is
    the derivative of."""
    used = points.mentioned(joint)
    local = points.bound(joint) | set(unit.parameters)
    outside = (used | values.helpers) - {n for n in used if "__" in n} - local
    outside |= unit.program.bound | set(dir(builtins)) | set(unit.scope.imports)
    return Display(
        joint,
        [*unit.parameters, *seeds],
        unit.webs,
        unit.fresh.hints,
        outside,
        seeds,
        unit.original.name,
        points,
        patterns,
    )


def use_checks(unit: Unit, values: ForwardValues) -> None:
    """Ask for what the checks that arguments are real call."""
    for p in unit.real:
        if p in values.lists:
            values.helper("holds_complex")
            unit.real_inside.add(p)
        elif unit.kinds.names[p].shape != ():
            values.module("numpy")


def modules(unit: Unit, values: ForwardValues) -> frozenset[str]:
    """The modules that generated code needs and the file does not import."""
    needs_numpy = unit.scope.alias_of("numpy") is None and any(unit.declared.values())
    return frozenset(values.modules | ({"numpy"} if needs_numpy else set()))


def _is_mark(s: gast.stmt) -> bool:
    return isinstance(s, gast.Expr) and isinstance(s.value, gast.Constant) and s.value.value == MARK


def _text(node: gast.expr) -> str:
    from lsp_ad.source.printing import expression_text

    return expression_text(node)
