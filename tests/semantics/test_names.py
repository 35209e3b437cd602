"""What a name stands for, under any alias; and what cannot be told."""

from __future__ import annotations

import pytest

from lsp_ad.semantics.names import local_names, parameters
from lsp_ad.simplify.algebra import expression
from tests import oracle

KNOWN = {
    "import numpy": ("numpy.linalg.inv", "numpy.linalg.inv"),
    "import numpy as np": ("np.linalg.inv", "numpy.linalg.inv"),
    "import numpy.linalg": ("numpy.linalg.inv", "numpy.linalg.inv"),
    "import numpy.linalg as la": ("la.inv", "numpy.linalg.inv"),
    "from numpy import linalg": ("linalg.inv", "numpy.linalg.inv"),
    "from numpy.linalg import inv as invert": ("invert", "numpy.linalg.inv"),
    "import numpy as np\nimport numpy as np": ("np.exp", "numpy.exp"),
    "from . import numpy": ("numpy.exp", ".numpy.exp"),
    "": ("abs", "builtins.abs"),
    "def g(x):\n    return x": ("g", "here.g"),
}
UNKNOWN = {
    "bound twice": ("import numpy as np\nimport jax.numpy as np", "np.exp"),
    "assigned too": ("import numpy as np\nnp = 3", "np.exp"),
    "bound under a condition by something else": (
        "import numpy as np\nif np:\n    import cupy as np",
        "np.exp",
    ),
    "a star import may bind it": ("from numpy import *", "abs"),
    "a built-in that the file binds": ("abs = 3", "abs"),
    "a function that is defined twice": ("def g(x):\n    return x\n\ndef g(x):\n    return -x", "g"),
    "a function under a condition": ("if 1:\n    def g(x):\n        return x", "g"),
    "a class": ("class g:\n    pass", "g"),
    "an attribute of a function of the file": ("def g(x):\n    return x", "g.cache"),
    "a name of nobody's": ("", "nowhere"),
}


@pytest.mark.parametrize(("text", "name", "canonical"), [(t, *v) for t, v in KNOWN.items()], ids=KNOWN)
def test_canonical_name(text, name, canonical):
    assert oracle.program(text).canonical(expression(name)) == canonical


@pytest.mark.parametrize(("text", "name"), UNKNOWN.values(), ids=UNKNOWN)
def test_what_cannot_be_told(text, name):
    assert oracle.program(text).canonical(expression(name)) is None


def test_a_local_name_hides_an_import():
    assert oracle.program("import numpy as np").canonical(expression("np.exp"), {"np"}) is None


def test_parameters_of_every_kind_in_order():
    function = oracle.program("def f(a, /, b, *c, d, **e):\n    return a").functions["f"]
    assert parameters(function) == ["a", "b", "c", "d", "e"]


def test_local_names_are_what_the_function_binds_and_not_what_inner_scopes_bind():
    text = """
def f(a):
    global g
    b, (c, *d) = a
    for e in b:
        with a as h:
            g = 1
    k = [i for i in (w := a)]
    def m(n):
        o = n
    import numpy.linalg as p
    return a
"""
    assert local_names(oracle.program(text).functions["f"]) == set("abcdehkmpw")


def test_the_alias_of_a_module():
    assert oracle.program("import numpy as xp").alias_of("numpy") == "xp"
    assert oracle.program("from numpy import exp").alias_of("numpy") is None
