"""Which comments of the user's stand in generated code."""

from __future__ import annotations

import pytest

from tests import oracle

HEAD = "import numpy as np\n\n\n"


def lines(body: str, wrt: str = "w") -> list[str]:
    """The lines of the forward sweep, without their indentation."""
    derivative, _ = oracle.generate(f"{HEAD}def f(x, w):\n{body}", "f", [wrt])
    return [line.text.strip() for line in derivative.lines if line.sweep == "forward"]


def test_above_a_statement_and_behind_it():
    found = lines("    # hidden\n    # layer\n    h = np.tanh(x @ w)  # of 3\n    return np.sum(h * h)\n")
    assert found == ["# hidden", "# layer", "h = np.tanh(x @ w)  # of 3"]


def test_above_a_statement_that_is_dropped_it_belongs_to_the_next_of_the_paragraph():
    found = lines("    # sizes\n    n = x * 3\n    h = x * w\n    return h * h\n")
    assert found == ["# sizes", "h = x * w"]


@pytest.mark.parametrize("between", ["\n", "    print(x)\n"])
def test_not_to_one_of_another_paragraph_or_after_another_statement(between):
    found = lines(f"    # sizes\n    n = x * 3\n{between}    h = x * w\n    return h * h\n")
    assert found[-1] == "h = x * w"
    assert ("# sizes" in found) == ("print(x)" in found)


def test_not_out_of_a_block():
    body = "    for k in range(3):\n        w = w * x\n        # sizes\n        n = x * 3\n    h = x * w\n    return h * h\n"
    assert "# sizes" not in lines(body)


def test_the_mark_of_the_backward_sweep_is_not_repeated_in_a_second_derivative():
    derivative, text = oracle.generate(f"{HEAD}def f(x):\n    y = x * x\n    return y * y\n")
    again, _ = oracle.generate(text, derivative.name, ["x"])
    assert [line.text.strip() for line in again.lines].count("# backward") == 1
