"""Writes whole programs: one Python function for each function that the entry reaches."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lsp_ad.staging.lantern.compiler import lists
from lsp_ad.staging.lantern.compiler.accumulators import accumulated
from lsp_ad.staging.lantern.compiler.expressions import Expressions, Signature
from lsp_ad.staging.lantern.compiler.lowering import lowered
from lsp_ad.staging.lantern.compiler.operands import (
    Listed,
    Number,
    Operand,
    Stored,
    code_of,
    leaf_types,
    leaves,
    rebuilt,
    stored,
)
from lsp_ad.staging.lantern.compiler.renaming import Fresh, renamed
from lsp_ad.staging.lantern.compiler.splitting import split
from lsp_ad.staging.lantern.compiler.uses import components, consumed_parameters, is_recursive
from lsp_ad.staging.lantern.compiler.writer import reserved_names
from lsp_ad.staging.lantern.ir import Array, Error, Function, List, Print, Program, Scalar, Type


@dataclass(frozen=True)
class Text:
    """A program as Python: its functions, in `groups` that call one another, callees first, and its entry.

    `messages` and `places` are what the numbers in the text stand for. `low`: all functions take the lowest
    address that the stack may grow to. With places, they also take an array for the current one's number.
    `lists`: the entry takes lists of Python.
    """

    source: str
    groups: list[list[Signature]]
    entry: Signature
    messages: list[Error | Print]
    places: list[str]
    low: bool
    lists: bool


def program_source(
    program: Program, kernels: list[str], stretching: bool = True, places: bool = False
) -> Text:
    names = Fresh(reserved_names(kernels, ()))
    called = {f.name: names(f.name) for f in program.functions}
    taken = reserved_names(kernels, tuple(called.values()))
    own = {f.name: Fresh(taken) for f in program.functions}
    program = replace(program, functions=tuple(renamed(f, own[f.name]) for f in program.functions))
    if stretching:
        program = replace(program, functions=tuple(lowered(f, own[f.name]) for f in program.functions))
    else:
        program = accumulated(program, own)
    program = split(program, names)
    called |= {f.name: f.name for f in program.functions if f.name not in called}
    taken |= set(called.values())
    consumed = consumed_parameters(program)
    groups = components(program)
    low = any(is_recursive(group, program) for group in groups)
    extra = (*(["low"] if low else []), *(["place"] if places else []))
    messages: list[Error | Print] = []
    noted: list[str] | None = [] if places else None
    signatures: dict[str, Signature] = {}
    parts = []
    for group in groups:
        functions = [program.table[name] for name in group]
        recursive = is_recursive(group, program)
        for f in functions:
            types = tuple(t for _, t in f.params)
            unshared = tuple(True for _ in leaf_types(f.result))
            signatures[f.name] = Signature(called[f.name], types, f.result, _memory(f, consumed), unshared)
        settled = False
        while not settled:
            # Functions that call one another are written as if nobody shared their results, until it is true.
            mark, texts, settled = len(messages), [], True
            for f in functions:
                w = Expressions(
                    f, Fresh(taken | {n for n, _ in f.params}), signatures, messages, noted, stretching
                )
                w.extra = extra
                text, fresh = _function(w, f, signatures[f.name], recursive)
                texts.append(text)
                known = signatures[f.name].fresh
                both = tuple(a and b for a, b in zip(fresh, known, strict=True))
                settled = settled and (both == known or not recursive)
                signatures[f.name] = replace(signatures[f.name], fresh=both)
            if not settled:
                del messages[mark:]
        parts += texts
    written = [[signatures[name] for name in group] for group in groups]
    entry = signatures[program.entry]
    takes_lists = any(isinstance(leaf, List) for t in entry.params for leaf in leaf_types(t))
    if takes_lists:
        entry, text = _wrapper(entry, names("enter"), extra)
        written.append([entry])
        parts.append(text)
    return Text("\n\n".join(parts), written, entry, messages, noted or [], low, takes_lists)


def _wrapper(entry: Signature, name: str, extra: tuple[str, ...]) -> tuple[Signature, str]:
    """A function that takes lists of Python: each has one item too many, which shows the items' type."""
    types = [leaf for t in entry.params for leaf in leaf_types(t)]
    codes = [*extra, *(f"a{k}" for k in range(len(types)))]
    lines = [f"def {name}({', '.join(codes)}):"]
    lines += [f"    a{k} = list_from_python(a{k})" for k, t in enumerate(types) if isinstance(t, List)]
    lines += [f"    return {entry.name}({', '.join(codes)})"]
    return replace(entry, name=name), "\n".join(lines) + "\n"


def _memory(f: Function, consumed: dict[str, frozenset[int]]) -> frozenset[int]:
    """The consumed parameters, of those that have memory at all."""
    types = {k: list(leaf_types(f.params[k][1])) for k in consumed[f.name]}
    return frozenset(k for k, leaves in types.items() if not all(isinstance(t, Scalar) for t in leaves))


def _function(
    w: Expressions, f: Function, signature: Signature, recursive: bool
) -> tuple[str, tuple[bool, ...]]:
    """The text of a function, and which parts of its result nobody else has."""
    codes: list[str] = []
    for k, (name, t) in enumerate(f.params):
        w.bind(name, _parameter(w, name, t, k in signature.consumed, codes))
    if recursive:
        with w.nested("if stack_pointer() < low:"):
            w.line(f'raise RecursionError("calls of {f.name} nest too deeply")')
        # Never taken: Numba learns the type of the result from it.
        with w.nested("if low == 0:"):
            w.line(f"return {lists.sample(f.result)}")
    value = w.value(f.body)
    fresh = tuple(True for _ in signature.fresh)
    if value is not None:
        fresh = _returned(w, value)
    return f"def {signature.name}({', '.join([*w.extra, *codes])}):\n" + "\n".join(w.lines) + "\n", fresh


def _parameter(w: Expressions, name: str, t: Type, consumed: bool, codes: list[str]) -> Operand:
    def part(leaf: Scalar | Array | List) -> Operand:
        code = name if isinstance(t, Scalar | Array | List) else w.fresh(f"{name}_{len(codes)}")
        codes.append(code)
        if isinstance(leaf, Scalar):
            return Number(code, leaf.dtype)
        root = w.new_root(consumed)
        if isinstance(leaf, Array):
            return stored(code, leaf, frozenset({root}))
        return Listed(code, leaf, root, frozenset({root, w.new_root(False)}))

    return rebuilt(t, iter([part(leaf) for leaf in leaf_types(t)]))


def _returned(w: Expressions, value: Operand) -> tuple[bool, ...]:
    flat = list(leaves(value))
    with w.holding(*flat):
        parts = [lists.kept_leaf(w, leaf) for leaf in flat]
    fresh = []
    with w.holding(*parts):
        for leaf in parts:
            with w.released(leaf):
                fresh.append(not isinstance(leaf, Stored | Listed) or w.claim(leaf))
    w.line(f"return {lists.packed([*map(code_of, parts)])}")
    return tuple(fresh)
