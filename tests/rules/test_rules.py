"""Every rule of lsp_ad.rules against central finite differences, on generated functions.

A new rule is found by itself; where it is not elementwise and smooth in (-2, 2), it needs an entry in
domains.py.
RULE_SEED chooses other functions, RULE_EXAMPLES how many for each rule.
"""

from __future__ import annotations

import itertools
import os

import pytest

from lsp_ad.rules import RULES
from tests import oracle
from tests.rules import domains, programs

SEED = int(os.environ.get("RULE_SEED", "0"))
EXAMPLES = int(os.environ.get("RULE_EXAMPLES", "16"))
JOINED = {
    "numpy.concatenate": [
        ("x1, x2", (3,), (2,)),
        ("x1, x2, x1", (3,), (2,)),
        ("x1, x2", (2, 3), (4, 3)),
        ("x1, 2.0 * x2", (2, 3), (4, 3)),
        ("x1, x2, axis=1", (2, 3), (2, 1)),
        ("x1, x2, axis=-1", (2, 2, 3), (2, 2, 1)),
        ("x1, x2, axis=-2", (2, 2, 3), (2, 1, 3)),
    ],
    "numpy.stack": [
        ("x1, x2", (), ()),
        ("x1, x2, x1", (3,), (3,)),
        ("x1, x2, axis=1", (3,), (3,)),
        ("x1, x2, axis=-1", (2, 3), (2, 3)),
        ("x1, np.sin(x2), axis=-2", (2, 3), (2, 3)),
    ],
}
JOINED |= {
    f"numpy.{n}": [
        ("x1, x2", (3,), (3,)),
        ("x1, x2, x1", (2, 3), (2, 3)),
        ("x1, 2.0 * x2", *shapes),
    ]
    for n, shapes in {
        "hstack": ((2, 3), (2, 1)),
        "vstack": ((3,), (2, 3)),
        "dstack": ((2, 3), (2, 3, 2)),
        "column_stack": ((3,), (3, 2)),
    }.items()
}
# Functions that return tuples: tests/rules/test_factors.py.
TUPLES = [f"numpy.linalg.{n}" for n in ("slogdet", "eigh", "svd", "qr")]
# Functions that return lists: tests/rules/test_pieces.py.
LISTS = [f"numpy.{n}" for n in ("split", "array_split", "hsplit", "vsplit", "dsplit")]
DIFFERENTIABLE = [n for n, r in RULES.items() if not r.is_zero and n not in (*JOINED, *TUPLES, *LISTS)]


def domain_of(name: str) -> domains.Domain:
    found = domains.of(RULES[name])
    way_out = "to DOMAINS in tests/rules/domains.py: where it is smooth, how it is called"
    assert found is not None, f"add a line for {name} {way_out}"
    return found


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradient(name):
    for number, example in enumerate(programs.examples(RULES[name], domain_of(name), EXAMPLES, SEED)):
        try:
            first = number == 0
            oracle.assert_gradient(example.source, *example.args, wrt=example.wrt, seed=SEED, all_modes=first)
            oracle.assert_jvp(example.source, *example.args, wrt=example.wrt, seed=SEED)
        except oracle.Refused as refused:
            reasons = "\n".join(p.message for p in refused.args)
            if "[0][0]" in example.source and "not a constant" in reasons:
                continue  # an axis that is not a constant is refused, by name
            pytest.fail(f"refused: {reasons}\nRULE_SEED={SEED}\n{example}")
        except Exception as error:
            pytest.fail(f"{type(error).__name__}: {error}\nRULE_SEED={SEED}\n{example}")


@pytest.mark.parametrize("name", JOINED)
def test_joined_arrays(name):
    function = name.replace("numpy", "np")
    for number, ((text, *shapes), known) in enumerate(itertools.product(JOINED[name], (True, False))):
        arrays, comma, axis = text.partition(", axis")
        call = (
            f"{function}([{arrays}]{comma}{axis})" if number % 3 else f"{function}(({arrays}){comma}{axis})"
        )
        given = dict(zip(("x1", "x2"), shapes, strict=True))
        args = programs.arguments(domains.Call(text, given), domains.Domain(), SEED)
        head = f"import numpy as np\n\n\ndef f(x1, x2):\n{programs.docstring(given) if known else ''}"
        for use in ("used further", "mean"):
            source = head + programs.USES[use].format(r=call)
            oracle.assert_gradient(source, *args, all_modes=False)
            oracle.assert_jvp(source, *args)
