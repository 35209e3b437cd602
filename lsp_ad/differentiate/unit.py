"""One function on its way through the passes:
from the user's text to normal form, with what is known of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import gast

from lsp_ad.differentiate.desugar import comprehensions, iterators, loop_options, structure, tries
from lsp_ad.differentiate.desugar.insertions import Insertions, extract
from lsp_ad.differentiate.desugar.statements import desugar
from lsp_ad.differentiate.fence import allowed as fence
from lsp_ad.differentiate.fresh import RESERVED, Fresh, plain
from lsp_ad.differentiate.functions import inline
from lsp_ad.differentiate.normal import paths, shifts, webs
from lsp_ad.differentiate.normal.form import Normalizer
from lsp_ad.differentiate.normal.paths import Path
from lsp_ad.differentiate.normal.stable import Stability
from lsp_ad.differentiate.objects.results import Apart
from lsp_ad.differentiate.options import DEFAULT, Options
from lsp_ad.differentiate.types.inference import assumed_numbers, kinds_in, uses_in
from lsp_ad.differentiate.types.realness import Realness
from lsp_ad.differentiate.types.symmetry import symmetric_names
from lsp_ad.differentiate.writes import mutations, unshared, views
from lsp_ad.differentiate.writes.assumptions import Assumptions
from lsp_ad.problems import Refusal, Span, problem
from lsp_ad.rules.declared import call_of, declared
from lsp_ad.rules.resolve import Scope
from lsp_ad.semantics import activity, flow
from lsp_ad.semantics.changes import change_of
from lsp_ad.semantics.hints import declared_shapes, default_is_other, default_values, parameter_kinds
from lsp_ad.semantics.kinds import Kinds
from lsp_ad.semantics.memory import stored_value, written_root
from lsp_ad.semantics.names import Program, local_imports, local_names, parameters
from lsp_ad.semantics.points import Points
from lsp_ad.semantics.shapes import UNKNOWN, Kind
from lsp_ad.semantics.uses import Uses, used_as_dict, used_as_int
from lsp_ad.source.parse import span_of
from lsp_ad.source.printing import plain_assignment
from lsp_ad.source.trees import copied


@dataclass
class Unit:
    """A function in normal form with the facts about its names."""

    program: Program
    original: gast.FunctionDef
    tree: gast.FunctionDef
    scope: Scope
    kinds: Kinds
    active: set[str]
    carries: activity.Carries
    webs: dict[str, str]
    fresh: Fresh
    points: Points
    stability: Stability
    result: str
    wrt: tuple[str, ...]
    declared: dict[str, tuple]
    inlined: set[str]
    insertions: Insertions
    paths: dict[str, Path]
    unpacked: set[str]
    unknown: set[str]
    real: tuple[str, ...]
    apart: Apart
    rebound: frozenset[Span]
    loop_options: dict[Span, list[gast.keyword]]  # what the user says of loops, by their places
    symmetric: frozenset[str]
    real_inside: set[str] = field(default_factory=set)  # of `real`, those that may be lists of numbers

    @property
    def parameters(self) -> list[str]:
        return parameters(self.original)

    @property
    def title(self) -> str:
        """What the user calls the function: `loss`, `Model.loss`."""
        return self.apart.title or self.original.name


def name_span(function: gast.FunctionDef) -> Span:
    """The span of a function's name in its header."""
    column = function.col_offset + len("def ")
    return Span(function.lineno, column, function.lineno, column + len(function.name))


def float_parameters(program: Program, function: gast.FunctionDef) -> tuple[str, ...]:
    """The parameters of a function that are not known to be something other than float."""
    scope = Scope.of(program, function)
    kinds, defaults = parameter_kinds(function), default_values(function)
    counted = used_as_int(function, scope.canonical)
    starred = {a.id for a in (function.args.vararg, function.args.kwarg) if a is not None}
    return tuple(
        p
        for p in parameters(function)
        if kinds[p].may_be_real
        and p not in counted
        and p not in starred
        and not (p in defaults and default_is_other(defaults[p]))
    )


def prepare(
    program: Program,
    function: gast.FunctionDef,
    wrt: tuple[str, ...] | None,
    callee: bool = False,
    options: Options = DEFAULT,
) -> Unit:
    """Take a function through all passes before the reverse sweep; Refusal has every reason against it.

    `callee`: the derivative is for a call, where a parameter without influence has a zero adjoint.
    """
    original = function
    apart: Apart = program.derived.get(("apart", function.name), Apart())
    imports = local_imports(original)
    local: set[str] = (local_names(original) - set(imports)) | apart.parts.keys()
    scope = Scope(program, local, imports)
    if problems := fence.check(original, scope):
        raise Refusal(*problems)
    function = copied(original)
    if declared(program, original) is not None:
        function.body = [call_of(original)]
    insertions = Insertions(extract(function, scope))
    tree = copied(function)
    options_of_loops = loop_options.taken_out(tree, scope)
    if taken := [n for n in sorted(local) if RESERVED.match(n)]:
        message = f"The name `{taken[0]}` is of a form that the compiler uses itself."
        raise Refusal(problem("AD102", message, name_span(function), "Rename it."))
    _plain(tree)
    options.record("primal", tree)
    fresh = Fresh(local | set(imports) | program.bound)
    desugar(tree, scope, fresh)
    local |= flow.writes(tree.body)
    wanted = wrt if wrt is not None else float_parameters(program, function)
    if not wanted:
        _refuse_other(
            function, tuple(n for n, k in parameter_kinds(function).items() if k.dtype == "complex")
        )
        raise Refusal(problem("AD502", f"`{function.name}` has no float parameter.", name_span(function)))
    _refuse_other(function, wanted)
    still: dict[int, gast.expr] = {}
    carries = activity.Carries(scope.operation, scope.canonical, still)

    def varied() -> set[str]:
        carries.forget()
        return _varied(tree.body, {*wanted, *apart.parts}, carries)

    tree.body = mutations.rewrite(tree.body, scope, fresh)
    renamed = comprehensions.write_out(tree, scope, varied, fresh)
    local |= flow.writes(tree.body)
    iterators.expand(tree, scope, fresh)
    inlined = inline.inline(tree, scope, varied, fresh)
    local |= flow.writes(tree.body)
    options.record("inlined", tree)
    result = structure.structure(tree, fresh)
    options.record("structured", tree)
    unshared.copy_parameters(tree, used_as_dict(tree.body))
    shown = {new: renamed.get(n, n) for new, n in webs.split(tree, fresh).items()}
    options.record("webs", tree)
    shown.update({n: n for n in apart.parts})
    local |= flow.writes(tree.body)
    candidates = set(wanted) - flow.writes(tree.body) - apart.classes.keys()
    items = {**apart.paths, **paths.split(tree, candidates, fresh)}
    local |= set(items)
    split = {p.parameter for p in items.values()} | apart.classes.keys()
    sources = [p for p in wanted if p not in split]
    sources += [n for n, path in items.items() if path.parameter in wanted and apart.moves(n)]
    uses = uses_in(function, scope)
    kinds = kinds_in(program, uses, tree, scope, items, apart)
    if kinds.names.get(result, UNKNOWN).type in ("mixed", "other", "str", "none"):
        message = (
            f"`{function.name}` returns values of different structure, or no numbers, on different paths."
        )
        raise Refusal(
            problem(
                "AD401", message, name_span(function), "Return numbers and arrays, or tuples of one length."
            )
        )
    rebound = views.resolve(tree, kinds, scope, fresh, shown)
    unshared.refuse_shared(tree, kinds, scope)
    local |= flow.writes(tree.body)
    if not insertions.blocks:  # a block may ask for any adjoint
        still.update(shifts.cancelled(tree.body, scope, kinds, [*parameters(function), *items]))
    carries.forget()
    active = activity.active_names(
        tree.body,
        sources,
        result,
        carries,
        lambda n: _may_carry(kinds.names.get(n, UNKNOWN)),
        insertions.edges(tree.body),
    )
    _refuse_unclear(tree, kinds, active)
    tries.refuse_partial(tree, active, result)
    Assumptions(tree.body, kinds, scope).check_types(active)
    if options.product is not None:
        title = options.product.title if options.product.title != function.name else ""
        apart = replace(apart, title=title)
        inlined |= set(options.product.written_out)
    if not callee and options.product is None:
        reached = active | {p.parameter for n, p in items.items() if n in active}
        _refuse_independent(function, wanted, reached, wrt is not None)
    normal = Normalizer(scope, kinds, active, carries, fresh)
    tree.body = normal.block(tree.body)
    carries.forget()
    options.record("normal form", tree)
    local |= flow.writes(tree.body)
    points = Points()
    statements = flow.statements(tree.body)
    realness = Realness(scope, kinds, active, carries)
    realness.find(statements)
    realness.check(result, name_span(function))
    stability = Stability.of(tree.body, [*parameters(function), *items], result, points)
    # what an array holds is brought back by undoing the writes into it
    stability.changing = {
        n: found for n, found in stability.changing.items() if kinds.names.get(n, UNKNOWN).is_structure
    }
    symmetric: frozenset[str] = frozenset()
    if not insertions.blocks:  # a block may ask for any adjoint
        symmetric = symmetric_names(tree, [*parameters(function), *items], scope, kinds, points)
    known = [points.of(s) for s in statements]
    read = {n for p in known if symmetric or not active.isdisjoint(p.binds) for n in p.reads}
    if assumed := assumed_numbers(uses, parameter_kinds(function)):
        read |= _counted_down(function) & assumed
    declarations = {p: d for p, d in _relied_on(uses).items() if p in read}
    return Unit(
        program,
        original,
        tree,
        scope,
        kinds,
        active,
        carries,
        shown,
        fresh,
        points,
        stability,
        result,
        tuple(wanted),
        declarations,
        inlined,
        insertions,
        items,
        normal.unpacked,
        {p for p in parameters(function) if kinds.names.get(p, UNKNOWN).may_be_list},
        realness.assumed([*parameters(function), *items]),
        apart,
        rebound,
        options_of_loops,
        symmetric,
    )


def _plain(tree: gast.FunctionDef) -> None:
    """Without docstring and decorators; `x += e` as `x = x + e`."""
    tree.decorator_list = []
    if gast.get_docstring(tree) is not None:
        tree.body = tree.body[1:] or [gast.Pass()]

    def block(body: list[gast.stmt]) -> list[gast.stmt]:
        kept = []
        for s in body:
            for inner in flow.blocks(s):
                inner[:] = block(inner)
            if isinstance(s, gast.AnnAssign) and s.value is None:
                continue
            kept.append(plain_assignment(s))
        return kept

    tree.body = block(tree.body)


def _varied(body: list[gast.stmt], wrt: set[str], carries: Callable[[gast.expr], set[str]]) -> set[str]:
    """The names that may depend on wrt, before names are split."""
    edges: list[tuple[set[str], set[str]]] = []
    for s in flow.statements(body):
        array = written_root(s)
        if array is not None:
            edges.append((carries(stored_value(s)), {array}))
            continue
        source = s.value if isinstance(s, gast.Assign) else s.iter if isinstance(s, gast.For) else None
        if source is not None:
            edges.append((carries(source), flow.header_writes(s)))
        change = change_of(s)
        if change is not None:
            edges += [(carries(a), {change.base}) for a in change.args]
    return activity.closure(set(wrt), edges)


def _relied_on(uses: Uses) -> dict[str, tuple]:
    """The shapes that the derivative relies on and the function does not enforce:
    declared ones, and assumed numbers.
    """
    known, certain = parameter_kinds(uses.function), uses.kinds
    found = {p: d for p, d in declared_shapes(uses.function).items() if d or p not in certain}
    for p in sorted(assumed_numbers(uses, {**known, **certain})):
        found[p] = ()
    return found


def _counted_down(function: gast.FunctionDef) -> set[str]:
    """The parameters whose value an augmented assignment may change in place: `k = n; k -= 1`."""
    found = {
        n.target.id
        for n in flow.walk(function)
        if isinstance(n, gast.AugAssign) and isinstance(n.target, gast.Name)
    }
    copies = [
        (n.targets[0].id, n.value.id)
        for n in flow.walk(function)
        if isinstance(n, gast.Assign)
        and isinstance(n.targets[0], gast.Name)
        and isinstance(n.value, gast.Name)
    ]
    for _ in copies:
        found |= {original for copy_, original in copies if copy_ in found}
    return found


def _refuse_other(function: gast.FunctionDef, wrt: tuple[str, ...]) -> None:
    kinds = parameter_kinds(function)
    for p in wrt:
        if not kinds[p].may_be_real:
            what = kinds[p].dtype or kinds[p].type
            raise Refusal(
                problem(
                    "AD402" if what == "complex" else "AD502",
                    f"`{p}` of `{function.name}` is of type {what}: there is no derivative with "
                    "respect to it.",
                    name_span(function),
                )
            )


def _may_carry(kind: Kind) -> bool:
    """Whether a derivative could flow through a value: only what surely is no such number stops it."""
    inner = kind.items or ((kind.element,) if kind.element is not None else ())
    if kind.is_structure and inner:
        return any(_may_carry(k) for k in inner)
    return kind.may_be_real or kind.type == "mixed" or kind.dtype == "complex"


def _refuse_unclear(tree: gast.FunctionDef, kinds: Kinds, active: set[str]) -> None:
    """No derivative flows through what may be a number or a list."""
    for n in sorted(active):
        if kinds.names.get(n, UNKNOWN).type == "mixed":
            values = [
                s.value for s in flow.statements(tree.body) if n in flow.stored(s) and hasattr(s, "value")
            ]
            places = [v for v in values if hasattr(v, "lineno")]
            where = span_of(places[-1]) if places else name_span(tree)
            message = f"`{plain(n)}` holds different kinds of things, or a list that is computed with."
            raise Refusal(problem("AD401", message, where, "Use arrays, or a name for each kind."))


def _refuse_independent(
    function: gast.FunctionDef, wrt: tuple[str, ...], active: set[str], explicit: bool
) -> None:
    missing = [p for p in wrt if p not in active]
    if missing and (explicit or len(missing) == len(wrt)):
        raise Refusal(
            problem(
                "AD503",
                f"The result of `{function.name}` does not depend on `{missing[0]}` in a way that has a "
                "derivative: it is zero everywhere.",
                name_span(function),
            )
        )
