"""Arrays of float32 have gradients of float32: no rule makes doubles of them."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from lsp_ad.rules import RULES
from tests import oracle
from tests.rules import programs
from tests.rules.test_rules import DIFFERENTIABLE, SEED, domain_of

pytestmark = pytest.mark.row("T27")

USES = ("used further", "mean", "sum along")
SINGLE = [n for n in DIFFERENTIABLE if not RULES[n].scalar and n.split(".")[0] not in ("math", "builtins")]
SINGLE.remove("numpy.float64")


# The logarithm of a Python float is a double of NumPy's, so the base must not be one.
LOGARITHMS = ("**", "numpy.power", "scipy.special.xlogy", "scipy.special.xlog1py")


def in_single(value, name):
    if np.ndim(value):
        return value.astype(np.float32)
    return np.float32(value) if name in LOGARITHMS else value


@pytest.mark.parametrize("name", SINGLE)
def test_float32(name):
    domain, rng = domain_of(name), random.Random(SEED)
    calls = [c for c in domain.calls or () if any(c.shapes.values())]
    calls = [c for c in calls if "float" not in c.text and "[0][0]" not in c.text]
    calls = rng.sample(calls, min(2, len(calls)))
    for number, (c, use, known) in enumerate(itertools.product(calls, USES, (True, False))):
        example = programs.example(RULES[name], domain, c, use, known, number, rng)
        args = tuple(in_single(a, name) for a in example.args)
        derivative, text = oracle.generate(example.source, wrt=example.wrt, mode="vjp")
        space = oracle.run(text)
        value = space["f"](*args)
        if np.result_type(value) != np.float32:
            continue  # the function itself goes over to doubles
        forward, text_forward = oracle.generate(example.source, wrt=example.wrt, mode="jvp")
        given = dict(zip(example.source.split("def f(")[1].split("):")[0].split(", "), args, strict=True))
        moved = [np.ones_like(given[p]) if np.ndim(given[p]) else 1.0 for p in example.wrt]
        _, tangent = oracle.run(text_forward)[forward.name](*args, *moved)
        assert np.result_type(tangent) == np.float32, (
            f"the tangent is {np.result_type(tangent)}\n{text_forward}"
        )
        seeds = [np.ones_like(value)] if np.ndim(value) else [1.0, np.float32(1.0)]
        for seed in seeds:
            found = space[derivative.name](*args, seed)
            for p, gradient in zip(example.wrt, found if len(example.wrt) > 1 else (found,), strict=True):
                if np.ndim(gradient):
                    assert gradient.dtype == np.float32, f"d{p} is {gradient.dtype}\n{text}"
