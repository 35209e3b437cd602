"""The check of the seed's shape: against the result, or a value with its shape that is computed anyway."""

from __future__ import annotations

import numpy as np
import pytest

from tests import oracle

pytestmark = pytest.mark.row("T1")
HEAD = "import numpy as np\n\n\n"

PROGRAMS = {
    "a formula": "def f(x, n):\n    return np.log(np.outer(x, x) + n) * 2.0\n",
    "a sum of what is broadcast": "def f(x, n):\n    return x[:, None] * n + x\n",
    "a name that a loop changes": """
def f(x, n):
    y = x
    for _ in range(n):
        y = np.outer(y, x)[1] + np.outer(y, x)
    return y
""",
    "a name that a branch changes": """
def f(x, n):
    y = x * 2.0
    if n > 1:
        y = np.outer(x, x)
    return y
""",
    "a result of two paths": """
def f(x, n):
    if n > 1:
        return np.outer(x, x)
    return 2.0 * x
""",
    "a result from within a loop": """
def f(x, n):
    y = x * 2.0
    while True:
        y = np.stack([y, y])
        if y.ndim > n:
            return y
""",
    "an array that is written": "def f(x, n):\n    y = 2.0 * x\n    y[0] = n * y[1]\n    return y\n",
}


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_seed_has_the_shape_of_the_result(name, n):
    source = HEAD + PROGRAMS[name].lstrip()
    x = np.array([0.7, 0.2, 1.1])
    namespace = oracle.run(oracle.generate(source, "f", ["x"], "vjp")[1])
    value = namespace["f"](x, n)
    oracle.assert_gradient(source, x, n, wrt=("x",), all_modes=True)
    for shape in {(), (3,), (1, 3), (3, 3), (2, 3), (2, 2, 3)} - {value.shape}:
        with pytest.raises(ValueError, match="the shape of the result of f"):
            namespace["f_vjp"](x, n, np.ones(shape))
