"""Split motion: a forward function that returns what a backward function needs, over all programs."""

from __future__ import annotations

import copy
import importlib
import pkgutil

import numpy as np
import pytest

import lsp_ad
from tests import oracle
from tests.differentiate import programs

pytestmark = pytest.mark.row("T2")

MODULES = [m.name for m in pkgutil.iter_modules(programs.__path__) if m.name not in ("case", "everything")]
PROGRAMS = [c for m in MODULES for c in importlib.import_module(f"{programs.__name__}.{m}").CASES]


def both_motions(program):
    """(gradients in joint motion, of the first and of the second seed, and the same in split motion)."""
    joint, joint_text = oracle.generate(program.source, "f", program.wrt, "vjp")
    split, text = oracle.generate(program.source, "f", program.wrt, "split")
    assert split.wrt == joint.wrt
    namespace = oracle.run(text)
    value = namespace["f"](*copy.deepcopy(program.args))
    rng = np.random.default_rng(0)
    seeds = [oracle.random_like(value, rng) for _ in range(2)]
    vjp = oracle.run(joint_text)[joint.name]
    want = [vjp(*copy.deepcopy(program.args), **{joint.seed: copy.deepcopy(seed)}) for seed in seeds]
    given = copy.deepcopy(program.args)
    got_value, saved = namespace[split.name](*given)
    for a, b in zip(oracle.leaves(got_value), oracle.leaves(value), strict=True):
        np.testing.assert_array_equal(a, b)
    backward = namespace[split.backward]
    got = [copy.deepcopy(backward(saved, copy.deepcopy(seed))) for seed in seeds]
    for before, after in zip(oracle.leaves_of(program.args), oracle.leaves_of(given), strict=True):
        assert np.array_equal(before, after), "an argument was changed"
    return want, got, text


@pytest.mark.parametrize("program", PROGRAMS, ids=[c.name for c in PROGRAMS])
def test_split_motion_is_joint_motion(program):
    want, got, text = both_motions(program)
    assert oracle.shapes(got) == oracle.shapes(want)
    for a, b in zip(oracle.leaves(got), oracle.leaves(want), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-14, atol=1e-300, err_msg=text)


def loss(w, x, power: int = 2):
    r = w * x - 1.0
    return np.sum(r**power)


def running(x):
    y = x.copy()
    for i in range(1, len(y)):
        y[i] = y[i] * y[i - 1]
    return y


W, X = np.array([0.3, -0.7, 1.2]), np.array([1.1, 0.4, 0.9])


def test_the_python_interface():
    forward, backward = lsp_ad.split(loss, ("w", "x"))
    value, saved = forward(W, X, 3)
    assert value == loss(W, X, 3)
    for seed in (1.0, 2.5, 1.0):
        for a, b in zip(
            backward(saved, seed), lsp_ad.vjp(loss, ("w", "x"))(W, X, 3, dloss=seed), strict=True
        ):
            np.testing.assert_allclose(a, b, rtol=1e-15)
    forward, backward = lsp_ad.vjp(loss, "w", motion="split")
    assert backward(forward(W, X)[1], 1.0).shape == W.shape


def test_rows_of_a_jacobian_by_one_forward_and_several_backward_calls():
    forward, backward = lsp_ad.split(running)
    _, saved = forward(X)
    rows = [backward(saved, row) for row in np.eye(3)]
    np.testing.assert_allclose(rows, lsp_ad.jacobian(running)(X), rtol=1e-14)


def test_a_seed_of_another_shape_is_an_error():
    forward, backward = lsp_ad.split(running)
    _, saved = forward(X)
    for wrong in (1.0, np.ones(1), np.ones((3, 3))):
        with pytest.raises(ValueError, match="shape of the result"):
            backward(saved, wrong)
    forward, backward = lsp_ad.split(loss, "w")
    with pytest.raises(ValueError, match="number"):
        backward(forward(W, X)[1], W)


def test_the_options_of_joint_motion_are_refused():
    with pytest.raises(ValueError, match="motion"):
        lsp_ad.vjp(loss, motion="both")
    with pytest.raises(ValueError, match="split"):
        lsp_ad.vjp(loss, motion="split", preserve_result=True)


class Model:
    def __init__(self, w):
        self.w = w

    def loss(self, x):
        return np.sum(np.tanh(self.w * x))


def test_methods():
    forward, backward = lsp_ad.split(Model(W).loss, "x")
    value, saved = forward(X)
    assert value == Model(W).loss(X)
    np.testing.assert_allclose(backward(saved, 1.0), lsp_ad.grad(Model(W).loss, "x")(X), rtol=1e-15)


def test_a_recursive_function():
    source = (
        "import numpy as np\n\n\ndef f(x, n: int):\n    if n == 0:\n        return np.sum(x)\n"
        "    return f(x * np.sin(x), n - 1)\n"
    )
    _, joint_text = oracle.generate(source, "f", ["x"], "grad")
    split, text = oracle.generate(source, "f", ["x"], "split")
    namespace = oracle.run(text)
    value, saved = namespace["f_forward"](X, 3)
    assert split.backward == "f_backward" and value == namespace["f"](X, 3)
    np.testing.assert_allclose(
        namespace["f_backward"](saved, 1.0), oracle.run(joint_text)["f_grad"](X, 3), rtol=1e-14
    )
