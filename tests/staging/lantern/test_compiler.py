"""Compiled programs against the interpreter and Python."""

from __future__ import annotations

import threading

import numpy as np
import pytest

pytest.importorskip("numba")

from lsp_ad.staging.lantern.builder import Builder
from lsp_ad.staging.lantern.compiler import kernels
from lsp_ad.staging.lantern.compiler.driver import Compiled, compiled
from lsp_ad.staging.lantern.compiler.functions import program_source
from lsp_ad.staging.lantern.errors import LanternError, LanternRecursionError
from lsp_ad.staging.lantern.interpreter import interpret
from lsp_ad.staging.lantern.ir import INT64, Array
from lsp_ad.staging.lantern.parsing import parse
from tests.staging.lantern.programs import CASES

pytestmark = pytest.mark.row("A16")


def program(body: str, params: str = "", result: str = "float64", rest: str = ""):
    return parse(f"(program f (def f ({params}) {result} {body}) {rest})")


def same(a, b, rtol=1e-11):
    """Equal in structure, dtype and value."""
    if isinstance(b, tuple | list):
        assert type(a) is type(b) and len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            same(x, y, rtol)
        return
    assert np.asarray(a).dtype == np.asarray(b).dtype
    assert np.shape(a) == np.shape(b)
    np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-13)


def agree(p, *args):
    """Both give the same value, or raise the same exception; the arguments stay as they are."""
    before = [np.copy(a) if isinstance(a, np.ndarray) else a for a in args]
    try:
        expected = interpret(p, *args)
    except Exception as error:
        with pytest.raises(type(error)) as caught:
            compiled(p)(*args)
        assert getattr(caught.value, "lantern_place", None) == getattr(error, "lantern_place", None)
        return
    same(compiled(p)(*args), expected)
    for a, b in zip(args, before, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_programs_compute_what_python_does(case):
    found, expected = compiled(case.program)(*case.args), case.python(*case.args)
    pairs = zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]
    for a, b in pairs:
        np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_programs_compute_what_the_interpreter_does(case):
    agree(case.program, *case.args)


def test_a_program_is_compiled_once():
    assert compiled(CASES["power"].program) is compiled(parse(CASES["power"].text))


# ---------------------------------------------------------------------------------------------------------
# memory


def test_a_stencil_writes_in_place():
    source = compiled(CASES["stencil"].program).source
    assert "copy()" not in source
    source = compiled(CASES["gauss_seidel"].program).source
    assert "copy()" not in source and "empty" not in source
    assert "copy()" not in compiled(CASES["tape"].program).source


def test_an_elementwise_operation_takes_the_memory_of_an_operand_that_ends():
    body = """
    (while ((i 0) (total (zeros n m :dtype float64)))
      (< i 3)
      (tuple (+ i 1) (+ total (* (get u [: newaxis]) v))))
    """
    params = f"(n int64) (m int64) {V} (v (array float64 1))"
    p = program(body, params, "(tuple int64 (array float64 2))")
    assert compiled(p).source.count("np.") == 1
    agree(p, 2, 3, np.array([1.0, 2.0]), np.array([3.0, 4.0, 5.0]))


V = "(u (array float64 1))"


def test_a_part_is_updated_by_itself_in_one_loop():
    body = """
    (let ((a (+ u 1.0)) (b (set a [(: 1)] (+ (get a [(: 1)]) (* 2.0 (get u [(: 1)])))))
          (c (add-at b [(: _ -1)] (* (get b [(: _ -1)]) (get u [(: 1)])))))
      c)
    """
    p = program(body, V, "(array float64 1)")
    source = program_source(p, list(kernels.KERNELS), False).source
    assert source.count("np.empty") == 1 and source.count("for ") == 3
    agree(p, np.array([1.0, 2.0, 3.0, -4.0]))
    agree(p, np.array([1.0]))


def test_what_a_loop_carries_in_a_tuple_is_computed_in_place():
    body = """
    (let ((found (while ((i 0) (total (zeros n :dtype float64)) (other (zeros n :dtype float64)))
            (< i 3)
            (let ((a (+ total u)) (b (+ other total)) (j (+ i 1)) (all (tuple j a b))) all))))
      found)
    """
    p = program(body, f"(n int64) {V}", "(tuple int64 (array float64 1) (array float64 1))")
    # total is read by both: the first of them takes new memory
    source = program_source(p, list(kernels.KERNELS), False).source
    assert "copy()" not in source and source.count("np.empty") == 1
    agree(p, 3, np.array([1.0, 2.0, 3.0]))


@pytest.mark.parametrize(
    "body",
    [
        # both the old and the new array are read
        "(let ((v (set u [0] 9.0))) (+ u v))",
        "(let ((v (set (+ u 1.0) [0] 9.0)) (w (set v [1] 8.0))) (tuple v w u))",
        # a view of what is written into
        "(let ((v (+ u 1.0)) (w (get v [(: 1)])) (x (set v [1] 9.0))) (tuple w x))",
        # a value that is computed late from what is written into
        "(let ((v (+ u 1.0)) (w (* v 2.0)) (x (set v [1] 9.0))) (tuple w x))",
        "(let ((v (+ u 1.0)) (x (set v [(: 1)] (get v [(: _ -1)])))) x)",
        "(let ((v (+ u 1.0)) (x (set v [(: 1)] (+ (get v [(: 1)]) (get v [(: _ -1)]))))) x)",
        "(let ((v (+ u 1.0)) (w (get v [(: 1)])) (x (set v [(: 1)] (* (get v [(: 1)]) 2.0)))) (tuple w x))",
        "(let ((v (+ u 1.0)) (w (* v 3.0)) (x (set v [(: 1)] (* (get v [(: 1)]) 2.0)))) (+ w x))",
        "(let ((v (+ u 1.0)) (x (set v [(: 1)] (* (get v [(: 1)]) (get v [0]))))) x)",
        "(let ((v (+ u 1.0)) (x (set v [] (* (get v [(: 1 2)]) v)))) x)",
        "(let ((v (+ u 1.0)) (x (set v [] (get v [(: _ _ -1)])))) x)",
        "(tuple u (set u [0] 1.0))",
        "(tuple (set u [0] 1.0) (set u [1] 2.0))",
        "(let ((v (+ u 1.0))) (tuple v (set v [0] 1.0) (set v [1] 2.0)))",
        # an operation that would take the memory of an operand which it reads elsewhere, too
        "(let ((v (+ u 1.0))) (+ v (get v [(: _ _ -1)])))",
        "(let ((v (+ u 1.0)) (w (get v [(: 1)]))) (+ (get v [(: _ -1)]) (* w w)))",
        "(let ((v (+ u 1.0)) (i (cast (- v v) :dtype int64))) (+ v (get v [i])))",
        "(let ((v (+ u 1.0)) (m (get v [: newaxis]))) (+ (* m v) (* v v)))",
        "(let ((v (+ u 1.0)) (w (* v 2.0))) (tuple (+ v 1.0) w))",
        "(let ((v (+ u 1.0))) (concatenate (* v 2.0) v (+ v 3.0) :axis 0))",
        "(let ((v (+ u 1.0))) (matmul v (* v v)))",
        "(let ((v (+ u 1.0)) (l (list-append (list-new :item (tuple (array float64 1) (array float64 1))) (tuple v (* v 2.0))))) (list-get l 0))",
        "(let ((v (+ u 1.0))) (if (> (get u [0]) 0.0) (tuple v (* v 2.0)) (tuple (* v 2.0) v)))",
        # in one branch
        "(let ((v (+ u 1.0)) (w (if (> (get u [0]) 0.0) (set v [0] 5.0) v))) (tuple w u))",
        "(let ((v (+ u 1.0)) (w (if (> (get u [0]) 0.0) (set v [0] 5.0) v))) (tuple w v))",
        "(let ((v (+ u 1.0)) (w (if (> (get u [0]) 0.0) (set v [0] 5.0) u)) (x (set w [1] 7.0))) (tuple x u))",
        # carried by a loop, twice, swapped, or next to what it came from
        "(while ((a u) (b u) (i 0)) (< i 3) (tuple (set a [i] 1.0) b (+ i 1)))",
        "(while ((a u) (b (+ u 1.0)) (i 0)) (< i 3) (tuple (set b [i] 1.0) a (+ i 1)))",
        "(while ((a (+ u 0.0)) (b (+ u 1.0)) (i 0)) (< i 3) (let ((c (set a [i] 3.0))) (tuple c c (+ i 1))))",
        "(while ((a (+ u 0.0)) (s 0.0) (i 0)) (< i 3) (tuple (set a [i] s) (+ s (sum a)) (+ i 1)))",
        "(let ((v (+ u 1.0)) (r (while ((a v) (i 0)) (< i 3) (tuple (set a [i] 0.0) (+ i 1))))) (tuple r v))",
        "(let ((v (+ u 1.0)) (r (while ((i 0) (s 0.0)) (< i 3) (tuple (+ i 1) (+ s (sum (set v [i] 0.0))))))) r)",
        "(let ((v (+ u 1.0)) (t (tuple v 1.0)) (w (set (item t 0) [0] 5.0))) (tuple w t))",
        "(let ((v (+ u 1.0)) (t (tuple v 1.0)) (w (set (item t 0) [0] 5.0))) (tuple w (item t 1)))",
    ],
)
def test_a_write_changes_nothing_that_is_still_read(body):
    from lsp_ad.staging.lantern.infer import Types
    from lsp_ad.staging.lantern.ir import Array
    from lsp_ad.staging.lantern.parsing import parse_expression
    from lsp_ad.staging.lantern.printing import type_text

    result = Types({}, "f").of(parse_expression(body), {"u": Array("float64", 1)})
    agree(program(body, V, type_text(result)), np.array([1.0, 2.0, 3.0, 4.0]))


def test_callees_write_into_what_is_theirs_only():
    p = parse("""
    (program f
      (def put ((a (array float64 1)) (x float64)) (array float64 1) (set a [0] x))
      (def same ((a (array float64 1))) (array float64 1) a)
      (def f ((u (array float64 1))) (tuple (array float64 1) (array float64 1) (array float64 1) (array float64 1))
        (let ((a (call put u 1.0))
              (b (call put a 2.0))
              (c (+ u 1.0))
              (d (call put c 3.0))
              (e (call same d))
              (g (set e [1] 4.0)))
          (tuple a b d g))))
    """)
    agree(p, np.array([5.0, 6.0]))


@pytest.mark.row("A7")
def test_lists_are_values():
    body = """
    (let ((longer (list-append xs 9.0))
          (other (list-append xs 8.0))
          (shorter (item (list-pop longer) 0))
          (loop (while ((l longer) (i 0)) (< i 3) (tuple (list-append l (cast i :dtype float64)) (+ i 1)))))
      (tuple xs longer other (list-set longer -1 0.5) shorter (item loop 0) (list-len longer) (list-stack other)))
    """
    p = program(body, "(xs (list float64))", f"(tuple {'(list float64) ' * 6} int64 (array float64 1))")
    agree(p, [1.0])
    agree(p, [])


@pytest.mark.row("A7")
@pytest.mark.parametrize("dtype", ["int64", "int32", "bool", "float32", "complex128"])
def test_lists_of_each_dtype_go_through_functions(dtype):
    p = parse(f"""
    (program f
      (def longer ((l (list {dtype})) (k (list (tuple {dtype} bool))) (x {dtype}) (n int64)) (list {dtype})
        (if (== n 0) (item (tuple l k) 0) (call longer (list-append l x) (list-append k (tuple x true)) x (- n 1))))
      (def f ((x {dtype})) (list {dtype})
        (call longer (list-new :item {dtype}) (list-new :item (tuple {dtype} bool)) x 3)))
    """)
    agree(p, np.dtype(dtype).type(1))


@pytest.mark.row("A7")
@pytest.mark.parametrize(
    "body",
    [
        "(while ((a l) (b l) (i 0)) (< i 2) (tuple (list-append a 1.0) (list-append b 2.0) (+ i 1)))",
        "(while ((a l) (b l) (i 0)) (< i 2) (let ((c (list-append a 1.0))) (tuple c c (+ i 1))))",
        "(tuple (list-append l 1.0) (list-append l 2.0) 0)",
        "(let ((a (list-append l 1.0)) (p (list-pop a))) (tuple a (item p 0) 0))",
    ],
)
def test_a_list_that_two_names_have_is_copied(body):
    wanted = "(let ((l (list-append xs 0.5))) " + body + ")"
    agree(program(wanted, "(xs (list float64))", "(tuple (list float64) (list float64) int64)"), [3.0])


@pytest.mark.row("A7")
def test_lists_of_arrays_tuples_and_lists():
    body = """
    (let ((tape
            (while ((i 0) (x (+ u 0.0)) (tape (list-new :item (tuple (array float64 1) (list (array float64 1)) bool))))
              (< i 3)
              (let ((inner
                      (while ((j 0) (y x) (l (list-new :item (array float64 1))))
                        (< j 2)
                        (tuple (+ j 1) (set y [j] (* 2.0 (get y [j]))) (list-append l y)))))
                (tuple (+ i 1) (item inner 1) (list-append tape (tuple x (item inner 2) (> (sum x) 10.0)))))))
          (back
            (while ((tape (item tape 2)) (s (item tape 1)))
              (> (list-len tape) 0)
              (let ((popped (list-pop tape)) (entry (item popped 1)))
                (tuple (item popped 0)
                  (item
                    (while ((s (+ s (item entry 0))) (l (item entry 1)))
                      (> (list-len l) 0)
                      (let ((p (list-pop l)))
                        (tuple (+ s (if (item entry 2) (* 2.0 (item p 1)) (item p 1))) (item p 0))))
                    0))))))
      (tuple (item back 1) (item tape 1) (item tape 2)))
    """
    item = "(tuple (array float64 1) (list (array float64 1)) bool)"
    p = program(body, V, f"(tuple (array float64 1) (array float64 1) (list {item}))")
    agree(p, np.array([1.0, 2.0, 3.0]))


@pytest.mark.parametrize("size", [1, 4])
def test_an_axis_that_turns_out_to_have_size_one_is_broadcast(size):
    body = (
        "(let ((w (* u v)) (x (set (+ v 0.0) [] (* 2.0 u))) (y (+ w (* u u)))) (tuple w x y (sum (+ x u))))"
    )
    result = "(tuple (array float64 1) (array float64 1) (array float64 1) float64)"
    p = program(body, f"{V} (v (array float64 1))", result)
    agree(p, np.arange(1.0, size + 1.0), np.arange(4.0))
    agree(p, np.arange(1.0, size + 1.0), np.arange(1.0))


def test_products_of_complex_matrices():
    body = "(tuple (matmul a x) (matmul x a) (matmul a a) (matmul x x))"
    v, m = "(array complex128 1)", "(array complex128 2)"
    a = np.arange(4.0).reshape(2, 2) + 1j
    agree(program(body, f"(a {m}) (x {v})", f"(tuple {v} {v} {m} complex128)"), a, np.array([1j, 2.0]))


def test_what_waits_to_be_computed_does_not_take_memory_that_is_read_now():
    """Storing `d` computes `c`, which also reads `a` and `b`, before."""
    body = """
      (let ((n (size u :axis 0)) (a (* u 2.0)) (b (* u a)) (w (zeros (+ n 1) :dtype float64))
            (w (set w [] 1.0)) (c (- b a)) (d (+ a b)) (v (get w [(: 1)])) (e (+ v d)) (x (set w [(: 1)] e))
            (y (get x [(: _ -1)])) (f (+ y c)))
        (set x [(: _ -1)] f))
    """
    agree(program(body, V, "(array float64 1)"), np.arange(1.0, 5.0))


@pytest.mark.parametrize("shape", [(1, 4), (3, 1), (3, 4), (1, 1), (2, 4)])
def test_unbroadcast(shape):
    """An axis is as it is, summed to size 1, or repeated from it; another size is an error."""
    body = "(* 2.0 (unbroadcast (* u 3.0) (size v :axis 0) (size v :axis 1)))"
    p = program(body, "(u (array float64 2)) (v (array float64 2))", "(array float64 2)")
    agree(p, np.arange(12.0).reshape(3, 4), np.zeros(shape))
    agree(p, np.arange(4.0).reshape(1, 4), np.zeros(shape))


def test_an_unbroadcast_array_is_written_into():
    body = "(tuple (set (unbroadcast u (size u :axis 0)) [0] 5.0) (add-at (unbroadcast u 1) [0] 1.0) u)"
    p = program(body, V, f"(tuple {', '.join(['(array float64 1)'] * 3)})".replace(",", ""))
    agree(p, np.arange(3.0))


def test_a_list_that_one_branch_adds_to_is_not_copied():
    p = parse("""
    (program main
      (def visit ((n int64) (l (list float64))) (list float64)
        (let ((t (if (< n 1) (tuple l) (tuple (call visit (- n 1) (call visit (- n 2) l))))))
          (list-append (item t 0) 1.0)))
      (def main ((n int64)) (list float64) (call visit n (list-new :item float64))))
    """)
    assert ".copy()" not in compiled(p).source
    agree(p, 6)


def test_a_list_that_is_read_later_is_copied():
    body = """
      (let ((t (if (> (size u :axis 0) 1) (tuple l) (tuple (list-append l 2.0)))) (m (list-append (item t 0) 3.0)))
        (tuple m l))
    """
    p = program(body, f"{V} (l (list float64))", "(tuple (list float64) (list float64))")
    agree(p, np.zeros(1), [1.0])
    agree(p, np.zeros(2), [1.0])


# ---------------------------------------------------------------------------------------------------------
# recursion


def path(n: int):
    left = np.arange(1, n + 1)
    left[-1] = -1
    return left, np.full(n, -1)


def test_recursion_a_hundred_thousand_levels_deep():
    n = 100_000
    assert compiled(CASES["tree_prod"].program)(1.0, np.full(n, 0.5), *path(n), 0) == 0.5**n
    assert compiled(CASES["even_odd"].program)(n) == (n % 2 == 0)


def test_three_functions_that_call_one_another():
    p = parse("""
    (program main
      (def half ((x float64)) float64 (* 0.5 x))
      (def a ((v (array float64 1)) (n int64) (l (list float64))) (tuple (array float64 1) (list float64))
        (if (< n 0) (tuple v l) (call b (set v [0] (call half (get v [1]))) (- n 1) (list-append l (get v [0])))))
      (def b ((v (array float64 1)) (n int64) (l (list float64))) (tuple (array float64 1) (list float64))
        (if (== (% n 3) 0) (call a (* v 2.0) (- n 1) l) (call c v (- n 1) l)))
      (def c ((v (array float64 1)) (n int64) (l (list float64))) (tuple (array float64 1) (list float64))
        (let ((r (call b v (- n 1) l)) (s (if (> n 2) (call c v (- n 2) l) r)))
          (tuple (+ (item r 0) (item s 0)) (item s 1))))
      (def main ((v (array float64 1)) (n int64)) (tuple (array float64 1) (list float64))
        (call c v n (list-new :item float64))))
    """)
    agree(p, np.array([1.0, 2.0, 3.0]), 9)


def test_what_recursion_only_reads_is_not_copied():
    assert "copy()" not in compiled(CASES["tree_lstm"].program).source
    assert not compiled(CASES["tree_lstm"].program).text.entry.consumed
    assert not compiled(CASES["tree_prod"].program).text.entry.consumed


@pytest.mark.row("A7")
def test_lists_and_arrays_go_through_recursion_without_copies():
    p = parse("""
    (program main
      (def down ((n int64) (l (list float64)) (v (array float64 1))) (tuple (list float64) (array float64 1))
        (if (== n 0)
          (tuple l v)
          (let ((r (call down (- n 1) l v)))
            (tuple (list-append (item r 0) (get (item r 1) [0])) (add-at (item r 1) [0] 1.0)))))
      (def main ((n int64) (v (array float64 1))) (tuple float64 int64 float64)
        (let ((r (call down n (list-append (list-new :item float64) 7.0) v)))
          (tuple (list-get (item r 0) -1) (list-len (item r 0)) (get (item r 1) [0])))))
    """)
    assert compiled(p).source.count("copy()") <= 1
    agree(p, 30, np.array([1.0, 2.0]))
    assert compiled(p)(20_000, np.array([1.0])) == (20_000.0, 20_001, 20_001.0)


def test_recursion_without_end_is_an_error_and_no_crash():
    endless = program("(+ 1.0 (call f x))", "(x float64)")
    for _ in range(2):
        with pytest.raises(LanternRecursionError, match="calls of f nest too deeply"):
            compiled(endless)(1.0)


def test_deep_recursion_on_another_thread():
    found = []
    n = 50_000
    run = lambda: found.append(compiled(CASES["tree_prod"].program)(1.0, np.ones(n), *path(n), 0))  # noqa: E731
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert found == [1.0]


# ---------------------------------------------------------------------------------------------------------
# names


def test_names_that_mean_something_in_python():
    p = parse("""
    (program range
      (def at ((np float64)) float64 (* np 2.0))
      (def enter ((lambda (list float64))) int64 (list-len lambda))
      (def range ((low float64) (place (array float64 1)) (dot' (list float64)) (λ float64)) float64
        (let ((range (+ low λ)) (i (size place :axis 0)) (len (call at range)) (x' (sum place)) (x_2 x') (x x_2)
              (n (call enter dot')) (Raised (* len x)) (class (cast n :dtype float64)))
          (+ (+ Raised class) (cast i :dtype float64)))))
    """)
    agree(p, 1.0, np.arange(3.0), [1.0, 2.0], 0.5)


# ---------------------------------------------------------------------------------------------------------
# long programs


def test_a_long_sequence_is_compiled_in_parts():
    b = Builder()
    u, n = b.begin("f", [("u", Array("float64", 1)), ("part", INT64)])

    def step(i, y, part):
        for k in range(60):
            y = b.set(
                y, [k % 4], b.op("+", b.op("*", 0.5, b.get(y, k % 3)), b.op("cast", i, dtype="float64"))
            )
            part = b.op("+", part, k)
        return [b.op("+", i, 1), y, part]

    i, y, part = b.loop([("i", 0), ("y", u), ("part", 0)], lambda i, *_: b.op("<", i, n), step)
    for _ in range(150):
        y = b.op("-", b.op("*", y, 0.9), 0.1)
    b.end(b.op("tuple", y, part, i))
    long = b.program("f")
    source = compiled(long).source
    assert source.count("def ") > 3
    assert "copy()" not in source
    agree(long, np.arange(4.0), 3)


def test_no_part_of_a_recursive_function_calls_it():
    """Else they would be functions that call one another, whose types Numba finds again and again."""
    steps = " ".join(
        f"(x{k + 1} (set x{k} [{k % 4}] (* 0.5 (get x{k} [{(k + 1) % 4}]))))" for k in range(120)
    )
    rest = " ".join(f"(y{k + 1} (set y{k} [{k % 4}] (- (get y{k} [{(k + 1) % 4}]) 1.0)))" for k in range(120))
    ends = f"(let ({steps} (y0 (call f (- i 1) x120)) {rest}) y120)"
    p = program(f"(if (< i 1) x0 {ends})", "(i int64) (x0 (array float64 1))", "(array float64 1)")
    groups = program_source(p, list(kernels.KERNELS)).groups
    assert len(groups) > 2 and all(len(group) == 1 for group in groups)
    agree(p, 2, np.arange(4.0))


def test_expressions_may_be_nested_deeply():
    scalar = "x"
    vector = "u"
    for _ in range(70):
        scalar, vector = f"(sin (+ {scalar} 1.0))", f"(+ (* {vector} 0.5) {scalar})"
    agree(program(f"(sum {vector})", f"(x float64) {V}"), 0.5, np.arange(3.0))


# ---------------------------------------------------------------------------------------------------------
# errors and printing


@pytest.mark.parametrize(
    "body",
    [
        "(get u [4])",
        "(get u [-5])",
        "(sum (get u [(cast u :dtype int64)]))",
        "(sum (set u [7] 1.0))",
        "(sum (+ u (get u [(: 2)])))",
        "(sum (set u [(: 2)] (get u [(: 1)])))",
        "(cast (// (size u :axis 0) 0) :dtype float64)",
        "(cast (% 1 (- (size u :axis 0) 4)) :dtype float64)",
        "(cast (** (size u :axis 0) -1) :dtype float64)",
        "(cast (cast (/ (get u [0]) 0.0) :dtype int64) :dtype float64)",
        "(max (get u [(: 4)]))",
        "(matmul u (get u [(: 1)]))",
        "(sum (get u [(> (get u [(: 1)]) 0.0)]))",
        "(sum (reshape u 3 2) )",
        "(sum (concatenate (reshape u 2 2) (reshape u 4 1) :axis 0))",
        "(item (list-pop (list-new :item float64)) 1)",
        "(list-get (list-new :item float64) 0)",
        '(error "KeyError" "no " (get u [0]) " in " u)',
        '(error "SomeError" "of the user\'s")',
        "(item (while ((x 0.0)) :limit 5 true (tuple (+ x 1.0))) 0)",
    ],
)
def test_errors_are_those_of_the_interpreter(body):
    placed = f'(let ((y 1.0 :at "f.py:3") (x {body} :at "f.py:4")) (+ x y))'
    agree(program(placed, V), np.array([1.0, 2.0, 3.0, 4.0]))
    with pytest.raises(Exception) as caught:
        compiled(program(placed, V))(np.array([1.0, 2.0, 3.0, 4.0]))
    assert caught.value.lantern_place == "f.py:4"


def test_the_message_of_an_error_has_its_values():
    p = program('(if (< x 0.0) (error "ValueError" "negative: " x) (sqrt x))', "(x float64)")
    assert compiled(p)(4.0) == 2.0
    with pytest.raises(ValueError, match=r"^negative: -1\.0$"):
        compiled(p)(-1.0)


def test_printing_is_in_order(capsys):
    body = '(let ((_ (print "x is" x)) (_ (print (tuple 1 true) u))) x)'
    p = program(body, f"(x float64) {V}")
    assert compiled(p)(1.5, np.ones(2)) == interpret(p, 1.5, np.ones(2))
    out = capsys.readouterr().out
    assert out == "x is 1.5\n(1, True) [1. 1.]\n" * 2


def test_what_cannot_be_given_is_an_error():
    with pytest.raises(LanternError, match="x is int64, and float64 is needed"):
        compiled(program("x", "(x float64)"))(1)
    with pytest.raises(TypeError, match="takes 1 arguments"):
        compiled(program("x", "(x float64)"))()


def test_arrays_in_any_order_and_read_only_ones():
    p = program("(sum (* (set u [0 0] 1.0) 2.0))", "(u (array float64 2))")
    x = np.arange(12.0).reshape(3, 4)
    frozen = x.copy()
    frozen.flags.writeable = False
    for value in (x, x.T, x[::2, ::-1], frozen):
        agree(p, value)
    assert isinstance(Compiled(p).source, str)
