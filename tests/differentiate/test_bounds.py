"""`lsp_ad.loop_options` in a function that is differentiated: the bound goes on to the loops of the derivative."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import lsp_ad
from tests import oracle

pytestmark = pytest.mark.row("T5", "A9")
HEAD = "import numpy as np\nimport lsp_ad\n\n\n"
ROOT = HEAD + (
    "def f(a, n: int):\n"
    "    x = a\n"
    "    while abs(x * x - a) > 1e-12:\n"
    "        lsp_ad.loop_options(maximum_iterations=n)\n"
    "        x = 0.5 * (x + a / x)\n"
    "    return x\n"
)


def bounds(text: str) -> list[str]:
    """The loops that have a bound, each from its first word on."""
    return [line.strip() for line in text.splitlines() if "# lsp-ad: " in line]


def test_both_loops_have_the_bound():
    _, text = oracle.generate(ROOT, "f", ("a",), "grad")
    assert bounds(text) == [
        "while abs(x * x - a) > 1e-12:  # lsp-ad: maximum_iterations=n",
        "for x, x_in in reversed(tape):  # lsp-ad: maximum_iterations=n",
    ]
    assert oracle.run(text)["f_grad"](2.0, 40) == pytest.approx(0.5 / np.sqrt(2.0))


@pytest.mark.parametrize("mode", ["grad", "vjp", "value_and_grad", "jvp", "hvp", "hessian", "split"])
def test_every_mode(mode):
    _, text = oracle.generate(ROOT, "f", ("a",), mode)
    assert bounds(text)[0].startswith("while abs(x * x - a) > 1e-12:")


def test_nothing_depends_on_the_mark():
    made, _ = oracle.generate(ROOT.replace("=n)", "=40)"), "f", ("a",), "grad")
    assert "loop_options" not in made.text and "lsp_ad." not in made.text


def test_a_function_that_has_not_the_parameters():
    """The backward half of two functions: a number is said there, a parameter is not."""
    for bound, expected in (("n", 1), ("2 * 20", 2)):
        _, text = oracle.generate(ROOT.replace("=n)", f"={bound})"), "f", ("a",), "split")
        assert len(bounds(text)) == expected, text


def step_down(x, n: int):
    k = 0
    while x > 1.0:
        lsp_ad.loop_options(maximum_iterations=n)
        x = x * 0.7 if k % 2 == 0 else np.sin(x) * 1.1
        k = k + 1
    return x * x


def test_a_derivative_of_a_derivative():
    first = lsp_ad.grad(step_down)
    second = lsp_ad.grad(first, wrt="x")
    assert len(bounds(inspect.getsource(second))) == 4
    h = 1e-6
    expected = (first(50.0 + h, 30) - first(50.0 - h, 30)) / (2 * h)
    assert second(50.0, 30) == pytest.approx(expected, rel=1e-6)
    assert lsp_ad.hvp(step_down)(50.0, 30, 1.0) == pytest.approx(expected, rel=1e-6)


def test_a_parameter_that_bounds_a_loop_counts():
    assert "n" not in lsp_ad.grad(step_down).__doc__.split("with respect to")[1].split(".")[0]


NOT_FIRST = ROOT.replace(
    "        lsp_ad.loop_options(maximum_iterations=n)\n        x = 0.5 * (x + a / x)\n",
    "        x = 0.5 * (x + a / x)\n        lsp_ad.loop_options(maximum_iterations=n)\n",
)
NOT_KNOWN = ROOT.replace("    x = a\n", "    x = a\n    n = n + 1\n")


@pytest.mark.parametrize("source, message", [(NOT_FIRST, "below other statements"), (NOT_KNOWN, "not known on entry")])
def test_refused(source, message):
    with pytest.raises(oracle.Refused) as refused:
        oracle.generate(source, "f", ("a",), "grad")
    assert message in str(refused.value) and refused.value.args[0].code == "AD101"


OPTIONS = """
import lsp_ad
import numpy as np

def f(x, ws, often):
    for i in range(5):
        lsp_ad.loop_options(unroll=False, maximum_iterations=5)
        x = x * np.sin(x)
    for w in ws:
        lsp_ad.loop_options(unroll=often, shape_invariants={"x": (None,)})
        x = x * w
    while np.sum(x) > 1.0:
        lsp_ad.loop_options(unroll=False, parallel_iterations=2)
        x = x * 0.5
    return np.sum(x)
"""


def test_options_that_are_handed_on():
    _, text = oracle.generate(OPTIONS, "f", ("x",), "grad")
    heads = bounds(text)
    assert sum(h.startswith("for i in range(5):  # lsp-ad: unroll=False") for h in heads) == 1
    assert sum(h.endswith("# lsp-ad: unroll=False, maximum_iterations=5") for h in heads) == 1
    assert sum(h.endswith("# lsp-ad: unroll=often") for h in heads) == 2
    assert sum(h.endswith("# lsp-ad: parallel_iterations=2") for h in heads) == 2 and "shape" not in "".join(heads)


def test_an_option_that_is_assigned():
    source = OPTIONS.replace("    for w in ws:", "    often = not often\n    for w in ws:")
    with pytest.raises(oracle.Refused, match="`unroll` of this loop is not known on entry"):
        oracle.generate(source, "f", ("x",), "grad")


def test_a_comment_that_says_nothing():
    source = ROOT.replace("1e-12:", "1e-12:  # lsp-ad: at most n").replace(
        "        lsp_ad.loop_options(maximum_iterations=n)\n", ""
    )
    with pytest.raises(oracle.Refused, match="says nothing of a loop"):
        oracle.generate(source, "f", ("a",), "grad")
