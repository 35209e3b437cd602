"""Predictions of staging on their own: where nothing can be told, where it would take too long, on real code."""

from __future__ import annotations

import re
import sysconfig
import textwrap
import time
from pathlib import Path

import pytest

from lsp_ad.checks import traces_of
from lsp_ad.checks.prediction import STAGED, UNCLEAR, Items, Known, Python, foretold, predict
from lsp_ad.semantics.names import Program
from lsp_ad.source.document import Document
from lsp_ad.source.parse import parse

pytestmark = pytest.mark.row("A13")


def program(text: str) -> Program:
    parsed = parse(Document(textwrap.dedent(text)))
    assert not parsed.problems
    return Program(parsed)


def outcomes(body: str, **arguments) -> list[tuple]:
    text = f"def f({', '.join(arguments)}):\n{textwrap.indent(textwrap.dedent(body), '    ')}"
    return [(p.construct, p.outcome, p.count) for p in predict(program(text), "f", arguments)]


def test_an_unknown_function_may_give_a_staged_value():
    assert outcomes("y = unknown(x)\nif y > 0:\n    x = -x\n", x=STAGED, unknown=UNCLEAR) == [("if", None, None)]


def test_an_unknown_number_decides_in_python():
    body = "if n > 3:\n    x = -x\nfor i in range(n):\n    x = x + 1\nwhile n > 0:\n    n = n - 1\n"
    assert outcomes(body, x=STAGED, n=Python()) == [
        ("if", "decided in Python", None), ("for", "unrolled", None), ("while", "unrolled", None),
    ]  # fmt: skip


def test_what_differs_between_unknown_branches_is_unclear():
    body = "y = 1\nif n > 3:\n    y = x\nif y > 0:\n    x = -x\n"
    assert outcomes(body, x=STAGED, n=Python()) == [("if", "decided in Python", None), ("if", None, None)]


def test_what_is_not_reached_is_not_predicted():
    body = "if n:\n    if x > 0:\n        x = -x\nreturn x\nif x > 0:\n    pass\n"
    assert outcomes(body, x=STAGED, n=Known(0)) == [("if", "decided in Python", None)]


def test_lists_of_arrays():
    body = "for w in ws:\n    x = x if w > x else w\n"
    assert outcomes(body, x=STAGED, ws=Items([STAGED, STAGED])) == [
        ("conditional expression", "staged", None), ("for", "unrolled", 2),
    ]  # fmt: skip


def test_a_list_that_grows_in_a_staged_loop_is_staged():
    body = "ys = []\nwhile x > 1:\n    ys.append(x)\n    x = x / 2\nfor y in ys:\n    x = x + y\n"
    assert outcomes(body, x=STAGED) == [("while", "staged", None), ("for", "staged", None)]


def test_recursion_without_end_ends():
    text = "def f(x):\n    return f(x - 1) if x > 0 else x\n"
    assert [p.outcome for p in predict(program(text), "f", {"x": STAGED})] == ["staged"]


def test_huge_numbers_are_not_computed():
    body = "n = 10 ** 10 ** 10\ns = 'a' * 10 ** 9\nif n > 3:\n    x = -x\nfor i in range(10 ** 5):\n    pass\n"
    assert outcomes(body, x=STAGED, n=Known(3)) == [("if", "decided in Python", None), ("for", "staged", None)]


def test_a_loop_that_goes_on_for_ever_is_left():
    start = time.process_time()
    assert outcomes("i = 0\nwhile True:\n    i = i + 1\n    if i < 0:\n        break\n", x=STAGED)
    assert time.process_time() - start < 5


REPORT = """
    import jax
    import lsp_ad
    import tensorflow as tf

    @jax.jit
    def plain(x, layers, flag=None):
        for w in layers:
            x = x @ w
        if flag is None:
            x = x + 1
        return x if x.sum() > 0 else -x

    @tf.function
    def graph(x, training: bool):
        if training and tf.reduce_sum(x) > 0:
            x = -x
        for i in tf.range(3):
            x = x + 1
        return x

    def helper(x):
        return x if x > 0 else -x

    step = jax.jit(lsp_ad.staged(lambda x: helper(x) if x > 1 else x))
"""


def test_the_report_of_a_file():
    assert [(f.prediction.node.lineno, str(f)) for f in foretold(traces_of(program(REPORT)))] == [
        (8, "for: unrolled under jax.jit"),
        (10, "if: decided in Python under jax.jit"),
        (12, "conditional expression: fails under jax.jit, which has no conversion"),
        (16, "if: it depends on the arguments of `graph` under tf.function"),
        (16, "and: decided in Python under tf.function"),
        (18, "for: staged under tf.function"),
        (23, "conditional expression: staged under lsp_ad.staged"),
        (25, "conditional expression: staged under lsp_ad.staged"),
    ]


METHODS = """
    import jax
    import lsp_ad

    class Model:
        def __init__(self, w, use_bias=True, depth: int = 2):
            self.w, self.use_bias, self.depth = w, use_bias, depth
            self.step = jax.jit(lsp_ad.staged(self._step))

        def _act(self, y):
            return y if y > 0 else 0.0

        @property
        def deep(self):
            return self.depth > 1

        def _step(self, x):
            if self.use_bias:
                x = x + 1
            for _ in range(self.depth):
                x = self._act(x)
            if self.w > 0 or not self.deep:
                x = -x
            return x
"""


def test_the_report_of_a_method():
    """Its object is what the constructor makes, of flags where they are declared; of the others nothing is known."""
    assert [(f.prediction.node.lineno, str(f)) for f in foretold(traces_of(program(METHODS)))] == [
        (11, "conditional expression: staged under lsp_ad.staged"),
        (18, "if: decided in Python under lsp_ad.staged"),
        (20, "for: unrolled under lsp_ad.staged"),
        (22, "if: it depends on the arguments of `_step` under lsp_ad.staged"),
        (22, "or: it depends on the arguments of `_step` under lsp_ad.staged"),
        (22, "not: decided in Python under lsp_ad.staged"),
    ]


def test_classes_that_are_not_plain_are_not_followed():
    text = """
    class Odd(Unknown):
        def __init__(self, x):
            self.x = x

    class Hiding:
        def __setattr__(self, name, value):
            pass

    def f(x):
        a, b = Odd(x), Hiding()
        b.x = x
        y = x if a.x > 0 else -x
        return y if b.x > 0 else x
    """
    assert [p.outcome for p in predict(program(text), "f", {"x": STAGED})] == [None, None]


def test_real_code_as_if_staged():
    """Nothing raises, and a file takes no longer than an editor waits."""
    root = Path(sysconfig.get_path("stdlib"))
    slowest = 0.0
    for file in [*sorted((root / "json").glob("*.py")), *sorted((root / "email").glob("*.py"))]:
        text = file.read_text(encoding="utf-8", errors="replace")
        staged = re.sub(r"^([ \t]*)def ", r"\1@lsp_ad.staged\n\1def ", text, flags=re.M)
        traces = traces_of(program(f"{staged}\nimport lsp_ad\n"))
        start = time.process_time()
        foretold(traces)
        slowest = max(slowest, time.process_time() - start)
    assert slowest < 5
