# ruff: noqa: C405, C416, C417, C419
"""Python's own functions, and those of `math`, on staged values: each gives what it gives on Python values."""

from __future__ import annotations

import math

import numpy as np
import pytest

import lsp_ad
from lsp_ad.staging import StagingError

pytestmark = pytest.mark.row("A8")
pytest.importorskip("jax")
ARRAY = np.array([3.0, -1.0, 2.0, -1.0])


def flat(value):
    if isinstance(value, (list, tuple)):
        return [v for item in value for v in flat(item)]
    if isinstance(value, dict):
        return flat(list(value.items()))
    return np.ravel(np.asarray(value, dtype=float)).tolist()


CASES = {
    "sum": (lambda x: (sum(x), sum(x, 1.0), sum([v for v in x]), sum(v * v for v in x), sum(map(abs, x))), (ARRAY,)),
    "int": (lambda x, y: (int(y + 0.5), int(-y - 0.5), int(x[0] > 2)), (ARRAY, 3.2)),
    "float": (lambda x, y: (float(y), float(x[0] > 2), float(int(y))), (ARRAY, 3.2)),
    "bool": (lambda x, y: (bool(y), bool(x[0] - 3.0)), (ARRAY, 3.2)),
    "complex": (lambda y: abs(complex(y, 2.0)), (1.5,)),
    "abs": (lambda x, y: (abs(x), abs(-y)), (ARRAY, 3.2)),
    "round": (lambda x, y: (round(x), round(y), round(y, 1), round(-x)), (2.5, 3.567)),
    "pow": (lambda x, y: (pow(x, y), pow(x, 2)), (2.5, 3.0)),
    "divmod": (lambda x, y: (divmod(x, y), divmod(-x, y)), (7.5, 2.0)),
    "any": (lambda x: (any(x > 2), any([v > 5 for v in x]), any(x), any([0, x[0] > 9]), any([1, x[0] > 9])), (ARRAY,)),
    "all": (lambda x: (all(x > -2), all(v > 0 for v in x), all(x), all([1, x[0] > 0]), all([0, x[0] > 0])), (ARRAY,)),
    "min": (lambda x, y: (min(x), min(x[0], y, 5.0), min(x, key=lambda v: v * v), min([3, 1])), (ARRAY, 2.0)),
    "max": (lambda x, y: (max(x), max(x[0], y, 0), max([x[0], y], key=lambda v: -v), max([], default=3)), (ARRAY, 2.0)),
    "sorted": (
        lambda x: (
            sorted(x),
            sorted(x, reverse=True),
            sorted([(x[0], 1.0), (x[1], 2.0), (x[3], 3.0)], key=lambda p: p[0]),
            sorted([(x[0], 1.0), (x[1], 2.0), (x[3], 3.0)], key=lambda p: p[0], reverse=True),
            sorted([3, 1, 2], key=lambda v: -v if v > 1 else v),
        ),
        (ARRAY,),
    ),
    "len": (lambda x: (len(x), len(range(int(x[0]))), len([x, x])), (ARRAY,)),
    "range": (lambda x, n: ([v * i for i in range(n) for v in x if i > 1], sum(range(int(x[0])))), (ARRAY, 3)),
    "list": (lambda x: (list(x), tuple(x), [*reversed(x)], list(enumerate(x))), (ARRAY,)),
    "zip": (lambda x: (list(zip(x, [1, 2, 3, 4], strict=True)), dict(zip("abcd", x.copy() * 2, strict=False))["b"]), (ARRAY,)),
    "map": (lambda x: (list(map(lambda v: v if v > 0 else -2 * v, x)), [*filter(None, [0, 1])]), (ARRAY,)),
    "next": (lambda x: (next(iter(x)), next(iter([]), 5.0)), (ARRAY,)),
    "dict": (lambda x: {i: v for i, v in enumerate(x)}, (ARRAY,)),
    "isinstance": (
        lambda x: (
            isinstance(x, np.ndarray),
            isinstance(x[0], float),
            isinstance(x, list),
            isinstance(x[0], (str, np.floating)),
        ),
        (ARRAY,),
    ),
    "math": (
        lambda x, y: (
            math.sin(x), math.atan2(x, y), math.asin(x), math.log(y), math.log(y, 2), math.hypot(x, y),
            math.isclose(x, y), math.isclose(x, x + 1e-12), math.pow(x, y), math.fabs(-x), math.exp(x),
            math.degrees(x), math.isnan(x), math.pi, math.floor(y + 0.5), math.floor(-x), math.ceil(x), math.trunc(-y),
        ),
        (0.3, 2.7),
    ),
}  # fmt: skip


@pytest.mark.parametrize("backend", [None, "jax"])
@pytest.mark.parametrize("name", CASES)
def test_right(name, backend):
    function, arguments = CASES[name]
    expected = function(*arguments)
    found = lsp_ad.staged(function, backend=backend)(*arguments)
    np.testing.assert_allclose(flat(found), flat(expected), rtol=1e-12)


def text_method(x):
    label = "{}".format(x)  # noqa: UP032
    return x if label == "1" else 0.0


ERRORS = {
    "a function of `math` with no counterpart": (
        lambda x: math.gamma(x),
        "`math.gamma` has no staged counterpart",
    ),
    "a set": (lambda x: len(set([x, 1.0])), "cannot make a set"),
    "a set display": (lambda x: len({x, 1.0}), "Python asks a staged value of jax for its value"),
    "the text of a number": (lambda x: str(x) + "!", "has staged values in it"),
    "an f-string": (lambda x: 1.0 if f"{x:.1f}" == "1.0" else 2.0, r"The text '\?' has staged values in it"),
    "a format": (text_method, "has staged values in it"),
    "%": (lambda x: "%5.1f" % x, "`%` writes a text"),  # noqa: UP031
    "a type": (lambda x: type(x) is float, "The type of a staged value"),
    "isinstance": (lambda x: isinstance(x, int), "may come of Python or of NumPy"),
    "a comprehension": (lambda x: [v for v in [x, 2.0] if v > 0], "How many items this comprehension keeps"),
    "items": (lambda x: [i for i in range(int(x))], "`for` statement"),
    "pow": (lambda x: pow(int(x), 2, 3), "`pow` with a modulus"),
    "filter": (lambda x: [*filter(lambda v: v > 1, np.array([x, 2.0]))], "How many items `filter` keeps"),
    "int of an array": (lambda x: int(np.array([x, x])), "`int` takes one number"),
    "is": (lambda x: x is True, "`is` compares Python objects"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    function, message = ERRORS[name]
    with pytest.raises(StagingError, match=rf"test_staged_builtins.py:\d+: .*{message}"):
        lsp_ad.staged(function, backend="jax")(1.0)


def test_print(capfd):
    def show(x):
        print(f"x is {x:.2f} {1} {{}}")
        print("y", 2 * x, sep=": ")
        print(str(x))
        return x

    for backend in (None, "jax"):
        lsp_ad.staged(show, backend=backend)(0.5)
        printed = capfd.readouterr().out.splitlines()
        assert sorted(printed) == ["0.5", "x is 0.50 1 {}", "y: 1.0"]  # in any order
    with pytest.raises(StagingError, match="whole lines"):
        lsp_ad.staged(lambda x: print(x, end=""), backend="jax")(1.0)


def test_names_that_hide_those_of_python():
    def run(x, len=lambda v: 7):
        range = lambda n: [1.0, 2.0]  # noqa: E731

        def inner():
            return [v * x for v in range(3)]

        return inner(), len(x)

    assert lsp_ad.staged(run, backend="jax")(2.0) == ([2.0, 4.0], 7)


def test_formats_as_python_writes_them():
    def run(n, w):
        return f"{n!r:>{w}}|{n:03d}|{{}}|{'x'}", "%d-%s" % (n, w), "{0} {k}".format(n, k=w)  # noqa: UP031, UP032

    assert lsp_ad.staged(run)(3, 7) == run(3, 7)
