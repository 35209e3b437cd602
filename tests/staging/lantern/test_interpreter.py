"""The interpreter against Python and NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from lsp_ad.staging.lantern.errors import LanternRecursionError, LanternTypeError
from lsp_ad.staging.lantern.interpreter import interpret
from lsp_ad.staging.lantern.parsing import parse
from tests.staging.lantern.programs import CASES

pytestmark = pytest.mark.row("A16")


def run(body: str, *args, params: str = "", result: str = "float64"):
    return interpret(parse(f"(program f (def f ({params}) {result} {body}))"), *args)


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_programs_compute_what_python_does(case):
    found, expected = interpret(case.program, *case.args), case.python(*case.args)
    pairs = zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]
    for a, b in pairs:
        np.testing.assert_allclose(a, b, rtol=1e-13)


def test_recursion_is_as_deep_as_the_data():
    n = 20_000
    left, right = np.arange(1, n + 1), np.full(n, -1)
    left[-1] = -1
    assert interpret(CASES["tree_prod"].program, 2.0, np.full(n, 0.5), left, right, 0) == 2.0


def test_recursion_without_end_is_an_error():
    endless = "(program f (def f ((n int64)) int64 (+ 1 (call f n))))"
    with pytest.raises(LanternRecursionError, match="calls of f nest deeper than 1000"):
        interpret(parse(endless), 1, depth=1000)


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("(// -7 2)", -4),
        ("(% -7 2)", 1),
        ("(% 7 -2)", -1),
        ("(** 3 4)", 81),
        ("(+ 9223372036854775807 1)", -(2**63)),
        ("(neg 5)", -5),
        ("(abs -5)", 5),
    ],
)
def test_integers_are_those_of_python_until_they_wrap(body, value):
    assert run(body, result="int64") == value


@pytest.mark.parametrize(
    ("body", "error", "message"),
    [
        ("(// 1 0)", ZeroDivisionError, "integer division or modulo by zero"),
        ("(** 2 -1)", ValueError, "negative integer powers"),
        ("(cast nan :dtype int64)", ValueError, "not all values fit int64"),
        ("(cast 1e10 :dtype int64)", None, ""),
        ('(error "KeyError" "no key " 3)', KeyError, "no key 3"),
        ("(item (list-pop (list-new :item int64)) 1)", IndexError, "pop from empty list"),
        ("(list-get (list-append (list-new :item int64) 5) 1)", IndexError, "list index out of range"),
        ("(get (arange 0 3 1) [3])", IndexError, "out of bounds"),
        (
            "(item (while ((i 0)) :limit 3 true (tuple (+ i 1))) 0)",
            RuntimeError,
            "goes on after the 3 iterations",
        ),
    ],
)
def test_errors_of_running_are_those_of_python(body, error, message):
    if error is None:
        assert run(body, result="int64") == 10**10
        return
    with pytest.raises(error, match=message):
        run(body, result="int64")


def test_arguments_are_checked_and_never_changed():
    set_first = "(set x [0] 1.0)"
    x = np.zeros(3)
    result = run(set_first, x, params="(x (array float64 1))", result="(array float64 1)")
    assert result.tolist() == [1.0, 0.0, 0.0]
    assert x.tolist() == [0.0, 0.0, 0.0]
    with pytest.raises(LanternTypeError, match="x is int64, and float64 is needed"):
        run("x", 1, params="(x float64)")
    with pytest.raises(LanternTypeError, match=r"x is \(array float32 1\)"):
        run("0.0", np.zeros(3, "float32"), params="(x (array float64 1))")


@pytest.mark.row("A7")
def test_lists_are_values_that_go_in_and_out():
    body = """
    (let ((longer (list-append xs 9.0))
          (other (list-append xs 8.0))
          (shorter (item (list-pop longer) 0)))
      (tuple xs longer other (list-set longer -1 0.5) shorter))
    """
    result = run(body, [1.0], params="(xs (list float64))", result=f"(tuple {'(list float64) ' * 5})")
    assert result == ([1.0], [1.0, 9.0], [1.0, 8.0], [1.0, 0.5], [1.0])


def test_printing_is_in_order(capsys):
    body = '(let ((_ (print "x is" x)) (_ (print (tuple 1 true)))) x)'
    assert run(body, 1.5, params="(x float64)") == 1.5
    assert capsys.readouterr().out == "x is 1.5\n(1, True)\n"
