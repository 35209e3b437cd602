"""Generated gradients of the programs of the oracle sweep, staged: `python -m tests.staging.gradient_sweep`.

Each ends equal to what Python gives, or in an error of staging. Prints how many do, and each that does not.
Where the tape of a `while` loop needs a bound, the program gets one (`lsp_ad.loop_options`): "equal by a bound".
Where a `raise` has to be asked for, it is (`raise_errors`): "equal as asked".
`--backend`, and words that names of files or programs contain, choose. `--interpret`: programs of Lantern are
run by the interpreter of its language, which takes less time than to compile them.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib
import inspect
import sys
import warnings
import zlib
from collections import Counter
from collections.abc import Collection, Iterator
from functools import partial
from pathlib import Path

import numpy as np

import lsp_ad
from lsp_ad.staging.backends import lantern
from lsp_ad.staging.lantern.interpreter import interpret
from tests import oracle
from tests.differentiate.programs.case import Case

PROGRAMS = Path(oracle.__file__).parent / "differentiate" / "programs"
BOUND = 500  # iterations of a `while` loop
_REPEATED = ("case", "found", "everything", "earlier", "earlier_longer")


def cases() -> Iterator[tuple[str, Case]]:
    """(name of the file, case) for the first arguments of each program."""
    for path in sorted(PROGRAMS.glob("*.py")):
        if path.stem not in _REPEATED:
            module = importlib.import_module(f"tests.differentiate.programs.{path.stem}")
            yield from ((path.stem, case) for case in module.CASES if case.is_first)


def sample(files: Collection[str], part: int) -> list[Case]:
    """One in `part` of the programs of some files, always the same."""
    return [c for file, c in cases() if file in files and zlib.crc32(c.name.encode()) % part == 0]


def outcome(case: Case, backend: str) -> tuple[str, str]:
    """What becomes of the gradient of a program: "equal", "equal by a bound" or "as asked", "wrong", or the type
    of the error; and its message."""
    kind, message = _outcome(case, case.source, backend)
    if "raise_errors=True" in message:
        kind, message = _outcome(case, case.source, backend, raise_errors=True)
        return ("equal as asked" if kind == "equal" else kind), message
    if "grows in a loop of unknown length" not in message:
        return kind, message
    kind, message = _outcome(case, bounded(case.source), backend)
    return ("equal by a bound" if kind == "equal" else kind), message


def bounded(source: str) -> str:
    """The program with a bound in each of its loops."""
    tree = ast.parse(f"import lsp_ad\n{source}")
    for node in ast.walk(tree):
        if isinstance(node, (ast.While, ast.For)):
            node.body.insert(0, ast.parse(f"lsp_ad.loop_options(maximum_iterations={BOUND})").body[0])
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _outcome(case: Case, source: str, backend: str, **asked: bool) -> tuple[str, str]:
    try:
        _, text = oracle.generate(source, "f", case.wrt, "vjp")
    except oracle.Refused:
        return "not differentiated", ""
    names = oracle.run(text)
    value = names["f"](*copy.deepcopy(case.args))
    seed = oracle.random_like(value, np.random.default_rng(0))
    arguments, gradient = case.args, names["f_vjp"]
    named = {list(inspect.signature(gradient).parameters)[-1]: seed}
    expected = gradient(*copy.deepcopy(arguments), **named)
    try:
        found = lsp_ad.staged(gradient, backend=backend, **asked)(*copy.deepcopy(arguments), **named)
    except Exception as error:
        return type(error).__name__, str(error)
    if oracle.shapes(found) != oracle.shapes(expected):
        return "wrong", f"shapes {oracle.shapes(found)}, not {oracle.shapes(expected)}"
    pairs = zip(oracle.leaves(found), oracle.leaves(expected), strict=True)
    equal = all(np.allclose(a, b, rtol=1e-8, atol=1e-10, equal_nan=True) for a, b in pairs)
    return ("equal" if equal else "wrong"), ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", default="jax")
    parser.add_argument("--interpret", action="store_true")
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    if options.interpret:
        lantern.BACKEND.enter = lambda program: partial(interpret, program)
    warnings.simplefilter("ignore")
    found: Counter[str] = Counter()
    for file, case in cases():
        if options.words and not any(word in f"{file} {case.name}" for word in options.words):
            continue
        try:
            kind, message = outcome(case, options.backend)
        except Exception as error:  # the program itself raises
            kind, message = f"not run: {type(error).__name__}", str(error)
        found[kind] += 1
        if not kind.startswith("equal") and kind != "not differentiated":
            print(f"{file} | {case.name} | {kind} | {message[:200]!r}", flush=True)
    print(dict(found))
    sys.exit(found["wrong"] > 0)


if __name__ == "__main__":
    main()
