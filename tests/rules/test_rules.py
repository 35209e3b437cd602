"""Every rule of lsp_ad.rules against central finite differences, on generated functions.

A new rule is found by itself; where it is not elementwise and smooth in (-2, 2), it needs an entry in
domains.py.
RULE_SEED chooses other functions, RULE_EXAMPLES how many for each rule.
"""

from __future__ import annotations

import os

import pytest

from lsp_ad.rules import RULES
from tests import oracle
from tests.rules import domains, programs

SEED = int(os.environ.get("RULE_SEED", "0"))
EXAMPLES = int(os.environ.get("RULE_EXAMPLES", "16"))
JOINED = ("numpy.concatenate", "numpy.stack")
DIFFERENTIABLE = [n for n, r in RULES.items() if not r.is_zero and n not in JOINED]


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
        except oracle.Refused as refused:
            reasons = "\n".join(p.message for p in refused.args)
            if "[0][0]" in example.source and "not a constant" in reasons:
                continue  # an axis that is not a constant is refused, by name
            pytest.fail(f"refused: {reasons}\nRULE_SEED={SEED}\n{example}")
        except Exception as error:
            pytest.fail(f"{type(error).__name__}: {error}\nRULE_SEED={SEED}\n{example}")
