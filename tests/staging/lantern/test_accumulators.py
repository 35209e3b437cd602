"""Sums over recursive calls, made in one array: the rewritten program against the program as it is written."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("numba")

from lsp_ad.staging.lantern.compiler import functions, kernels
from lsp_ad.staging.lantern.compiler.accumulators import accumulated
from lsp_ad.staging.lantern.compiler.driver import Compiled, compiled
from lsp_ad.staging.lantern.compiler.renaming import Fresh, renamed
from lsp_ad.staging.lantern.infer import check
from lsp_ad.staging.lantern.interpreter import interpret
from lsp_ad.staging.lantern.ir import Program
from lsp_ad.staging.lantern.parsing import parse
from tests.staging.lantern.generated import uncompiled

pytestmark = pytest.mark.row("A16", "A17")

VECTOR = "(array float64 1)"
PAIR = f"(tuple {VECTOR} {VECTOR})"
PARAMS = f"(i int64) (x {VECTOR}) (y {VECTOR})"
X, Y = np.array([1.0, 2.0, -3.0]), np.array([4.0, 0.0, 5.0])


def entering(result: str, body: str, more: str = "") -> Program:
    """A program that enters a recursive function `f` from another one."""
    return parse(f"""
    (program enter
      (def enter ({PARAMS}) {result} (let ((found (call f i x y))) found))
      (def f ({PARAMS}) {result} {body})
      {more})
    """)


def recursive(result: str, end: str, body: str, value: str, more: str = "") -> Program:
    """`f` ends with a value where i < 1, and else calls itself."""
    bindings = f"(let ((n (size x :axis 0)) {body}) {value})"
    return entering(result, f"(if (< i 1) (let ((n (size x :axis 0)) {end[0]}) {end[1]}) {bindings})", more)


def rewritten(program: Program) -> Program:
    fresh = {f.name: Fresh(frozenset()) for f in program.functions}
    program = Program(tuple(renamed(f, fresh[f.name]) for f in program.functions), program.entry)
    return accumulated(program, fresh)


def sums(program: Program, name: str = "f") -> int:
    """How many sums a function of the rewritten program takes, each with a flag."""
    return (len(rewritten(program).table[name].params) - len(program.table[name].params)) // 2


def same(found: Any, expected: Any) -> None:
    if isinstance(expected, tuple):
        assert isinstance(found, tuple) and len(found) == len(expected)
        for a, b in zip(found, expected, strict=True):
            same(a, b)
    else:
        np.testing.assert_array_equal(found, expected)


def agree(program: Program, *args: Any) -> None:
    check(program)
    check(rewritten(program))
    expected = interpret(program, *args)
    same(uncompiled(program, *args), expected)
    same(interpret(rewritten(program), *args), expected)


ZEROS = ("(none (zeros n :dtype float64))", "none")
TREE = recursive(
    VECTOR,
    ZEROS,
    """(own (* (cast i :dtype float64) x)) (a (call f (- i 1) x y)) (first (+ own a))
    (b (call f (- i 2) x y)) (both (+ first b))""",
    "both",
)
GRADIENTS = recursive(
    PAIR,
    (
        "(zero (cast 0 :dtype float64)) (a (full zero n)) (b (zeros n :dtype float64)) (all (tuple a b))",
        "all",
    ),
    """(one (call f (- i 1) x y)) (p (item one 0)) (q (item one 1))
    (d (zeros n :dtype float64)) (at (- i 1)) (e (add-at d [at] 2.5)) (p2 (+ e p)) (m (size p2 :axis 0))
    (two (call f (- i 2) x y)) (r (item two 0)) (p3 (+ p2 r))
    (own (* x y)) (q2 (+ q own)) (s (item two 1)) (q3 (+ q2 s))
    (more (* (cast m :dtype float64) x)) (q4 (+ more q3))
    (all (tuple p3 q4))""",
    "all",
)


@pytest.mark.parametrize(("program", "count"), [(TREE, 1), (GRADIENTS, 2)])
def test_sums_over_calls(program, count):
    assert sums(program) == count
    for i in range(4):
        agree(program, i, X, Y)
        same(compiled(program)(i, X, Y), interpret(program, i, X, Y))


def test_one_array_is_made():
    source = functions.program_source(TREE, list(kernels.KERNELS), False).source
    assert ".copy()" not in source
    # where the type of the result is shown, where there is no sum yet, and in place of a sum that is not
    assert source.count("np.empty(") == 1 and source.count("np.zeros(") == 2
    source = functions.program_source(GRADIENTS, list(kernels.KERNELS), False).source
    assert ".copy()" not in source and source.count("np.zeros(") == 4


MUTUAL = """
(def g ((i int64) (x (array float64 1)) (y (array float64 1))) (array float64 1)
  (if (< i 2)
    (let ((n (size y :axis 0)) (none (zeros n :dtype float64)) (d (add-at none [0] 1.0))) d)
    (let ((own (+ x y)) (a (call f (- i 2) y x)) (all (+ a own))) all)))
"""


@pytest.mark.parametrize(
    ("program", "f", "g"),
    [
        # functions that call one another
        (recursive(VECTOR, ZEROS, "(a (call g (- i 1) x y)) (all (+ x a))", "all", MUTUAL), 1, 1),
        # a call in a branch, and a branch without one
        (
            recursive(
                VECTOR,
                ZEROS,
                """(odd (== (% i 2) 1)) (a (if odd (let ((b (call f (- i 1) x y)) (c (+ b y))) c)
                (let ((d (* x 2.0))) d))) (e (call f (- i 2) x y)) (s (+ a e)) (t (+ s x))""",
                "t",
            ),
            1,
            None,
        ),
        # a call on the way back of another one's result, and nothing but calls
        (
            recursive(
                VECTOR,
                ("(d (* x 3.0))", "d"),
                "(a (call f (- i 1) x y)) (b (call f (- i 1) a y)) (c (+ a b))",
                "c",
            ),
            1,
            None,
        ),
        # what is read twice is no sum of one array
        (recursive(VECTOR, ZEROS, "(a (call f (- i 1) x y)) (b (+ a x)) (c (+ b (* b y)))", "c"), 0, None),
        (recursive(VECTOR, ZEROS, "(a (call f (- i 1) x y)) (b (+ a a))", "b"), 0, None),
        (recursive(VECTOR, ZEROS, "(a (call f (- i 1) x y)) (b (* a x)) (c (+ b y))", "c"), 0, None),
        (
            recursive(
                PAIR, ("(b (tuple x y))", "b"), "(a (call f (- i 1) x y)) (p (item a 0)) (b (tuple p p))", "b"
            ),
            0,
            None,
        ),
        # two parts of one call in one sum
        (
            recursive(
                PAIR,
                ("(b (tuple x y))", "b"),
                "(a (call f (- i 1) x y)) (p (item a 0)) (q (item a 1)) (r (+ p q)) (b (tuple r x))",
                "b",
            ),
            0,
            None,
        ),
        # parts that change places; a whole result
        (
            recursive(
                PAIR,
                ("(b (tuple x y))", "b"),
                "(a (call f (- i 1) x y)) (p (item a 0)) (q (item a 1)) (r (+ p x)) (b (tuple q r))",
                "b",
            ),
            2,
            None,
        ),
        (recursive(PAIR, ("(b (tuple x y))", "b"), "(a (call f (- i 1) y x))", "a"), 2, None),
        # one part is a sum, the other is not
        (
            recursive(
                PAIR,
                ("(b (tuple x y))", "b"),
                """(a (call f (- i 1) x y)) (p (item a 0)) (q (item a 1)) (r (+ p q)) (s (* q 2.0))
                (b (tuple r s))""",
                "b",
            ),
            1,
            None,
        ),
        # a part of a call is not read
        (
            recursive(
                PAIR,
                ("(b (tuple x y))", "b"),
                """(a (call f (- i 1) x y)) (p (item a 0)) (c (call f (- i 2) x y)) (q (item c 1)) (r (+ q x))
                (b (tuple p r))""",
                "b",
            ),
            2,
            None,
        ),
    ],
)
def test_which_results_are_sums(program, f, g):
    assert sums(program) == f
    assert g is None or sums(program, "g") == g
    for i in range(5):
        agree(program, i, X, Y)


def test_a_sum_of_another_size_is_stretched():
    """Where something that is added has an axis of size 1, the program runs as it is written."""
    program = recursive(
        VECTOR,
        ("(m (* x y))", "m"),
        "(a (call f (- i 1) x y)) (s (+ a y)) (m (size s :axis 0)) (t (* (cast m :dtype float64) y)) (u (+ t s))",
        "u",
    )
    assert sums(program) == 1
    for x, y in ((X, Y), (X, Y[:1]), (X[:1], Y), (X[:1], Y[:1]), (X[:0], Y[:0]), (X[:0], Y[:1])):
        for i in range(3):
            same(uncompiled(program, i, x, y), interpret(program, i, x, y))
    made = Compiled(program)
    same(made(2, X, Y[:1]), interpret(program, 2, X, Y[:1]))
    with pytest.raises(ValueError, match="broadcast"):
        made(2, X, Y[:2])


def test_of_two_errors_the_first_is_raised():
    """The update is out of bounds before the call would nest without end."""
    text = """
    (program enter
      (def enter ((i int64) (x (array float64 1))) (array float64 1) (let ((found (call f i x))) found))
      (def f ((i int64) (x (array float64 1))) (array float64 1)
        (if (== i 1)
          (let ((n (size x :axis 0)) (none (zeros n :dtype float64))) none)
          (let ((n (size x :axis 0)) (d (zeros n :dtype float64)) (e (add-at d [i] 1.0) :at "f.py:3")
                (a (call f (- i 2) x) :at "f.py:4") (b (+ e a))) b))))
    """
    program = parse(text)
    assert sums(program) == 1
    with pytest.raises(IndexError) as caught:
        compiled(program)(2, X)
    assert caught.value.lantern_place == "f.py:3"


KINDS = ["zeros", "own", "call", "call", "item", "item", "add", "add", "add", "at", "size", "if", "again"]


class Recursive:
    """A random recursive function, whose values are vectors with whole numbers."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.count = self.calls = 0
        self.items = self.random.choice([1, 2, 2, 3])
        result = f"(tuple {' '.join([VECTOR] * self.items)})" if self.items > 1 else VECTOR
        self.callees = self.random.choice(["f", "f", "fg"])
        others = [self.function("g", result)] if "g" in self.callees else []
        self.program = entering(result, self.body(), "\n".join(others))

    def function(self, name: str, result: str) -> str:
        return f"(def {name} ({PARAMS}) {result} {self.body()})"

    def name(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def body(self) -> str:
        self.calls = self.random.choice([1, 2, 2, 3])
        ends, goes = self.sequence(["x", "y"], 0, False), self.sequence(["x", "y"], 0, True)
        return f"(if (< i 1) {ends} {goes})"

    def sequence(self, vectors: list[str], depth: int, calling: bool, items: int | None = None) -> str:
        r = self.random
        items = self.items if items is None else items
        made, left = ["(n (size x :axis 0))".replace("n ", f"n{depth} ")], []
        # what is yet to be taken out of the results of calls
        waiting: list[str] = []
        vectors = list(vectors)

        def bind(value: str) -> str:
            name = self.name()
            made.append(f"({name} {value})")
            return name

        def some() -> str:
            """A vector: mostly one that nothing reads yet."""
            if left and r.random() < 0.8:
                return left.pop(r.randrange(len(left)))
            return r.choice(vectors)

        for _ in range(r.randint(2, 9)):
            kind = r.choice(KINDS)
            name = None
            if kind == "zeros":
                name = bind(r.choice([f"(zeros n{depth} :dtype float64)", f"(full 0.0 n{depth})"]))
            elif kind == "own":
                name = bind(f"(* {r.choice([some(), '2.0', '(cast i :dtype float64)'])} {r.choice(vectors)})")
            elif kind == "call" and calling and self.calls:
                self.calls -= 1
                whole = bind(f"(call {r.choice(self.callees)} (- i {r.randint(1, 2)}) {r.choice('xy')} y)")
                if self.items == 1:
                    name = whole
                else:
                    waiting += [f"(item {whole} {k})" for k in range(self.items) if r.random() < 0.9]
            elif kind == "item" and waiting:
                name = bind(waiting.pop(r.randrange(len(waiting))))
            elif kind == "add":
                name = bind(f"(+ {some()} {some()})")
            elif kind == "at":
                index, new = r.choice([("0", "1.0"), ("(: 1)", "2.0"), ("", "x"), ("n", "1.0")])
                name = bind(f"(add-at {some()} [{index.replace('n', '-1')}] {new})")
            elif kind == "size":
                size = bind(f"(size {r.choice([*left, *vectors])} :axis 0)")
                name = bind(f"(* (cast {size} :dtype float64) {r.choice(vectors)})")
            elif kind == "if" and depth < 2:
                count = r.choice([1, 1, 2])
                outer = vectors + [some()] * (r.random() < 0.3)
                branches = [self.sequence(outer, depth + 1, calling, count) for _ in range(2)]
                name = bind(f"(if (== (% i 2) {r.randint(0, 1)}) {' '.join(branches)})")
                if count == 2:
                    waiting += [f"(item {name} 0)", f"(item {name} 1)"]
                    name = None
            elif kind == "again" and left:
                vectors.append(r.choice(left))
            if name is not None:
                left.append(name)
        for value in waiting:
            left.append(bind(value))
        while len(left) > items and r.random() < 0.8:
            left.append(bind(f"(+ {left.pop(0)} {left.pop(0)})"))
        results = [some() for _ in range(items)]
        body = results[0] if items == 1 else f"(tuple {' '.join(results)})"
        if r.random() < 0.5:
            body = bind(body) if items > 1 else body
        return f"(let ({' '.join(made)}) {body})"


def test_random_programs_have_sums():
    """The random programs below do what they are for."""
    assert sum(sums(Recursive(seed).program) > 0 for seed in range(200)) > 40


@given(st.integers(0, 2**32))
@settings(max_examples=150, deadline=None)
def test_random_programs(seed):
    program = Recursive(seed).program
    for i in (0, 1, 3, 4):
        agree(program, i, X, Y)


@given(st.integers(0, 2**32))
@settings(max_examples=75, deadline=None)
def test_random_programs_where_axes_are_stretched(seed):
    program = Recursive(seed).program
    for x, y in ((X, Y[:1]), (X[:1], Y)):
        try:
            expected = interpret(program, 3, x, y)
        except ValueError:  # an update that does not fit
            with pytest.raises(ValueError):
                uncompiled(program, 3, x, y)
        else:
            same(uncompiled(program, 3, x, y), expected)
