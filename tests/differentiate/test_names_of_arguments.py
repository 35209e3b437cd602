"""A callee that writes into its argument under another name, however that name was bound: right, or refused."""

from __future__ import annotations

import numpy as np
import pytest

from tests import oracle

pytestmark = pytest.mark.row("T9")

BINDINGS = {
    "an annotated assignment": "b: np.ndarray = a\n    b[0] = 2.0",
    "a walrus": "if (b := a) is not None:\n        b[0] = 2.0",
    "a walrus that may not run": "b = a\n    if len(a) > 9 and (b := 2.0 * a) is not None:\n        pass\n    b[0] = 2.0",
    "a match": "match a:\n        case b:\n            b[0] = 2.0",
    "an item of a list": "xs = [None, None]\n    xs[0] = a\n    b = xs[0]\n    b[0] = 2.0",
    "an item of a dict": "d = {}\n    d['k'] = a\n    b = d['k']\n    b[0] = 2.0",
    "an item of a list that is written": "xs = [None, None]\n    xs[0] = a\n    xs[0][0] = 2.0",
    "an array that was changed in place": "b = a\n    b += 1.0\n    b[0] = 2.0",
    "a name that is bound in a loop": "for i in range(2):\n        b = a\n        a = a + 1.0\n        b[0] = 2.0",
    "a choice": "b = a if len(a) > 1 else 2.0 * a\n    b[0] = 5.0",
    "a loop over a list": "for b in [a, 2.0 * a]:\n        b[0] = 5.0",
    "what a callee hands back": "b = same(a)\n    b[0] = 5.0",
    "a part of what a callee hands back": "b, c = both(a)\n    b[0] = 5.0\n    c[1] = 3.0",
    "one array twice": "b, c = twice(a)\n    b[0] = 5.0\n    a = b * c",
    "one array twice, in a list": "b, c = listed(a)\n    b[0] = 5.0\n    a = b * c",
}
SOURCE = """
import numpy as np

def same(a):
    return a

def both(a):
    return a, a[1:]

def twice(a):
    y = 2.0 * a
    return y, y

def listed(a):
    y = 2.0 * a
    ys = [y, y]
    return ys

def g(a):
    {}
    return np.sum(a * a)

def f(x):
    u = 1.0 * x
    s = g(u)
    return s + np.sum(u * u * u)
"""


@pytest.mark.parametrize("binding", BINDINGS)
def test_a_write_under_another_name(binding):
    source = SOURCE.format(BINDINGS[binding])
    try:
        oracle.assert_gradient(source, np.array([0.7, 1.3, -0.4]))
        oracle.assert_jvp(source, np.array([0.7, 1.3, -0.4]))
    except oracle.Refused as refused:
        assert refused.args[0].code in ("AD302", "AD203", "AD301"), refused.args[0]
        pytest.skip(str(refused.args[0]))


HELD = {
    "an item of a list": "xs = [a, 2.0 * a]\n    xs[0][0] = 2.0",
    "a part of an item": "xs = [a, 2.0 * a]\n    xs[0][1:] *= 2.0",
    "an item of a dict": "xs = {'a': a}\n    xs['a'][0] = 2.0",
    "an item of a tuple": "xs = (a, 2.0 * a)\n    xs[0][0] = 2.0",
    "an item that was appended": "xs = []\n    xs.append(a)\n    xs[0][0] = 2.0",
    "an item by its position": "xs = [a, 2.0 * a]\n    for i in range(2):\n        xs[i][0] = 2.0",
    "out=": "xs = [a, 2.0 * a]\n    np.multiply(a, 2.0, out=xs[0])",
    "fill": "xs = [a, 2.0 * a]\n    xs[0].fill(2.0)",
    "np.add.at": "xs = [a, 2.0 * a]\n    np.add.at(xs[0], [0, 0], 2.0)",
}


@pytest.mark.parametrize("mode", ["grad", "jvp"])
@pytest.mark.parametrize("write", HELD)
def test_a_write_into_what_a_list_holds_is_refused(write, mode):
    source = (
        f"import numpy as np\n\ndef f(x):\n    a = 1.0 * x\n    {HELD[write]}\n    return np.sum(a * a)\n"
    )
    with pytest.raises(oracle.Refused) as refused:
        oracle.generate(source, mode=mode)
    assert refused.value.args[0].code in ("AD301", "AD302")


ROWS = {
    "rows": "g(m[0], m[1])",
    "columns": "g(m[:, 0], m[:, 2])",
    "slices": "g(m[:1], m[1:2])",
    "a row and those after it": "h(m[0], m[1:])",
}
OVERLAPPING = {
    "one row": "g(m[0], m[0])",
    "a row counted from the end": "g(m[2], m[-1])",
    "slices": "g(m[:2], m[1:3])",
    "a row by a name": "i = 1\n    g(m[1], m[i])",
    "a list that holds one array twice": "n = [m, m]\n    g(n[0], n[1])",
}
CALLER = """
import numpy as np

def g(a, b):
    a[:] = b * b

def h(a, b):
    a[1:] = b[0, 1:] * a[0]

def f(x):
    m = np.outer(x, x)
    {}
    return np.sum(m * m * x)
"""


@pytest.mark.parametrize("call", ROWS)
def test_parts_without_a_common_element_may_be_written_and_read(call):
    oracle.assert_gradient(CALLER.format(ROWS[call]), np.array([0.7, 1.3, -0.4]))
    oracle.assert_jvp(CALLER.format(ROWS[call]), np.array([0.7, 1.3, -0.4]))


@pytest.mark.parametrize("call", OVERLAPPING)
def test_parts_that_may_overlap_are_refused(call):
    with pytest.raises(oracle.Refused) as refused:
        oracle.generate(CALLER.format(OVERLAPPING[call]))
    assert refused.value.args[0].code == "AD302"


@pytest.mark.parametrize("p", [(0.3, 0.6), (np.array([0.3, 0.5]), np.array([0.6, 0.2]))], ids=["numbers", "arrays"])
def test_an_item_of_a_parameter_is_updated_beside_another(p):
    source = "import numpy as np\n\ndef f(p):\n    s, t = p\n    s -= t * t\n    return np.sum(s * t)\n"
    oracle.assert_gradient(source, p)
    oracle.assert_jvp(source, p)


def test_arrays_that_change_places_are_two_whatever_went_over_either():
    source = (
        "import numpy as np\n\ndef f(x, y, n: int):\n    u = np.tanh(y) * 1.0\n    v = np.zeros_like(u)\n    for i in range(n):\n"
        "        s = 0.0\n        for e in u:\n            s = s + x * e\n"
        "        v[1:-1] = u[1:-1] + s * (u[2:] - 2 * u[1:-1] + u[:-2])\n        u, v = v, u\n    return np.sum(u * u)\n"
    )
    oracle.assert_gradient(source, 0.3, np.array([0.7, 1.3, -0.4, 0.2]), 3)
    oracle.assert_jvp(source, 0.3, np.array([0.7, 1.3, -0.4, 0.2]), 3)
