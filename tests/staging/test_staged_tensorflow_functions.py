"""In a `tf.function` of the user's: what AutoGraph's own tests go through, each right or a precise error.

The oracle is the same function on eager tensors, unconverted.
"""

from __future__ import annotations

import collections
import functools

import numpy as np
import pytest

import lsp_ad
from lsp_ad.staging import StagingError

tf = pytest.importorskip("tensorflow")
pytestmark = pytest.mark.row("A2", "A3", "A4", "A5", "A6", "A8")
Pair = collections.namedtuple("Pair", "a b")


def one(value):
    return tf.constant(value)


def assert_equal(found, expected):
    if isinstance(expected, (tuple, list)):
        assert len(found) == len(expected)
        for left, right in zip(found, expected, strict=True):
            assert_equal(left, right)
    else:
        found, expected = np.asarray(found), np.asarray(expected)
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def graph_of(function, *arguments, autograph=False):
    return tf.function(lsp_ad.staged(function), autograph=autograph).get_concrete_function(*arguments)


def check(function, *cases, autograph=False):
    """Every case gives what the function gives in eager mode; the cases run through one graph."""
    compiled = tf.function(lsp_ad.staged(function), autograph=autograph)
    for case in cases:
        assert_equal(compiled(*case), function(*case))


def operations(function, *arguments):
    return {op.type for op in graph_of(function, *arguments).graph.get_operations()}


# conditionals


def no_variables(x):
    if x > 0:
        pass
    return x


def one_variable(x):
    if x > 0:
        x = -x
    return x


def two_variables(a, b):
    if a > 0:
        a, b = b, a
    else:
        b = a * 2
    return a, b


def creates(x):
    if x > 0:
        y = x + 1
    else:
        y = x - 1
    return y


def local(x):
    if x > 0:
        y = x * 3
        x = y + 1
    return x


def successive(a, b):
    if a > b:
        a = a - b
    if b > a:
        b = b - a
    return a, b


def nested(a, b):
    if a > 0:
        if b > 0:
            c = a + b
        else:
            c = a - b
            if c > 5:
                c = c * 10
    else:
        c = b
    return c


def expression(x):
    return (x * 2 if x > 0 else -x) + (1 if x > 5 else 2)


@pytest.mark.parametrize("function", [no_variables, one_variable, creates, local, expression])
def test_conditionals(function):
    check(function, (one(7),), (one(-3),), (one(0),))


@pytest.mark.parametrize("function", [two_variables, successive, nested])
def test_conditionals_of_two(function):
    check(function, (one(7), one(2)), (one(-3), one(2)), (one(2), one(-7)))


def test_conditional_is_staged():
    assert operations(one_variable, one(7)) & {"If", "StatelessIf"}


def test_one_branch_without_value():
    def function(x):
        if x > 0:
            y = x
        return y

    with pytest.raises(StagingError, match=r"`y` has no value in one branch"):
        graph_of(function, one(1))


def test_none_in_one_branch():
    def function(x):
        y = None
        if x > 0:
            y = x
        return y

    with pytest.raises(StagingError, match=r"result of `function` may be None"):
        graph_of(function, one(1))


def test_types_of_branches():
    def function(x):
        y = x
        if x > 0:
            y = tf.cast(x, tf.float64)
        return y

    with pytest.raises(StagingError, match=r"`y` is float64 in one branch, float32 in the other"):
        graph_of(function, one(1.0))


def test_structures_of_branches():
    def function(x):
        if x > 0:
            y = (x, x)
        else:
            y = (x,)
        return y

    with pytest.raises(StagingError, match=r"`y` is a tuple of 2 in one branch, a tuple of 1 in the other"):
        graph_of(function, one(1.0))


def test_shapes_of_branches():
    def function(x):
        if tf.reduce_sum(x) > 0:
            x = x[1:]
        return x

    check(function, (one([1.0, 2.0]),), (one([-1.0, -2.0]),))


# loops


def while_loop(n):
    i = 0
    s = 0
    while i < n:
        s += i
        i += 1
    return s, i


def for_range(n):
    s = 0
    for i in tf.range(n):
        s = s * 2 + i
    return s


def python_range(n):
    s = 0
    for i in range(n):
        s = s * 2 + i
    return s


def nested_loops(n):
    s = 0
    for i in tf.range(n):
        for j in tf.range(i):
            s += i * j
    return s


def successive_loops(n):
    s = 0
    for i in tf.range(n):
        s += i
    while s > 10:
        s -= 3
    return s


def with_continue(n):
    s = 0
    for i in tf.range(n):
        if i % 2 == 0:
            continue
        s += i
    return s


def with_break(n):
    s = 0
    for i in tf.range(n):
        if s > 7:
            break
        s += i
    return s


def inner_break(n):
    s = 0
    i = 0
    while i < n:
        i += 1
        j = 0
        while j < i:
            if j > 2:
                break
            if j == 1:
                j += 1
                continue
            s += i * j
            j += 1
        if s > 30:
            break
    return s, i


def returns(n):
    for i in tf.range(n):
        if i * i > 10:
            return i
    return -1


def returns_before(n):
    if n < 0:
        return n
    s = 0
    while s * s < n:
        s += 1
    return s


def loop_else(n):
    s = 0
    for i in tf.range(n):
        if i > 3:
            break
        s += i
    else:
        s = -1
    return s


def made_in_loop(n):
    s = 0
    for i in tf.range(n):
        t = i + 1
        s += t * t
    return s


def redefines_target(n):
    s = 0
    for i in tf.range(n):
        i = i * 2
        s += i
    return s


def conditional_in_loop(n):
    a, b = 0, 1
    for _ in tf.range(n):
        if a > b:
            b = a + b
        else:
            a = a + b
    return a, b


LOOPS = [
    while_loop,
    for_range,
    python_range,
    nested_loops,
    successive_loops,
    with_continue,
    with_break,
    inner_break,
    returns,
    returns_before,
    loop_else,
    made_in_loop,
    redefines_target,
    conditional_in_loop,
]


def plain(function, n):
    return function(n)


@pytest.mark.parametrize("function", LOOPS, ids=lambda f: f.__name__)
def test_loops(function):
    compiled = tf.function(lsp_ad.staged(function), autograph=False)
    for n in (0, 1, 4, 9):
        assert_equal(compiled(one(n)), function(n))
    definition = compiled.get_concrete_function(one(0)).graph.as_graph_def()
    inside = [node.op for part in definition.library.function for node in part.node_def]
    assert {"While", "StatelessWhile"} & {*inside, *(node.op for node in definition.node)}


def test_with_autograph_on():
    for function in (nested_loops, with_break, returns):
        check(function, (one(9),), autograph=True)


def test_autograph_leaves_what_is_inside(recwarn, capfd):
    def function(ds):
        def step(x):
            if x > 2:
                y = x * 10
            else:
                y = -x
            return y

        s = tf.constant(0, tf.int64)
        for x in ds.map(step).map(lambda x: x + 1 if x > 0 else x - 1):
            s += x
        return s

    compiled = tf.function(lsp_ad.staged(function))
    assert compiled(tf.data.Dataset.range(6)).numpy() == 31 + 41 + 51 - 1 - 2 - 3
    assert "AutoGraph" not in capfd.readouterr().err


def test_over_a_tensor():
    def function(xs):
        s = tf.zeros([2])
        for x in xs:
            s = s * 2.0 + x
        return s

    check(function, (one([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),))


def test_unknown_length():
    def function(xs):
        best = xs[0]
        count = 0
        for x in xs:
            if x > best:
                best = x
            count += 1
        return best, count, len(xs)

    compiled = tf.function(lsp_ad.staged(function), autograph=False, input_signature=[tf.TensorSpec([None])])
    for xs in ([1.0, 5.0, 2.0], [3.0]):
        assert_equal(compiled(one(xs)), function(one(xs)))


def test_enumerate_zip_map():
    def function(xs, ys):
        s = 0.0
        for i, x in enumerate(xs):
            s += x * tf.cast(i, tf.float32)
        for x, y in zip(xs, ys, strict=False):
            s += x * y
        for z in map(lambda v: v * v, xs):  # noqa: C417
            s += z
        for z in reversed(xs):
            s = s * 0.5 + z
        return s

    check(function, (one([1.0, 2.0, 3.0]), one([0.5, 1.5, 2.5])))


def test_defined_in_the_loop_only():
    def function(n):
        for i in tf.range(n):
            x = i
        return x

    with pytest.raises(StagingError, match="`x` has no value if this loop does not run"):
        graph_of(function, one(3))


def test_type_changes_in_a_loop():
    def function(n):
        x = tf.constant(1.0)
        while tf.reduce_sum(x) < 10.0:
            x = tf.cast(x, tf.float64) * 2.0
        return x

    with pytest.raises(StagingError, match="`x` is float32 before an iteration, float64 after it"):
        graph_of(function, one(3))


def test_structure_changes_in_a_loop():
    def function(n):
        x = (n,)
        while n > 0:
            x = (n, n)
            n -= 1
        return x

    with pytest.raises(StagingError, match="`x` is a tuple of 1 before an iteration, a tuple of 2 after it"):
        graph_of(function, one(3))


def test_growing_vector():
    def function(n):
        v = tf.zeros([1])
        for _ in tf.range(n):
            v = tf.concat([v, v + 1.0], 0)
        return v

    check(function, (one(0),), (one(3),))


def test_python_numbers_take_on_types():
    def function(x):
        total = 0.0
        count = 0
        while total < 10.0:
            total = total + tf.reduce_sum(x)
            count += 1
        return total, count

    check(function, (tf.ones([3], tf.float64),), (tf.ones([3], tf.float32),))


# state in attributes and entries


class Counter:
    def __init__(self, start):
        self.value = start
        self.parts = {"a": start, "b": 0}

    def run(self, n):
        while self.value < n:
            if self.value > 5:
                self.value = self.value + 2
            else:
                self.value = self.value + 1
            self.parts["a"] = self.parts["a"] * 2
        return self.value, self.parts["a"]


def test_attributes_and_entries():
    def function(x, n):
        return Counter(x).run(n)

    check(function, (one(1), one(9)), (one(3), one(2)))


def test_named_tuples():
    def function(x):
        p = Pair(x, x + 1)
        while p.a < 10:
            p = Pair(p.a + p.b, p.b + 1)
        return p.a, p.b

    check(function, (one(1),))


# data sets and iterators


def sum_of(ds):
    s = tf.constant(0, tf.int64)
    for x in ds:
        s = s * 2 + x
    return s


def break_of(ds):
    s = tf.constant(0, tf.int64)
    n = 0
    for x in ds:
        if x > 4:
            break
        s += x
        n += 1
    return s, n


def return_of(ds):
    for x in ds:
        if x > 3:
            return x * 100
    return tf.constant(-1, tf.int64)


def pairs_of(ds):
    s = tf.constant(0, tf.int64)
    for i, x in enumerate(ds):
        if x % 2 == 0:
            continue
        s += i * x
    return s


def nothing_of(ds):
    for _ in ds:
        pass
    return 0


@pytest.mark.parametrize("function", [sum_of, break_of, return_of, pairs_of, nothing_of])
def test_datasets(function):
    for n in (0, 3, 9):
        check(function, (tf.data.Dataset.range(n),))


def test_structured_dataset():
    def function(ds):
        s = 0.0
        for batch in ds:
            s += tf.reduce_sum(batch["x"]) * batch["y"]
        return s

    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    check(
        function, (tf.data.Dataset.from_tensor_slices({"x": x, "y": np.array([1.0, 2.0, 3.0], np.float32)}),)
    )


def test_iterator_gives_no_more_than_it_is_asked():
    def function(it):
        s = tf.constant(0, tf.int64)
        for x in it:
            s += x
            if s > 5:
                break
        return s, next(it)

    iterator = iter(tf.data.Dataset.range(10))
    assert_equal(tf.function(lsp_ad.staged(function), autograph=False)(iterator), (6, 4))


def test_ragged_rows():
    def function(rows):
        s = 0.0
        for row in rows:
            s = s * 2.0 + tf.reduce_sum(row)
        return s

    check(function, (tf.ragged.constant([[1.0, 2.0], [], [3.0]]),))


def test_in_dataset_map():
    @lsp_ad.staged
    def step(x):
        while x > 10:
            x -= 7
        if x % 2 == 0:
            return x
        return -x

    found = list(tf.data.Dataset.range(30).map(step).as_numpy_iterator())

    def plain(x):
        while x > 10:
            x -= 7
        return x if x % 2 == 0 else -x

    assert found == [plain(x) for x in range(30)]


# tensor arrays and lists


def test_tensor_array():
    def function(xs):
        out = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        for i in tf.range(tf.shape(xs)[0]):
            if xs[i] > 0:
                out = out.write(out.size(), xs[i] * 2.0)
        return out.stack()

    check(function, (one([1.0, -2.0, 3.0]),), (one([-1.0]),))


def test_list_of_unknown_length():
    def function(n):
        found = []
        for i in tf.range(n):
            if i % 3 != 0:
                found.append(i * i)
        return tf.stack(found), len(found)

    check(function, (one(9),), (one(2),))


def test_list_pop_and_items():
    def function(n):
        stack = [n]
        total = 0
        while len(stack) > 0:
            top = stack.pop()
            total += top
            if top > 1:
                stack.append(top // 2)
                stack.append(top // 3)
        return total

    check(function, (one(9),), (one(1),))


# calls


def helper(x, factor=2):
    if x > 3:
        return x * factor
    return x


def test_call_tree():
    def function(x):
        partial = functools.partial(helper, factor=5)
        own = lambda v: v + 1 if v > 0 else v - 1  # noqa: E731

        def inner(v):
            while v > 20:
                v = v - helper(v)
            return v

        return helper(x), partial(x), own(x), inner(x * 10), helper(*[x], **{"factor": 3})

    check(function, (one(5),), (one(-5),))


def test_function_as_argument():
    def function(x, f):
        return f(x) + f(x + 10)

    compiled = lsp_ad.staged(function)
    assert tf.function(lambda x: compiled(x, helper), autograph=False)(one(1)).numpy() == 1 + 22


def test_numpy_calls():
    def function(x):
        y = np.sin(x)
        if np.sum(y) > 0:
            y = np.maximum(y, 0.1)
        return np.stack([y, np.zeros_like(y)])

    found = tf.function(lsp_ad.staged(function), autograph=False)(one([1.0, 2.0]))
    np.testing.assert_allclose(found, function(np.array([1.0, 2.0], np.float32)), rtol=1e-6)


@pytest.mark.row("A8")
def test_builtins():
    def function(x, y, v):
        return abs(x), max(x, y), min(x, y), len(v), max(v), min(v), sum(v), int(x), float(x)

    arguments = one(-1.5), one(2.0), one([3.0, 1.0, 2.0])
    assert_equal(
        tf.function(lsp_ad.staged(function), autograph=False)(*arguments),
        (1.5, 2.0, -1.5, 3, 3.0, 1.0, 6.0, -1, -1.5),
    )


@pytest.mark.row("A8")
def test_any_all_sorted():
    def function(v):
        return any(v > 2.0), all(v > 0.0), sorted(v)

    assert_equal(
        tf.function(lsp_ad.staged(function), autograph=False)(one([3.0, 1.0, 2.0])),
        (True, True, [1.0, 2.0, 3.0]),
    )


# logic


def test_logic():
    def function(x, y):
        a = x > 0 and y > 0
        b = x > 0 or y > 0
        c = not x > 0
        d = 0 < x < y
        e = x == y or (x != 3 and not (y == 2))  # noqa: SIM201
        return a, b, c, d, e

    check(function, *((one(a), one(b)) for a in (-1, 0, 2, 3) for b in (-1, 2, 3)))


def test_lazy():
    def function(x):
        return x > 0 and 10 // x > 2

    check(function, (one(0),), (one(3),), (one(9),))


def test_in():
    def function(x, v):
        return x in v, x not in v

    check(function, (one(3), one([1, 2, 3])), (one(4), one([1, 2, 3])))


def test_identity():
    def function(x, y):
        return 1 if x is y else 2

    with pytest.raises(StagingError, match="`is` compares Python objects"):
        graph_of(function, one(1), one(1))


# effects


def test_variables_in_branches():
    v = tf.Variable(0.0)

    def function(x):
        if x > 0:
            v.assign_add(x)
        while v < 10.0:
            v.assign_add(3.0)
        return v.read_value()

    compiled = tf.function(lsp_ad.staged(function), autograph=False)
    assert compiled(one(2.0)).numpy() == 11.0
    v.assign(0.0)
    assert compiled(one(-2.0)).numpy() == 12.0


def test_print(capfd):
    def function(x):
        print("start", x)
        if x > 0:
            print("positive", x)
        return x

    compiled = tf.function(lsp_ad.staged(function), autograph=False)
    compiled(one(3))
    compiled(one(-3))
    assert capfd.readouterr().out == "start 3\npositive 3\nstart -3\n"


@pytest.mark.row("A8", "A10")
def test_assert():
    def function(x):
        assert x > 0, "must be positive"
        return x

    compiled = tf.function(lsp_ad.staged(function), autograph=False)
    assert compiled(one(1)).numpy() == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be positive"):
        compiled(one(-1))


# writes and slices


@pytest.mark.row("A7")
def test_writes():
    def function(x, i):
        x = x * 1.0  # an argument that the caller sees must not be written into
        x[0] = 5.0
        x[i] = x[0] * 2.0
        x[2:] = x[:2] + 1.0
        x[1] += 1.0
        return x, x[i], x[1:, None], x[..., ::-1]

    arguments = one([1.0, 2.0, 3.0, 4.0]), one(3)
    expected = function(np.array([1.0, 2.0, 3.0, 4.0], np.float32), 3)
    assert_equal(tf.function(lsp_ad.staged(function), autograph=False)(*arguments), expected)


@pytest.mark.row("A7")
def test_writes_in_a_loop():
    def function(x):
        x = x * 1.0
        for i in tf.range(1, tf.shape(x)[0]):
            x[i] = x[i] + x[i - 1]
        return x

    assert_equal(tf.function(lsp_ad.staged(function), autograph=False)(one([1.0, 2.0, 3.0])), [1.0, 3.0, 6.0])


@pytest.mark.row("A3", "A7")
def test_the_same_source_in_eager_mode():
    def function(x, n):
        y = x * 2.0
        y[0] = 5.0
        for i in tf.range(n):
            y[i] += 1.0
            if y[i] > 4.0:
                y[1:] = y[:-1]
        return y

    made = lsp_ad.staged(function)
    arguments = one([1.0, 2.0, 3.0]), one(3)
    expected = function(np.array([1.0, 2.0, 3.0]), 3)
    assert_equal(made(*arguments), expected)
    assert_equal(tf.function(made, autograph=False)(*arguments), expected)


def test_a_dataset_is_not_taken_apart():
    def function(ds):
        return [x + 1 for x in ds]

    with pytest.raises(StagingError, match="a data set"):
        graph_of(function, tf.data.Dataset.range(3))


# shapes that are not known


@pytest.mark.row("A3")
def test_unknown_size_is_never_silently_unequal():
    def function(x):
        n = x.shape[0]
        rows, columns = x.shape
        a = 1 if x.shape[0] == 3 else 2
        b = 10 if n == 3 else 20
        c = 100 if rows > columns else 200
        d = 0 if n is None else 1000
        return a + b + c + d

    compiled = tf.function(
        lsp_ad.staged(function), autograph=False, input_signature=[tf.TensorSpec([None, 2])]
    )
    assert compiled(tf.zeros([3, 2])).numpy() == 1111
    assert compiled(tf.zeros([1, 2])).numpy() == 1222


# directives


@pytest.mark.row("A9")
def test_loop_options():
    def function(n):
        i = 0
        while i < n:
            lsp_ad.loop_options(maximum_iterations=5, parallel_iterations=3)
            i += 1
        return i

    compiled = tf.function(lsp_ad.staged(function), autograph=False)
    assert compiled(one(3)).numpy() == 3
    loop = next(
        op for op in compiled.get_concrete_function(one(3)).graph.get_operations() if "While" in op.type
    )
    assert loop.get_attr("parallel_iterations") == 3


@pytest.mark.row("A9")
def test_shape_invariants():
    def function(n):
        v = tf.zeros([1])
        for _ in tf.range(n):
            lsp_ad.loop_options(shape_invariants={"v": (None,)})
            v = tf.concat([v, v], 0)
        return v

    assert graph_of(function, one(2)).structured_outputs.shape.as_list() == [None]
    check(function, (one(3),))


# derivatives


@pytest.mark.row("A17")
def test_gradients_through_staged_code():
    def function(x, n):
        y = x
        for i in tf.range(n):
            if y > 2.0:
                y = y * x
            else:
                y = y + tf.cast(i, tf.float32) * x * x
            if y > 50.0:
                break
        return y

    def slope(run, x, n):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = run(x, n)
        return tape.gradient(y, x)

    compiled = lsp_ad.staged(function)
    staged_slope = tf.function(lambda x, n: slope(compiled, x, n), autograph=False)
    for x in (0.5, 1.3, 2.5):
        for n in (0, 1, 4, 9):
            expected = slope(function, one(x), one(n))
            assert_equal(staged_slope(one(x), one(n)), expected)
    outside = tf.function(compiled, autograph=False)
    assert_equal(slope(outside, one(1.3), one(4)), slope(function, one(1.3), one(4)))


@pytest.mark.row("A17")
def test_tape_inside_a_staged_loop():
    def function(w, n):
        for _ in tf.range(n):
            with tf.GradientTape() as tape:
                tape.watch(w)
                loss = tf.reduce_sum((w - 3.0) ** 2)
                if loss > 1.0:
                    loss = loss * 2.0
            w = w - 0.1 * tape.gradient(loss, w)
        return w

    check(function, (one([0.0, 1.0]), one(6)))


@pytest.mark.row("A17")
def test_gradients_of_lists():
    def function(x, n):
        found = [x]
        for _ in tf.range(n):
            found.append(found[-1] * x)
        return tf.reduce_sum(tf.stack(found))

    compiled = tf.function(lsp_ad.staged(function), autograph=False)
    x = one(1.5)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = compiled(x, one(3))
    assert_equal(tape.gradient(y, x), 1 + 2 * 1.5 + 3 * 1.5**2 + 4 * 1.5**3)
