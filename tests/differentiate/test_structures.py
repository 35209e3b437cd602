"""Lists, tuples and dictionaries in gradients: structure of what comes back, checks, second derivatives."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest

from tests import oracle
from tests.differentiate import random_lists

pytestmark = pytest.mark.row("T11", "T12")

HEAD = "import numpy as np\n\n\n"


def gradient(body: str, *args, wrt=None, mode="grad"):
    derivative, text = oracle.generate(HEAD + body, "f", wrt, mode)
    return oracle.run(text)[derivative.name](*args)


def test_a_dict_comes_back_with_all_its_keys_in_their_order():
    found = gradient(
        'def f(p):\n    return p["b"] * p["a"] ** 2\n', {"a": 1.0, "unused": np.ones(2), "b": 3.0}
    )
    assert list(found) == ["a", "unused", "b"]
    assert found["a"] == 6.0 and found["b"] == 1.0
    np.testing.assert_array_equal(found["unused"], np.zeros(2))


def test_integers_have_zeros_and_what_is_no_number_has_none():
    found = gradient(
        'def f(p):\n    return p["w"] * p["w"]\n', {"w": 2.0, "n": 3, "name": "layer", "b": None}
    )
    assert found == {"w": 4.0, "n": 0.0, "name": None, "b": None}


def test_tuples_come_back_as_tuples():
    found = gradient("def f(p):\n    (a, b), c = p\n    return a * b * c\n", ((2.0, 3.0), 5.0))
    assert found == ((15.0, 10.0), 6.0)


def test_the_list_of_the_caller_stays_as_it_is():
    xs = [1.0, 2.0]
    found = gradient("def f(xs):\n    xs.append(3.0)\n    return sum(x * x for x in xs)\n", xs)
    assert found == [2.0, 4.0] and xs == [1.0, 2.0]


def test_the_seed_of_a_list_is_not_changed():
    body = "def f(x):\n    ys = []\n    for i in range(3):\n        ys.append(x * i)\n    return ys\n"
    seed = [np.ones(2), np.ones(2), np.ones(2)]
    found = gradient(body, np.ones(2), seed, mode="vjp")
    np.testing.assert_array_equal(found, [3.0, 3.0])
    assert len(seed) == 3 and all(np.array_equal(s, np.ones(2)) for s in seed)


@pytest.mark.parametrize("seed", [1.0, (1.0,), (1.0, 2.0, 3.0), (1.0, np.ones(2))])
def test_a_seed_of_another_structure_is_refused(seed):
    with pytest.raises(ValueError, match="df must"):
        gradient("def f(x: float):\n    return x * x, np.sin(x)\n", 2.0, seed, mode="vjp")


@pytest.mark.parametrize("expression", ["x + x", "x * 2"])
def test_lists_where_arrays_are_meant(expression):
    body = f"def f(x):\n    return np.sum(np.sin({expression}))\n"
    np.testing.assert_allclose(gradient(body, np.ones(2)), 2 * np.cos([2.0, 2.0]))
    with pytest.raises(TypeError, match="expects arrays or numbers, no lists, as x"):
        gradient(body, [1.0, 1.0])


SECOND = {
    "append": (
        "def f(x: float):\n    ys = []\n    y = x\n    for i in range(3):\n        y = np.sin(y * x) + y\n"
        "        ys.append(y * y)\n    return ys[0] * ys[-1]\n",
        (0.3,),
    ),
    "nested tapes": (
        "def f(x: float):\n    y = x\n    for i in range(3):\n        for j in range(2):\n"
        "            y = np.sin(y * x) + y\n    return y\n",
        (0.3,),
    ),
    "dict": (
        'def f(p, x):\n    return np.sum(np.sin(x * p["w"]) * p["v"])\n',
        ({"w": np.array([0.3, 0.4]), "v": np.array([1.0, 2.0])}, np.array([0.5, 0.6])),
    ),
}


@pytest.mark.parametrize(("body", "args"), SECOND.values(), ids=SECOND)
def test_the_gradient_of_a_gradient(body, args):
    derivative, text = oracle.generate(HEAD + body, "f")
    oracle.assert_gradient(text, *args, 1.0, name=derivative.name, tolerance=1e-5)


def test_random_programs_with_lists():
    found = [random_lists.check(seed) for seed in range(60)]
    assert found.count("right") > 30


SHARED = {
    "an item with a name": "t = np.sin(x)\nxs = []\nxs.append(t)\nxs[0] += x\nreturn np.sum(t * xs[0])",
    "one array twice": "t = np.sin(x)\nxs = [t, t]\nu = xs.pop()\nxs[0] += x\nreturn np.sum(u * xs[0])",
    "one array in a loop": "t = np.sin(x)\nxs = []\nfor i in range(3):\n    xs.append(t)\nxs[0] += x\nreturn np.sum(xs[1] * xs[0])",
    "one array of a comprehension": "t = np.sin(x)\nxs = [t for i in range(3)]\nxs[0] += x\nreturn np.sum(xs[1] * xs[0])",
    "a view": "y = np.sin(x)\nxs = []\nxs.append(y[1:])\nxs[0] += x[1:]\nreturn np.sum(y * y) * np.sum(xs[0])",
    "what was popped": "xs = [np.sin(x), np.cos(x)]\nt = xs.pop()\nxs.append(t)\nxs.append(t)\nxs[-1] += x\nreturn np.sum(xs[1] * xs[2])",
    "two lists": "xs = [np.sin(x), np.cos(x)]\nzs = xs[:]\nzs[0] += x\nreturn np.sum(xs[0] * zs[0])",
    "a list with two names": "xs = [x]\nz = xs\nxs += [x * x]\nreturn np.sum(z[-1] * xs[0])",
    "a list in another": "z = [[x], [x]]\nxs = z[0]\nxs += [x * x]\nreturn np.sum(z[0][-1] * xs[1])",
}


@pytest.mark.row("T14", "T30")
@pytest.mark.parametrize("body", SHARED.values(), ids=SHARED)
def test_what_an_augmented_assignment_may_change_under_another_name_is_refused(body):
    with pytest.raises(oracle.Refused) as refused:
        oracle.generate(HEAD + "def f(x):\n" + textwrap.indent(body, "    ") + "\n")
    assert refused.value.args[0].code == "AD302"


OWN = {
    "made for the list": "xs = []\nfor i in range(3):\n    t = np.sin(x * i)\n    xs.append(t)\nxs[0] += x\nreturn np.sum(xs[1] * xs[0])",
    "a comprehension": "xs = [np.sin(x * i) for i in range(3)]\nxs[0] += x\nreturn np.sum(xs[1] * xs[0])",
    "after a pop": "xs = [np.sin(x), np.cos(x)]\nt = xs.pop()\nxs[-1] += x\nreturn np.sum(t * xs[0])",
    "a copy of a list": "xs = [x]\nz = list(xs)\nfor i in range(3):\n    xs += [x * x + i]\nreturn np.sum(z[-1] * xs[1])",
}


@pytest.mark.row("T14")
@pytest.mark.parametrize("body", OWN.values(), ids=OWN)
def test_what_an_augmented_assignment_alone_may_change(body):
    text = HEAD + "def f(x):\n" + textwrap.indent(body, "    ") + "\n"
    oracle.assert_gradient(text, np.array([0.4, 1.2, -0.3]))
    oracle.assert_jvp(text, np.array([0.4, 1.2, -0.3]))
