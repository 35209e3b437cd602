"""Programs made step by step, and the errors of types that a builder and a checker find."""

from __future__ import annotations

import numpy as np
import pytest

from lsp_ad.staging.lantern.builder import Builder, slice_
from lsp_ad.staging.lantern.errors import LanternTypeError
from lsp_ad.staging.lantern.infer import check
from lsp_ad.staging.lantern.interpreter import interpret
from lsp_ad.staging.lantern.ir import FLOAT64, INT64, Array
from lsp_ad.staging.lantern.parsing import parse
from lsp_ad.staging.lantern.printing import program_text

pytestmark = pytest.mark.row("A16")

VECTOR = Array("float64", 1)


def power() -> Builder:
    b = Builder()
    x, n = b.begin("power", [("x", FLOAT64), ("n", INT64)], result=FLOAT64)
    rest = lambda: b.op("*", x, b.call("power", x, b.op("-", n, 1)))  # noqa: E731
    b.end(b.branch(b.op("==", n, 0), lambda: 1.0, rest))
    return b


def test_a_recursive_function():
    program = power().program("power")
    check(program)
    assert interpret(program, 3.0, 4) == 81.0
    assert parse(program_text(program)) == program


def test_a_loop_over_an_array_with_places():
    b = Builder()
    (x,) = b.begin("smooth", [("x", VECTOR)])
    b.place = "smooth.py:3"
    n = b.op("size", x, axis=0, name="n")

    def step(i, y):
        inner = b.op("+", b.get(y, slice_(2)), b.get(y, slice_(None, -2)))
        return b.op("+", i, 1), b.set(y, [slice_(1, -1)], b.op("/", inner, 2.0))

    _, y = b.loop([("i", 0), ("y", x)], lambda i, y: b.op("<", i, n), step)
    b.end(y)
    program = b.program("smooth")
    check(program)
    assert ':at "smooth.py:3"' in program_text(program)
    assert parse(program_text(program)) == program
    value = np.array([0.0, 4.0, 0.0, 8.0])
    expected = value.copy()
    for _ in range(4):
        expected[1:-1] = (expected[2:] + expected[:-2]) / 2.0
    np.testing.assert_array_equal(interpret(program, value), expected)


def test_an_error_ends_a_branch_and_names_its_place():
    b = Builder()
    (x,) = b.begin("root", [("x", FLOAT64)])
    b.place = "root.py:7"
    b.end(
        b.branch(b.op("<", x, 0.0), lambda: b.error("ValueError", "negative: ", x), lambda: b.op("sqrt", x))
    )
    program = b.program("root")
    assert interpret(program, 4.0) == 2.0
    with pytest.raises(ValueError, match=r"negative: -1\.0") as caught:
        interpret(program, -1.0)
    assert caught.value.lantern_place == "root.py:7"


def test_names_stay_apart_and_are_names():
    b = Builder()
    x, y, z = b.begin("f", [("x", FLOAT64), ("x", FLOAT64), ("nan", FLOAT64)])
    b.end(b.op("+", b.op("+", x, y, name="a b"), z, name="x"))
    program = b.program("f")
    assert parse(program_text(program)) == program
    assert interpret(program, 1.0, 2.0, 4.0) == 7.0
    assert b.function_name("g") != b.function_name("g")


def test_a_value_of_a_closed_block_is_out_of_scope():
    b = Builder()
    (x,) = b.begin("f", [("x", FLOAT64)])
    inner = []

    def then():
        inner.append(b.op("*", x, x))
        return inner[0]

    b.branch(b.op("<", x, 0.0), then, lambda: x)
    with pytest.raises(LanternTypeError, match="not bound"):
        b.op("+", inner[0], 1.0)


def test_branches_and_loops_of_two_types_name_what_differs():
    b = Builder()
    (x,) = b.begin("f", [("x", FLOAT64)])
    with pytest.raises(LanternTypeError, match="one branch gives int64, the other float64"):
        b.branch(b.op("<", x, 0.0), lambda: 1, lambda: x)
    with pytest.raises(LanternTypeError, match="total is int64 on entry and float64 after an iteration"):
        b.loop([("total", 0)], lambda t: True, lambda t: [b.op("+", t, x)])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("(+ c c)", r"arithmetic needs numbers: cast the bool \(given: bool, bool\): \(\+ c c\)"),
        ("(and x c)", "operands are bools"),
        ("(exp)", "exp does not take 0 operands"),
        ("(sum v :axis 1)", ":axis 1 is not an axis of a value of rank 1"),
        ("(sum v :axes 1)", "sum has no parameter :axes"),
        ("(sum x)", "an array is needed"),
        ("(reshape v x)", "sizes are integers"),
        ("(get v [0 0])", "more indices than axes"),
        ("(get v [x])", "an index is an integer"),
        ("(get v [(: x)])", "parts of a slice are integers"),
        ("(set v [0] v)", "higher rank"),
        ("(set k [0] x)", "do not fit"),
        ("(item x 0)", "float64 has no item 0"),
        ("(list-append (list-new :item float64) 1)", "not of the list's type"),
        ("(call g x)", "there is no such function"),
        ("(call f x)", r"f takes \(float64, bool, \(array float64 1\), \(array int64 1\)\), and is given"),
        ("(if x 1.0 2.0)", "the condition is float64, not bool"),
        ("(while ((a x)) c x)", "the body gives float64, not a tuple of 1 values"),
        ('(let ((y (+ x z) :at "f.py:9")) y)', "f.py:9: in f: the name is not bound: z"),
        ("9999999999:int32", "is no int32"),
        ("(> 1 (complex 1.0 0.0))", "complex numbers have no order"),
        ("1", "the result is int64, and float64 is declared"),
    ],
)
def test_the_checker_names_the_expression_that_is_wrong(body, message):
    text = (
        f"(program f (def f ((x float64) (c bool) (v (array float64 1)) (k (array int64 1))) float64 {body}))"
    )
    with pytest.raises(LanternTypeError, match=message):
        check(parse(text))
