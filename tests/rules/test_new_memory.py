"""Calls that are taken to return memory of their own do so: what is written into them changes nothing else."""

from __future__ import annotations

import warnings

import gast
import numpy as np
import pytest

from lsp_ad.rules import RULES
from lsp_ad.rules.resolve import Scope
from tests import oracle

FORMS = """{f}(x); {f}(x, 0); {f}(x, 1); {f}(x, x); {f}(x, (3, 3)); {f}(x, axis=0); {f}([x]); {f}(x > 0, x, x)
{f}(x, 0, 1); {f}(x, 0, 5); {f}(x, None); x.{m}(); x.{m}(0); x.{m}(-1); x.{m}(0, 1); x.{m}(float)
{f}("ij->ji", x); {f}("ii->i", x); {f}("ij,jk->ik", x, x)"""
NAMES = [n for n in RULES if n.startswith("numpy.")]


@pytest.mark.row("T14")
@pytest.mark.parametrize("name", NAMES)
def test_new_memory_is_new(name):
    scope = Scope(oracle.program("import numpy as np\n"), {"x"})
    for form in FORMS.replace("\n", "; ").split("; "):
        text = form.format(f=f"np.{name[6:]}", m=name.split(".")[-1])
        if not scope.makes_new(gast.parse(text, mode="eval").body):
            continue
        for shape in ((3,), (3, 3), (1, 3), (1,)):
            x = np.abs(np.random.default_rng(0).normal(size=shape)) + 0.5
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    made = eval(text, {"np": np, "x": x})
            except Exception:  # the function takes no such arguments
                continue
            for part in made if isinstance(made, (tuple, list)) else [made]:
                assert not (isinstance(part, np.ndarray) and np.shares_memory(part, x)), text
