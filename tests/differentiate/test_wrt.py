"""With respect to what: each parameter of each program by itself, all of them in another order, by name and by place."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import lsp_ad
from tests import oracle
from tests.differentiate.programs.everything import CASES

pytestmark = pytest.mark.row("T1")

SEVERAL = [c for c in CASES if c.is_first and "lsp_ad" not in c.source][::2]


def same(found, wanted) -> None:
    for got, want in zip(oracle.leaves(found), oracle.leaves(wanted), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-14)


def test_one_of_several_parameters_is_its_part_of_all_of_them():
    """And all of them come in the order that is asked for."""
    checked = 0
    for program in SEVERAL:
        derivative, text = oracle.generate(program.source, wrt=program.wrt, mode="vjp")
        if len(derivative.wrt) < 2:
            continue
        namespace = oracle.run(text)
        value = namespace["f"](*copy.deepcopy(program.args))
        seed = oracle.random_like(value, np.random.default_rng(0))
        whole = namespace[derivative.name](*copy.deepcopy(program.args), **{derivative.seed: seed})
        parts = []
        for part, parameter in zip(whole, derivative.wrt, strict=True):
            try:
                one, text = oracle.generate(program.source, wrt=[parameter], mode="vjp")
            except oracle.Refused as refused:
                assert refused.args[0].code == "AD503"  # the result does not depend on it
                assert not any(np.any(leaf) for leaf in oracle.leaves(part))
                continue
            same(oracle.run(text)[one.name](*copy.deepcopy(program.args), **{one.seed: seed}), part)
            parts.insert(0, (parameter, part))
        if len(parts) > 1:
            wrt = tuple(parameter for parameter, _ in parts)
            turned, text = oracle.generate(program.source, wrt=wrt, mode="vjp")
            assert turned.wrt == wrt
            found = oracle.run(text)[turned.name](*copy.deepcopy(program.args), **{turned.seed: seed})
            same(found, tuple(part for _, part in parts))
            checked += 1
    assert checked > 20


def product(a, b, c):
    return np.sum(a * b) * np.sum(np.sin(c))


ARGUMENTS = (np.array([0.3, 0.8]), np.array([1.5, -0.4]), np.array([0.2, 0.9, 1.7]))


@pytest.mark.parametrize("wrt", [("a",), ("b",), ("c",), ("c", "a"), ("b", "c"), ("c", "b", "a")])
@pytest.mark.parametrize("mode", ["grad", "value_and_grad", "vjp", "jvp"])
def test_places_are_names(wrt, mode):
    """From the front, and from the end."""
    transform = getattr(lsp_ad, mode)
    more = [2.0] if mode == "vjp" else [ARGUMENTS["abc".index(n)] * 0.5 for n in wrt] if mode == "jvp" else []
    by_name = transform(product, wrt)(*ARGUMENTS, *more)
    for places in (["abc".index(n) for n in wrt], ["abc".index(n) - 3 for n in wrt]):
        same(transform(product, places)(*ARGUMENTS, *more), by_name)
    total = np.sum(ARGUMENTS[0] * ARGUMENTS[1])
    if mode == "grad" and wrt == ("c", "a"):
        same(by_name, (total * np.cos(ARGUMENTS[2]), ARGUMENTS[1] * np.sum(np.sin(ARGUMENTS[2]))))


@pytest.mark.parametrize("mode", ["grad", "value_and_grad", "vjp", "jvp"])
@pytest.mark.parametrize("wrt", ["d", 3, -4, ["a", "d"], [0, 7]])
def test_a_name_or_place_that_is_not_there(wrt, mode):
    with pytest.raises(lsp_ad.DifferentiationError, match="AD501") as refused:
        getattr(lsp_ad, mode)(product, wrt)
    (found,) = refused.value.problems
    assert found.way_out and any(n in found.message + found.way_out for n in ("`a`", "a, b, c", "a"))
