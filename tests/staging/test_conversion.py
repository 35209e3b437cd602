"""What is called is converted, whatever kind of callable it is; what cannot be is an error."""

from __future__ import annotations

import collections
import functools

import numpy as np
import pytest

import lsp_ad
from lsp_ad.staging import ConversionError, StagingError

pytestmark = pytest.mark.row("A2", "A12")
jax = pytest.importorskip("jax")


def both(function, *arguments):
    """The value of a function, which is that of the staged one, on Python values and compiled by JAX."""
    expected = function(*arguments)
    for backend in (None, "jax"):
        found = lsp_ad.staged(function, backend=backend)(*arguments)
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    return expected


def positive(x):
    if x > 0:
        return 2.0 * x
    return -x


class Model:
    size = 2.0

    def __init__(self, scale):
        self.scale = scale
        if scale > 2:
            self.large = 1.0
        else:
            self.large = 0.0
        self.__hidden = scale

    def bound(self, x):
        if x > 0:
            return x * self.scale
        return -x

    @classmethod
    def of_class(cls, x):
        return x * cls.size if x > 0 else -x

    @staticmethod
    def static(x):
        return x * 3 if x > 0 else x

    def private(self, x):
        if x > 0:
            return self.__hidden * x
        return self.__twice(x)

    def __twice(self, x):
        return 2 * x if x < -1 else x

    def __call__(self, x):
        while x < 10:
            x = abs(x) * 2 + 1
        return x


class Sub(Model):
    def __init__(self, scale):
        super().__init__(scale)

    def bound(self, x):
        if x > 1:
            return super().bound(x) + 1
        return super(Sub, self).bound(x)  # noqa: UP008


@pytest.mark.parametrize("x", [3.0, -2.0])
def test_methods(x):
    def run(x):
        model, sub = Model(2), Sub(4)
        total = model.bound(x) + model.of_class(x) + Model.of_class(x) + Model.static(x) + model.static(x)
        return total + sub.bound(x) + sub.private(x) + model(x)

    both(run, x)


@pytest.mark.parametrize("x", [3.0, -2.0])
def test_constructor(x):
    both(lambda x: Model(x).large, x)
    assert isinstance(lsp_ad.staged(lambda x: Model(x))(x), Model)


@pytest.mark.parametrize("x", [3.0, -2.0])
def test_lambdas_of_one_line(x):
    def run(x):
        a, b = (lambda y: y + 1 if y > 0 else 0.0), (lambda y: y * 2 if y > 0 else 1.0)
        c = lambda y: lambda y: y if y > 0 else -3 * y  # noqa: E731
        return a(x) + b(x) + c(2.0)(x)

    both(run, x)
    first, second = (lambda y: y + 1 if y > 0 else 0.0), (lambda y: y * 2 if y > 0 else 1.0)
    outer = lambda y: (lambda y: y if y > 0 else -3 * y)(y)  # noqa: E731
    for function in (first, second, outer):
        both(function, x)


@pytest.mark.parametrize("x", [3.0, -2.0])
def test_partials_closures_and_decorators(x):
    def scaled(k, y):
        return k * y if y > 0 else y

    def counter():
        total = 0.0

        def add(y):
            nonlocal total
            if y > 0:
                total = total + y
            return total

        return add

    def doubled(function):
        @functools.wraps(function)
        def wrapper(*args, **named):
            value = function(*args, **named)
            return 2 * value if value > 0 else value

        return wrapper

    @doubled
    def decorated(y, *, k=1.0):
        if y > k:
            return -y
        return y

    def run(x):
        add = counter()
        add(x)
        return functools.partial(scaled, 2.0)(x) + add(x) + decorated(x) + decorated(x, k=-5.0)

    both(run, x)


@pytest.mark.parametrize("x", [3.0, -2.0])
def test_functions_given_to_library_functions(x):
    def run(x):
        total = sum(map(positive, [x, x + 1, x - 5]))
        total = total + functools.reduce(lambda a, b: a + b if b > 0 else a, [x, x - 2, x * 2])
        return total + sorted([3, 1, 2], key=lambda v: -v if v > 1 else v)[0] * x

    both(run, x)


def test_transformations_of_jax():
    def slope(x):
        return jax.grad(positive)(x)

    def several(x):
        return jax.vmap(positive)(x)

    for backend in (None, "jax"):
        assert lsp_ad.staged(slope, backend=backend)(3.0) == 2.0
        np.testing.assert_allclose(lsp_ad.staged(several, backend=backend)(np.array([1.0, -2.0])), [2.0, 2.0])
    jitted = jax.jit(positive)
    assert lsp_ad.staged(lambda x: jitted(x) + 1.0, backend="jax")(3.0) == 7.0


def test_a_library_wrapper_around_an_unconverted_function():
    wrapped = jax.vmap(positive)

    def run(x):
        return wrapped(x)

    with pytest.raises(StagingError, match=r"test_conversion.py:\d+: positive .*lsp_ad.staged\(positive\)"):
        lsp_ad.staged(run, backend="jax")(np.array([1.0, -2.0]))
    good = jax.vmap(lsp_ad.staged(positive))
    found = lsp_ad.staged(lambda x: good(x), backend="jax")(np.array([1.0, -2.0]))
    np.testing.assert_allclose(found, [2.0, 2.0])


def test_cached_functions_get_values_of_python_only():
    @functools.lru_cache
    def table(n):
        return n * 2 if n > 1 else 0

    assert lsp_ad.staged(lambda x: x * table(4), backend="jax")(3.0) == 24.0
    with pytest.raises(StagingError, match="table"):
        lsp_ad.staged(lambda x: table(x), backend="jax")(3.0)


def test_do_not_convert():
    @lsp_ad.do_not_convert
    def plain(x):
        return x if x is None else x * 2

    @functools.wraps(plain)
    def wrapper(x):
        return plain(x) if x > 0 else x

    assert lsp_ad.staged(lambda x: plain(x), backend="jax")(3.0) == 6.0
    assert (
        lsp_ad.staged(lambda x: wrapper(x), backend="jax")(3.0) == 6.0
    )  # the mark is not that of the wrapper


def test_staged_in_staged():
    inner = lsp_ad.staged(positive)
    compiled = lsp_ad.staged(positive, backend="jax")
    both(lambda x: inner(x) + compiled(x), 3.0)
    both(lambda x: inner(x) + compiled(x), -3.0)


def test_recursion_with_a_staged_condition():
    def factorial(n):
        if n <= 1:
            return 1.0
        return n * factorial(n - 1)

    assert lsp_ad.staged(factorial, backend="jax")(5) == 120.0
    with pytest.raises(StagingError, match=r"test_conversion.py:\d+: `factorial` comes back to this call"):
        lsp_ad.staged(factorial, backend="jax")(5.0)


REFUSED = {
    "a generator": "def f(x):\n    y = x\n    yield y\n",
    "async": "async def f(x):\n    return x\n",
    "`locals`": "def f(x):\n    y = x\n    return locals()\n",
    "`eval`": "def f(x):\n    y = x\n    return eval('y')\n",
    "`exec`": "def f(x):\n    y = x\n    exec('y = 2')\n",
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what, tmp_path):
    path = tmp_path / "refused.py"
    path.write_text(REFUSED[what])
    namespace: dict = {}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    line = 1 if what == "async" else 3
    with pytest.raises(ConversionError, match=rf"refused.py:{line}: .*{what}"):
        lsp_ad.staged(namespace["f"])
    with pytest.raises(ConversionError, match=rf"refused.py:{line}: .*{what}"):
        lsp_ad.staged(lambda x: namespace["f"](x))(1.0)


def test_code_without_text():
    namespace: dict = {}
    exec("def f(x):\n    return x if x > 0 else -x\n", namespace)
    for function in (namespace["f"], lambda x: namespace["f"](x)):
        with pytest.raises(ConversionError, match="no text"):
            lsp_ad.staged(function)(1.0)


def test_named_tuples_and_star_arguments():
    Pair = collections.namedtuple("Pair", "a b")

    def take(*values, k=1.0, **named):
        return sum(values) * k + named["z"] if named["z"] > 0 else values[0]

    def run(x):
        pair = Pair(x, 1.0)
        if x > 0:
            pair = pair._replace(a=3.0)
        else:
            pair = Pair(b=x, a=2.0)
        return take(*pair, **{"k": 2.0, "z": x})

    both(run, 2.0)
    both(run, -2.0)


def test_one_function_alone():
    def inner(x):
        return x if x is None or x > 0 else -x

    def outer(x):
        y = inner(1.0)
        return abs(y * x) if x > 0 else np.sin(x)

    alone = lsp_ad.staged(outer, backend="jax", recursive=False)
    for x in (2.0, -2.0):
        np.testing.assert_allclose(alone(x), outer(x))
    with pytest.raises(StagingError, match=r"`.*inner` runs unconverted"):
        lsp_ad.staged(lambda x: inner(x), backend="jax", recursive=False)(2.0)
    with pytest.raises(TypeError, match="only a function"):
        lsp_ad.staged(functools.partial(outer), recursive=False)


def test_the_same_function_in_two_files(tmp_path):
    """Their codes are equal, as Python compares codes; what is told of each names its own file."""
    text = "{}\n\ndef f(x):\n    return m.sqrt(x) if x > 0 else -x\n"
    for name, first in (("one", "import math as m"), ("two", "import numpy as m")):
        file = tmp_path / f"{name}.py"
        file.write_text(text.format(first))
        space: dict = {}
        exec(compile(file.read_text(), str(file), "exec"), space)
        assert both(space["f"], 4.0) == 2.0
        report = lsp_ad.staging_report(space["f"], 4.0, backend="jax")
        assert {d.file for d in report} == {str(file)}
