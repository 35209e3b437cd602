"""The fifty limitations of AutoGraph that its documentation and its users name, by number; many of them silent there.

Each is right here, or an error that names the line. `same(f, x)`: Python and JAX agree. `refused(f, x, text)`:
a StagingError or ConversionError of this file, with a line.
"""

from __future__ import annotations

import contextlib
import random
import time

import numpy as np
import pytest

import lsp_ad
from lsp_ad.staging import ConversionError, StagingError

pytestmark = pytest.mark.row("A1", "A2", "A3", "A4", "A5", "A6", "A10", "A11", "A12", "A14")
jax = pytest.importorskip("jax")
HERE = "test_limitations.py"


def values(found):
    return [np.asarray(leaf, dtype=float) for leaf in jax.tree_util.tree_leaves(found)]


def same(function, *arguments):
    expected = values(function(*arguments))
    for backend in (None, "jax"):
        found = values(lsp_ad.staged(function, backend=backend)(*arguments))
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)


def refused(function, *arguments, match, backend="jax"):
    with pytest.raises((StagingError, ConversionError), match=rf"{HERE}:\d+: .*{match}"):
        lsp_ad.staged(function, backend=backend)(*arguments)


def test_01_none_before_a_loop():
    def optional(x):
        best = None
        while x < 10:
            best = x
            x = 2 * x
        return best

    same(optional, 1.0)
    same(optional, 20.0)

    def unused(x):
        label = None
        while x < 10:
            x = 2 * x
        return x if label is None else 0.0

    same(unused, 1.0)


def test_02_defined_in_one_branch():
    def read_later(x):
        if x > 0:
            y = x
        return y

    refused(read_later, 1.0, match="`y` has no value in one branch")

    def not_read(x):
        if x > 0:
            y = x
            x = y + 1
        return x

    same(not_read, 1.0)


def test_03_accumulator_made_in_the_first_iteration():
    def run(xs):
        for i in range(len(xs)):
            if i == 0:
                total = xs[0]
            else:
                total = total + xs[i]
        return total

    same(run, np.arange(4.0))

    def staged_count(xs, n):
        for i in range(int(n)):
            if i == 0:
                total = xs[0]
            else:
                total = total + xs[i]
        return total

    refused(staged_count, np.arange(4.0), 3.0, match="`total` has no value")


def test_04_variable_first_set_in_a_loop():
    def temporary(x):
        while x < 10:
            y = x + 1
            x = y * 2
        return x

    same(temporary, 1.0)

    def read_after(x):
        while x < 10:
            y = x + 1
            x = y * 2
        return y

    refused(read_after, 1.0, match="`y` has no value if this loop does not run")


def test_05_returns():
    def in_a_branch(x):
        if x > 0:
            return x
        x = x * 3
        return -x

    def in_a_loop(x):
        while x < 100:
            if x > 20:
                return x
            x = 3 * x
        return -x

    for x in (-1.0, 1.0, 8.0, 50.0):
        same(in_a_branch, x)
        if x > 0:
            same(in_a_loop, x)

    def in_one_branch(x):
        if x > 0:
            return x

    same(in_one_branch, 1.0)
    same(in_one_branch, -1.0)
    for x in (1.0, -1.0):  # which `jax.jit` has no result for
        with pytest.raises(StagingError, match=rf"{HERE}:\d+: the result of .* may be None"):
            jax.jit(lsp_ad.staged(in_one_branch))(x)


def test_06_entry_or_item_in_one_branch():
    def entry(x):
        d = {"a": x}
        if x > 0:
            d["b"] = 2 * x
        return d["a"]

    refused(entry, 1.0, match="has no value in one branch")

    def item(x):
        values = [x, x]
        if x > 0:
            values[1] = 2 * x
        return values[0] + values[1]

    same(item, 1.0)


def test_07_changes_by_other_functions():
    def by_nonlocal(x):
        count = 0

        def step():
            nonlocal count
            count += 1

        while x < 10:
            step()
            x = 2 * x
        return count

    same(by_nonlocal, 1.0)

    def by_a_cell(x):
        cell = [0]

        def step():
            cell[0] += 1

        while x < 10:
            step()
            x = 2 * x
        return cell[0]

    same_or_refused(by_a_cell, 1.0)

    def by_an_argument(x):
        cell = [0]
        while x < 10:
            bump(cell)
            x = 2 * x
        return cell[0]

    same_or_refused(by_an_argument, 1.0)


def same_or_refused(function, *arguments):
    try:
        same(function, *arguments)
    except StagingError as error:
        assert HERE in str(error)


def bump(cell):
    cell[0] += 1


class Counter:
    def __init__(self):
        self.count = 0

    def bump(self):
        self.count = self.count + 1

    def run(self, x):
        while x < 10:
            self.bump()
            x = 2 * x
        return self.count


def test_08_method_that_changes_its_object():
    same_or_refused(lambda x: Counter().run(x), 1.0)

    def branch(x):
        counter = Counter()
        if x > 0:
            counter.bump()
        return counter.count

    same_or_refused(branch, 1.0)
    same_or_refused(branch, -1.0)


def test_09_closure_over_a_loop_variable():
    def run(x):
        i = 0.0
        get = lambda: i  # noqa: E731
        while i < 5:
            i = i + 1
            x = x + get()
        return x + get()

    same(run, 1.0)


total = 0.0


def test_10_globals():
    def run(x):
        global total
        if x > 0:
            total = total + x
        return total

    global total
    total = 1.0
    assert lsp_ad.staged(run)(2.0) == 3.0
    total = 1.0
    try:
        lsp_ad.staged(run, backend="jax")(2.0)
    except StagingError as error:
        assert HERE in str(error)
    assert not isinstance(total, jax.core.Tracer)
    total = 0.0


class Holder:
    value = 0.0


def test_11_attribute_of_an_object_from_outside():
    holder = Holder()

    def run(x):
        holder.value = 2 * x
        return x

    with contextlib.suppress(StagingError):
        lsp_ad.staged(run, backend="jax")(1.0)
    assert not isinstance(holder.value, jax.core.Tracer)


def test_12_change_from_outside_between_calls():
    scale = [1.0]

    def run(x):
        return x * scale[0] if x > 0 else x

    report = lsp_ad.staging_report(run, 1.0, backend="jax")
    assert report


def test_13_effects_of_code_that_is_traced_once():
    log = []

    def branches(x):
        if x > 0:
            log.append("positive")
        else:
            log.append("negative")
        return x

    refused(branches, 1.0, match="log")

    def loop(x):
        while x < 10:
            log.append("step")
            x = 2 * x
        return x

    refused(loop, 1.0, match="log")


def test_14_effects_of_the_first_call_only(capfd):
    def run(x):
        print("called")
        return x + 1

    function = lsp_ad.staged(run, backend="jax")
    function(1.0), function(2.0)
    assert capfd.readouterr().out == "called\ncalled\n"  # staged, too

    traces = []

    def counted(x):
        traces.append(1)
        return x

    (effect,) = lsp_ad.staging_report(counted, 1.0, backend="jax").of("side effect")
    assert effect.subject == "traces"


def test_15_finally_in_a_loop():
    def run(x):
        count = 0
        while x < 10:
            try:
                x = 2 * x
            finally:
                count = count + 1
        return count

    same(run, 1.0)


def test_16_condition_of_python():
    flag = True

    def run(x):
        if flag:
            x = 2 * x
        if x > 1:
            x = x + 1
        return x

    report = lsp_ad.staging_report(run, 1.0, backend="jax")
    first, second = report.of("if")
    assert first.outcome == "decided in Python" and "bool" in first.why
    assert second.outcome == "staged"
    flag = False


def test_17_unrolled_loops():
    def run(x):
        for _ in range(5):
            x = x + 1
        return x

    (found,) = lsp_ad.staging_report(run, 1.0, backend="jax").of("for")
    assert (found.outcome, found.count) == ("unrolled", 5)


def test_18_python_number_that_a_loop_changes():
    def run(xs, limit):
        i = 0
        while i < 3 and xs[i] < limit:
            i = i + 1
        return xs[i], xs[: 2 + 1], i

    same(run, np.arange(5.0), 2.0)

    def as_a_size(xs, limit):
        i = 0
        while xs[i] < limit:
            i = i + 1
        return np.zeros(i)

    refused(as_a_size, np.arange(5.0), 2.0, match="")


def test_19_identity():
    refused(lambda x: 1.0 if x is True else 2.0, 1.0, match="`is` compares Python objects")
    same(lambda x: 1.0 if x is None else 2.0, 1.0)
    same(lambda x: 1.0 if x is not None else 2.0, 1.0)


def test_20_equality():
    same(lambda x, y: 1.0 if x == y else 2.0, 1.0, 1.0)
    same(lambda x, y: 1.0 if x != y else 2.0, 1.0, 1.0)
    same(lambda x, y: 1.0 if (x, y) == (1.0, 2.0) else 2.0, 1.0, 2.0)


def test_21_shapes():
    same(lambda x: 1.0 if x.shape[0] == 3 else 2.0, np.ones(3))
    same(lambda x: x * len(x), np.ones(3))


def test_22_random_numbers_and_clocks():
    for function in (random.random, time.time, np.random.rand):
        report_or_refusal(lambda x, f=function: x + f())


def report_or_refusal(function):
    try:
        report = lsp_ad.staging_report(function, 1.0, backend="jax")
    except StagingError as error:
        assert HERE in str(error)
    else:
        assert any(decision.outcome == "left alone" for decision in report), str(report)


def test_23_arguments_that_are_python_values():
    traces = []

    def run(x, n):
        traces.append(n)
        return x * n

    function = lsp_ad.staged(run, backend="jax")
    for n in (1, 2, 2, 1):
        assert function(2.0, n) == 2.0 * n
    assert len(traces) <= 2


def test_24_text():
    refused(lambda x: len(f"{x}"), 1.0, match="has staged values in it")
    refused(lambda x: len(str(x)), 1.0, match="has staged values in it")


def test_25_ranges_of_python_and_staged_ones():
    def run(x, n):
        for i in range(n):
            x = x + i
        return x

    same(run, 1.0, 4)
    same(lambda x, n: run(x, int(n)), 1.0, 4.0)
    assert lsp_ad.staging_report(run, 1.0, 4, backend="jax").of("for")[0].outcome == "unrolled"
    report = lsp_ad.staging_report(lambda x, n: run(x, int(n)), 1.0, 4.0, backend="jax")
    assert report.of("for")[0].outcome == "staged"


def test_26_dtypes():
    def run(x):
        y = np.zeros(2, dtype=bool)
        if x > 0:
            y = np.zeros(2)
        return y

    refused(
        run, 1.0, match=r"`y` is float64 of shape \(2,\) in one branch, bool of shape \(2,\) in the other"
    )


def test_27_shapes_in_branches_and_loops():
    def branch(x):
        y = np.zeros(2) if x > 0 else np.zeros(3)
        return y

    def loop(x):
        y = np.zeros(1)
        while x < 3:
            x = x + 1
            y = np.append(y, x)
        return y

    refused(branch, 1.0, match=r"float64 of shape \(2,\) in one branch, float64 of shape \(3,\)")
    refused(loop, 1.0, match=r"`y` is float64 of shape \(1,\) before an iteration, .*\(2,\) after it")


def test_28_fault_in_a_branch_that_is_not_taken():
    def run(x, y):
        if x > 0:
            z = x
        else:
            z = np.sum(np.ones(2) * y)
        return z

    with pytest.raises(Exception) as found:
        lsp_ad.staged(run, backend="jax")(1.0, np.ones(3))
    lines = [f for f in found.traceback if str(f.path).endswith(HERE)]
    assert "np.ones(2) * y" in str(lines[-1].statement)


def test_29_structures():
    def run(x):
        y = (x, x)
        if x > 0:
            y = [x, x]
        return y

    refused(run, 1.0, match="`y` is a list of 2 in one branch, a tuple of 2 in the other")


def test_30_index_in_a_branch_that_is_not_taken():
    def run(x):
        y = [x]
        if x < 0:
            x = y[3]
        return x

    with pytest.raises(IndexError) as found:
        lsp_ad.staged(run, backend="jax")(1.0)
    assert "y[3]" in str([f for f in found.traceback if str(f.path).endswith(HERE)][-1].statement)


def test_31_lists_in_loops():
    def run(xs):
        out = []
        for v in xs:
            out.append(v * v)
        return np.stack(out)

    same(run, np.arange(5.0))


def test_32_dicts():
    def literal(x):
        d = {"a": x, "n": 0.0}
        while d["a"] < 10:
            d["a"] = 2 * d["a"]
            d["n"] += 1
        return d["a"] + d["n"]

    same(literal, 1.0)

    def dynamic(x):
        d = {"a": x, "b": 2 * x}
        for key in ["a", "b"]:
            if d[key] > 1:
                d[key] = d[key] - 1
        return d["a"] + d["b"]

    same_or_refused(dynamic, 1.0)


def test_33_34_items_of_arrays():
    def run(x, c):
        y = x.copy()
        i = 0
        while i < 3 and c > 0:
            y[i] = y[i] * c
            y[i + 1] += c
            i += 1
        return y

    same(run, np.arange(5.0), 2.0)
    same(run, np.arange(5.0), -2.0)


def test_35_comprehensions():
    same(lambda x: [2 * v if v > 0 else v for v in x], np.array([1.0, -2.0]))
    same(lambda x: sum(v * v for v in x), np.array([1.0, -2.0]))
    refused(lambda x: [v for v in x if v > 0], np.array([1.0, -2.0]), match="How many items")


def test_36_unpacking_and_in():
    def run(x, y):
        a, b = x
        first, *rest = x
        return a - b + first + len(rest) if y in x else 0.0

    same(run, np.array([1.0, 2.0]), 2.0)
    same(run, np.array([1.0, 2.0]), 3.0)


class Private:
    def __init__(self, x):
        self.__x = x

    def value(self):
        if self.__x > 0:
            return self.__x
        return -self.__x


def test_37_else_of_loops_private_names_and_generators():
    def for_else(x):
        for i in range(4):
            if x < i:
                break
        else:
            x = -x
        return x

    def while_else(x):
        while x < 10:
            x = 2 * x + 3
            if x > 8:
                break
        else:
            x = -x
        return x

    for x in (1.0, 5.0, 20.0):
        same(for_else, x)
        same(while_else, x)
        same(lambda x: Private(x).value(), x)

    def generator(x):
        yield x

    refused(generator, 1.0, match="generator")
    refused(lambda x: list(generator(x)), 1.0, match="generator")


def test_38_async_match_and_walrus():
    async def coroutine(x):
        return x

    refused(coroutine, 1.0, match="async")

    def walrus(x):
        while (y := x * x) < 100:
            x = x + y
        return y

    def match(x):
        match x:
            case 1.0:
                return 10.0
            case 2.0 | 3.0:
                return 20.0
            case _ if x > 50:
                return 30.0
            case _:
                return x

    for x in (1.0, 2.0, 3.0, 60.0, 7.0):
        same(walrus, x)
        same(match, x)


def test_39_try_and_raise():
    def caught(x):
        try:
            y = 1.0 / x
        except ZeroDivisionError:
            y = 0.0
        return y

    refused(caught, 1.0, match="ZeroDivisionError")

    def raised(x):
        if x < 0:
            raise ValueError("negative")
        return x

    refused(raised, 1.0, match="`raise`")
    with pytest.raises(ValueError, match="negative"):
        lsp_ad.staged(raised)(-1.0)


def test_40_assert():
    def run(x):
        assert x > 0, f"{x} is negative"
        return x

    same(run, 1.0)
    for backend in (None, "jax"):
        with pytest.raises(AssertionError, match="is negative"):
            lsp_ad.staged(run, backend=backend)(-1.0)


def test_41_lambdas_of_one_line():
    def run(x):
        f, g = (lambda v: v + 1 if v > 0 else v), (lambda v: v - 1 if v > 0 else v)
        return f(x) * g(x)

    same(run, 3.0)
    f, g = (lambda v: v + 1 if v > 0 else v), (lambda v: v - 1 if v > 0 else v)
    same(f, 3.0)
    same(g, 3.0)


def test_42_no_text():
    namespace: dict = {}
    exec("def f(x):\n    return x if x > 0 else -x\n", namespace)
    with pytest.raises(ConversionError, match="<string>:1: f cannot be converted: there is no text"):
        lsp_ad.staged(lambda x: namespace["f"](x), backend="jax")(1.0)


class Vector:
    def __init__(self, x):
        if x > 0:
            self.x = x
        else:
            self.x = -x

    @property
    def size(self):
        return self.x if self.x > 1 else 1.0

    def __add__(self, other):
        if other > 0:
            return self.x + other
        return self.x


def test_43_constructors_properties_and_operators():
    same(lambda x: Vector(x).x, -2.0)
    same(lambda x: Vector(x).size, -2.0)
    same(lambda x: Vector(x) + x, -2.0)
    same(lambda x: Vector(x).__add__(x), -2.0)


def test_44_decorators():
    def positive(v):
        return v if v > 0 else -v

    wrapped = jax.vmap(positive)
    refused(lambda x: wrapped(x), np.ones(2), match="positive .*is wrapped by a library")


def test_45_recursion():
    def down(x):
        if x < 1:
            return x
        return down(x - 1)

    refused(down, 5.5, match="`down` comes back to this call")
    assert lsp_ad.staged(lambda x, n: x * down(n), backend="jax")(2.0, 3) == 0.0


class Base:
    def value(self, x):
        return x if x > 0 else -x


class Derived(Base):
    def value(self, x):
        while x > 3:
            x = super().value(x) - 1
        if x > 1:
            return super().value(x) + 1
        return x


def test_46_super_and_reflection():
    for x in (-1.0, 2.0, 5.0):
        same(lambda x: Derived().value(x), x)
    refused(lambda x: len(locals()), 1.0, match="`locals`")
    refused(lambda x: eval("x"), 1.0, match="`eval`")
    same(lambda x: x + len(globals()), 1.0)


class Special(Exception):
    def __init__(self, *, code):
        super().__init__("special")
        self.code = code


def test_47_exceptions_with_constructors_of_their_own():
    def run(x):
        x = x + 1
        raise Special(code=5)

    for backend in (None, "jax"):
        with pytest.raises(Special) as found:
            lsp_ad.staged(run, backend=backend)(1.0)
        assert found.value.code == 5


def test_48_breakpoints_are_in_the_text_of_the_user():
    def run(x):
        if x > 0:
            x = x + 1  # here
        return x

    made = lsp_ad.staged(run).__wrapped__
    codes = [made.__code__]
    for code in codes:
        codes += [c for c in code.co_consts if hasattr(c, "co_code")]
    assert {code.co_filename for code in codes} == {__file__}
    lines = {line for code in codes for _, _, line in code.co_lines() if line}
    first = run.__code__.co_firstlineno
    assert lines == {first, first + 1, first + 2, first + 3}


def test_49_conditions_are_evaluated_once_more_at_most():
    tests = []

    def run(x):
        def test():
            tests.append(1)
            return x < 10

        while test():
            x = 2 * x
        return x

    tests.clear()
    with contextlib.suppress(StagingError):
        lsp_ad.staged(run, backend="jax")(1.0)
    assert len(tests) <= 2

    def attribute(x):
        holder = Holder()
        if x > 0:
            holder.value = 5.0
        return holder.value

    same(attribute, 1.0)
    same(attribute, -1.0)


class Countdown:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return iter(range(self.n))


def test_50_objects_that_are_gone_over():
    def run(x):
        for i in Countdown(3):
            x = x + i
        return x

    same(run, 1.0)
    (found,) = lsp_ad.staging_report(run, 1.0, backend="jax").of("for")
    assert (found.outcome, found.count) == ("unrolled", 3)
    assert "Countdown" in found.why
