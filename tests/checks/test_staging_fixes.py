"""What a quick fix leaves runs under jax.jit, and means what Python means: each fix is applied, and run."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lsp_ad.checks import check
from lsp_ad.problems import Fix, Severity
from lsp_ad.semantics.names import Program
from lsp_ad.source.document import Document
from lsp_ad.source.edits import Edit, apply
from lsp_ad.source.parse import parse

pytestmark = pytest.mark.row("A13")

IMPORTS = "import functools\nimport math\nimport jax\nimport jax.numpy as jnp\nimport numpy as np\n\n"
PROGRAMS = {
    "if": "@jax.jit\ndef f(x, v):\n    if x > 1:\n        x = x * 2\n    return x + v.sum()\n",
    "if and else": "@jax.jit\ndef f(x, v):\n    if v.sum() > x:\n        y = v\n    else:\n        y = -v\n    return y\n",
    "returns": "@jax.jit\ndef f(x, v):\n    if x > 1:\n        return v * 2\n    return v\n",
    "while": "@jax.jit\ndef f(x, v):\n    while x < 10:\n        x = x * 2\n    return x\n",
    "conditional expression": "@jax.jit\ndef f(x, v):\n    return x if v.sum() > 3 else -x\n",
    "tuples": "@jax.jit\ndef f(x, v):\n    a, b = (x, v) if x > 0 else (x * 2, v + 1)\n    return a + b\n",
    "a name bound in one branch": "@jax.jit\ndef f(x, v):\n    y = x\n    if x > 0:\n        y = v.sum()\n    return y\n",
    "and": "@jax.jit\ndef f(x, v):\n    return jnp.where(x > 0 and v.sum() > 1, x, -x)\n",
    "and in a test": "@jax.jit\ndef f(x, v):\n    if x > 0 and v.sum() > 1:\n        return x\n    return -x\n",
    "or not": "@jax.jit\ndef f(x, v):\n    y = x * 2 if not x > 1 or v.sum() < 0 else x\n    return y\n",
    "chains": "@jax.jit\ndef f(x, v):\n    return jnp.where(0 < x < 2, v, -v)\n",
    "chains in a test": "@jax.jit\ndef f(x, v):\n    while 0 < x < 20:\n        x = x * 3\n    return x\n",
    "in": "@jax.jit\ndef f(x, v):\n    return jnp.where(x in v, 1.0, 2.0)\n",
    "is True": "@jax.jit\ndef f(x, v):\n    if jnp.array(x > 5) is True:\n        return v * 2\n    return v\n",
    "min and max": "@jax.jit\ndef f(x, v):\n    return max(x, 0.5) + min(x, v.sum()) + max(v) + sorted(v)[0]\n",
    "any and all": "@jax.jit\ndef f(x, v):\n    return jnp.where(any(v > 2), x, -x) + jnp.where(all(v > 0), 1, 2)\n",
    "all of several": "@jax.jit\ndef f(x, v):\n    return jnp.where(all(jnp.sum(w) > 0 for w in [x, v]), x, -x)\n",
    "casts": "@jax.jit\ndef f(x, v):\n    return float(x) + v.sum().item() + math.exp(x) + int(x)\n",
    "NumPy": "@jax.jit\ndef f(x, v):\n    return np.sin(v) + np.dot(v, v) + np.linalg.norm(v)\n",
    "a flag": "@jax.jit\ndef f(x, v, double=False):\n    if double:\n        x = x * 2\n    return x + v\n",
    "a method": "class M:\n    def __init__(self):\n        self.s = 2.0\n    @jax.jit\n    def run(self, x, v):\n"
    "        return self.s * x + v\n\ndef f(x, v):\n    return M().run(x, v)\n",
    "gradients": "def g(x, v):\n    if x > 1:\n        return x * v.sum()\n    return x\n\n"
    "f = jax.jit(jax.value_and_grad(g))\n",
    "mapped": "def g(x):\n    return x if x > 1 else -x\n\nm = jax.jit(jax.vmap(g))\n\ndef f(x, v):\n    return m(v) * x\n",
    "static": "@functools.partial(jax.jit, static_argnames='n')\ndef f(x, v, n=3):\n    for _ in range(n):\n"
    "        if x > 1:\n            x = x / 2\n    return x\n",
    "a mask": "@jax.jit\ndef f(x, v):\n    return v.at[v > 1].set(0.0)\n",
}  # fmt: skip
# What a program means where it cannot be run without jit.
MEANT = {
    "is True": PROGRAMS["is True"].replace(" is True", ""),
    "mapped": "def f(x, v):\n    return jnp.array([a if a > 1 else -a for a in v]) * x\n",
}
ARGUMENTS = [(1.5, np.array([0.5, 1.5, 3.0])), (0.5, np.array([-1.0, 0.5, 0.25]))]


def program(text: str) -> Program:
    parsed = parse(Document(text))
    assert not parsed.problems
    return Program(parsed)


def fixed(text: str, fix: Fix) -> str:
    lines = Document(text).lines
    edits = [Edit(lines.offset(*span[:2]), lines.offset(*span[2:]), new) for span, new in fix.edits]
    return apply(text, edits)


def outcomes(text: str, wanted: int = 12) -> list[str]:
    """The texts that are reached by one fix after another, until no error is left."""
    pending, done = [text], []
    while pending and len(done) < wanted:
        now = pending.pop()
        found = [p for p in check(program(now)) if p.severity in (Severity.ERROR, Severity.WARNING) and p.fixes]
        if not found:
            done.append(now)
        pending += [fixed(now, fix) for fix in (found[0].fixes if found else ())]
    return done


def run(text: str, arguments: tuple):
    space: dict = {"math": math}
    exec(compile(text, "fixed.py", "exec"), space)
    return space["f"](*arguments)


@pytest.mark.parametrize("name", list(PROGRAMS))
def test_the_program_runs_after_its_fixes(name, tmp_path):
    jax = pytest.importorskip("jax")
    text = IMPORTS + PROGRAMS[name]
    reached = outcomes(text)
    assert reached and text not in reached
    for number, new in enumerate(reached):
        assert not [p for p in check(program(new)) if p.severity is Severity.ERROR], new
        file = tmp_path / f"fixed_{number}.py"
        file.write_text(new)
        for x, v in ARGUMENTS:
            arguments = x, jax.numpy.asarray(v)
            space: dict = {}
            exec(compile(new, str(file), "exec"), space)
            result = jax.tree.leaves(space["f"](*arguments))
            with jax.disable_jit():
                expected = jax.tree.leaves(run(IMPORTS + MEANT.get(name, PROGRAMS[name]), arguments))
            for one, other in zip(result, expected, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-5, err_msg=new)


NO_FIX = {
    "recursion": "@jax.jit\ndef f(x, v):\n    return g(jnp.sin(x), 3)\n\ndef g(y, n):\n"
    "    return h(y) if n > 0 else y\n\ndef h(y):\n    return -y if y > 5 else g(y, 0)\n",
    "a tuple in a helper": "@jax.jit\ndef f(x, v):\n    return g(jnp.sin(x))\n\ndef g(y):\n"
    "    return (y, 1) if y > 0 else (y, 2)\n",
    "no value before": "@jax.jit\ndef f(x, v):\n    return g(jnp.sin(x))\n\ndef g(y):\n    if y > 0:\n        z = 1\n"
    "    return z\n",
}  # fmt: skip


@pytest.mark.parametrize("name", list(NO_FIX))
def test_no_where_takes_the_place_of_what_it_is_not(name):
    found = [p for p in check(program(IMPORTS + NO_FIX[name])) if p.code == "STG201"]
    assert found and not any(p.fixes for p in found)
