"""The text of the intermediate language: printing and parsing are inverse, and errors have their place."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsp_ad.staging.lantern.errors import LanternError, LanternSyntaxError
from lsp_ad.staging.lantern.infer import check
from lsp_ad.staging.lantern.ir import (
    COMPLEX128,
    FLOAT32,
    FLOAT64,
    INT32,
    INT64,
    Binding,
    Const,
    Function,
    Let,
    Op,
    Program,
    Var,
)
from lsp_ad.staging.lantern.parsing import parse, parse_expression, parse_type
from lsp_ad.staging.lantern.printing import expression_text, program_text, type_text
from tests.staging.lantern.programs import CASES

pytestmark = pytest.mark.row("A16")


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_printing_and_parsing_a_program_is_the_identity(case):
    text = program_text(case.program)
    assert parse(text) == case.program
    assert program_text(parse(text)) == text
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize(
    "value",
    [
        Const(0.1, FLOAT64),
        Const(-0.0, FLOAT64),
        Const(1e300, FLOAT64),
        Const(5e-324, FLOAT64),
        Const(float("inf"), FLOAT64),
        Const(float("-inf"), FLOAT64),
        Const(float("nan"), FLOAT64),
        Const(0.5, FLOAT32),
        Const(float("inf"), FLOAT32),
        Const(3, INT32),
        Const(-(2**63), INT64),
        Const(complex(-0.0, float("nan")), COMPLEX128),
    ],
    ids=repr,
)
def test_constants_come_back_digit_by_digit(value):
    assert parse_expression(expression_text(value)) == value


@pytest.mark.parametrize(
    "text",
    [
        '(let ((x 1 :at "f.py:3") (_ (print "x is" x "\\n\\"quoted\\""))) x)',
        "(while ((i 0) (y x)) :limit 100 (< i n) (tuple (+ i 1) (* y y)))",
        "(get x [i (: 1 _ -2) : newaxis (: _ n) (- j 1)])",
        "(set x [] 1.0)",
        "(add-at x [ids] v)",
        "(sum x :axis (0 1) :keepdims true)",
        "(list-new :item (tuple (array float64 2) (list bool) (tuple)))",
        "(cast x :dtype int32)",
        '(if c (error "ValueError" "got " x) (item t 1))',
        "(call f x y)",
        "(transpose x :axes (1 0 2))",
    ],
)
def test_forms_come_back_as_they_were(text):
    assert expression_text(parse_expression(text)) == text


@pytest.mark.parametrize(
    "text", ["float64", "(array bool 3)", "(list (tuple int32 (list complex128)))", "(tuple)"]
)
def test_types_come_back_as_they_were(text):
    assert type_text(parse_type(text)) == text


def test_comments_and_layout_say_nothing():
    assert parse_expression("( + 1 ; one\n\t 2 )") == parse_expression("(+ 1 2)")


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("(+ 1\n  (* 2 3)", 1, 1, "( is never closed"),
        ("(+ 1 2))", 1, 8, ") closes nothing"),
        ("(get x [i)", 1, 10, ") where [ is open"),
        ("(+ 1 2) 3", 1, 9, "one expression is expected"),
        ("(+ 1\n   (frobnicate 2))", 2, 4, "there is no operation frobnicate"),
        ("(let ((x 1)) x y)", 1, 1, "the form is (let"),
        ("(let ((1 x)) x)", 1, 8, "a name is expected"),
        ("(+ 1 1.2.3)", 1, 6, "neither a name nor a number"),
        ("(item t x)", 1, 9, "an integer is expected"),
        ('(+ 1 "a")', 1, 6, "a string stands only in error and print"),
        ('(print "a)', 1, 8, "a string does not end on its line"),
        ("(sum x :axis)", 1, 8, "a :keyword needs a value"),
        ("(list-new :item float63)", 1, 17, "float63 is not a type"),
        ("(list-new :item (array float64 0))", 1, 32, "a value of rank 0 is a scalar"),
        ("()", 1, 1, "a form with a word at its head is expected"),
    ],
)
def test_a_wrong_text_is_an_error_with_line_and_column(text, line, column, message):
    with pytest.raises(LanternSyntaxError) as caught:
        parse_expression(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert message in str(caught.value)


def test_a_name_that_would_not_read_back_is_not_printed():
    with pytest.raises(ValueError, match="not a name"):
        expression_text(Var("nan"))
    with pytest.raises(ValueError, match="not a name"):
        expression_text(Var("a b"))


def test_a_block_of_ten_thousand_bindings_is_printed_and_read():
    bindings = [Binding("x0", Const(1.0, FLOAT64))]
    for i in range(10_000):
        bindings.append(Binding(f"x{i + 1}", Op("*", (Var(f"x{i}"), Var("x0")))))
    body = Let(tuple(bindings), Var("x10000"))
    program = Program((Function("f", (), FLOAT64, body),), "f")
    assert parse(program_text(program)) == program


@given(st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
def test_a_text_with_mistakes_is_a_program_or_an_error_of_this_language(random):
    """Never another exception."""
    words = [
        "(",
        ")",
        "[",
        "_",
        ":",
        ":axis",
        "0",
        "-1",
        "nan",
        "newaxis",
        "(get",
        "(let",
        "never",
        '"',
        ";",
        "9" * 20,
    ]
    text = program_text(random.choice(list(CASES.values())).program)
    for _ in range(random.randrange(1, 4)):
        at = random.randrange(len(text))
        text = text[:at] + random.choice([*words, ""]) + text[at + random.randrange(4) :]
    try:
        program = parse(text)
        check(program)
    except LanternError:
        return
    assert parse(program_text(program)) == program


def test_text_that_is_nested_too_deeply_is_an_error():
    with pytest.raises(LanternSyntaxError, match="nested too deeply"):
        parse(f"(program f (def f () float64 {'(neg ' * 5000}1.0{')' * 5000}))")
