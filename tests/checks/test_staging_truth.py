"""The errors that the checks foretell happen, and what they pass works: each line is run with JAX."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lsp_ad.checks import check
from lsp_ad.problems import Severity
from lsp_ad.semantics.names import Program
from lsp_ad.source.document import Document
from lsp_ad.source.parse import parse

pytestmark = pytest.mark.row("A13")

FAILS = [
    "max(x, 0.0)", "min(v.ravel())", "any(v > 0)", "all(v > 0)", "sorted(v * 1.0)", "x + 0.0 in [1, 2]",
    "1.0 in v.ravel()", "0 < x < 2", "not x > 0", "x > 0 and x < 1", "x < 0 or x > 1", "int(x)", "float(x)",
    "bool(x > 0)", "x.item()", "v.tolist()", "len(f'{x + 0.0:.2f}')", "np.sin(v)", "np.dot(v, v)",
    "np.asarray(v)", "np.where(v > 0, v, 0)", "np.clip(v, 0, 1)", "np.maximum(v, 0)", "np.float32(x)",
    "np.zeros_like(v)", "np.array([x + 0.0, x])", "np.ravel(v)", "np.sort(v)", "jnp.zeros(n + 0)",
    "jnp.ones(4).reshape(n + 0)", "v[: n + 0]", "[1, 2, 3][n + 0]", "v[v > 0]", "jnp.sum(v, axis=n + 0)",
    "jnp.arange(n + 0)", "[i for i in range(n + 0)]", "jnp.nonzero(v)", "jnp.where(v > 0)", "jnp.unique(v)",
    "jnp.linspace(0, 1, n + 0)", "math.sin(x)", "x if x > 0 else -x", "[a for a in (1, 2) if x > 0]",
    "x if jnp.sum(v) > 0 else -x", "x if v.sum() else -x", "complex(x)", "v.at[v > 0].set(0)",
    "float(jnp.ones(()))", "v.at[v > 0].add(1.0)", "np.stack([x, x])", "'%.2f' % (x + 0.0)", "'%d' % x",
    "'{:.2f}'.format(x + 0.0)", "(1, 2, 3)[n]", "[i for i in range(n)]", "jnp.sum(v, axis=n)", "v[:n]", "x in v",
    "float(v)", "v < x < 3.0", "all(w > 0 for w in [x, x + 1])", "x if v.ndim == 1 and x > 0 else -x",
    "jax.vmap(lambda a: a if a > 0 else -a)(v)", "jax.lax.fori_loop(0, 3, lambda i, c: c if i else c + 1, x)",
    "jax.lax.scan(lambda c, a: (c if a > 0 else -c, a), x, v)", "jax.grad(lambda a: a if a > 0 else -a)(x)",
    "jax.lax.while_loop(lambda c: c < 9 and c > 0, lambda c: c * 2, x)",
]  # fmt: skip
WORKS = [
    "sum(v)", "abs(x)", "round(x)", "pow(x, 2)", "len(v)", "max(v.shape)", "f'{v.shape}' and x", "np.sum(v)",
    "np.mean(v)", "np.max(v)", "np.reshape(v, (2, 2))", "np.transpose(v)", "np.round(v)", "np.cumsum(v)",
    "np.std(v)", "np.squeeze(v)", "np.argmax(v)", "np.prod(v)", "np.all(v)", "np.shape(v) and x", "np.ones(4) * v",
    "np.sqrt(2.0) * x", "np.pi * x", "v[n]", "v[n + 0]", "v.at[n].set(0.0)",
    "jnp.where(v > 0, v, 0)", "jnp.where(v > 0, size=2)", "v[: v.shape[0] // 2]", "jnp.zeros(v.shape)",
    "jnp.arange(v.shape[0])", "x if x is not None else v", "x if v.ndim == 1 else -x", "x if len(v) > 3 else -x",
    "(v > 0) & (v < 1)", "~(v > 0)", "sum([x, x])", "[x for _ in range(3)]", "x if isinstance(v, tuple) else -x",
    "math.sqrt(2.0) * x", "jnp.linspace(0, x, 3)", "x == None", "jnp.maximum(x, 0)", "float(v.shape[0]) * x",
    "int(v.size) * x", "divmod(x, 2.0)", "tuple(v)", "v.reshape(v.shape[0], -1)", "jnp.full(3, x)",
    "jnp.expand_dims(v, 0)", "jnp.repeat(v, 2)", "np.repeat(v, 2)", "v.sum(axis=0)", "np.ndim(v) * x",
    "v.shape if hasattr(v, 'shape') else np.asarray(v)", "x if isinstance(v, jax.Array) else float(x)",
    "x if isinstance(v, jax.core.Tracer) else float(x)", "[jnp.sum(k) for k in {'a': x}.values()]",
    "jax.tree.leaves({'a': x})[0]", "jax.vmap(lambda a, k: a if k > 1 else -a, in_axes=(0, None))(v, 3)",
    "jnp.stack([w for w in (x, n)])", "'%s' % (x + 0.0) and x",
    "jax.lax.cond(x > 0, lambda a: a * 2, lambda a: -a, x)", "jax.tree.flatten(v)[1] == 3",
]  # fmt: skip


def source(expression: str) -> str:
    return (
        "import math\nimport jax\nimport jax.numpy as jnp\nimport numpy as np\n\n@jax.jit\n"
        f"def f(x, v, n):\n    return {expression}\n"
    )


def errors(text: str) -> list[str]:
    return [p.code for p in check(Program(parse(Document(text)))) if p.severity is Severity.ERROR]


@pytest.mark.parametrize("expression", FAILS)
def test_it_fails(expression):
    assert errors(source(expression))
    with pytest.raises((TypeError, ValueError, IndexError, AttributeError)):
        run(expression)


@pytest.mark.parametrize("expression", WORKS)
def test_it_works(expression):
    assert errors(source(expression)) == []
    run(expression)


def run(expression):
    jax = pytest.importorskip("jax")
    space = {"jax": jax, "jnp": jax.numpy, "np": np, "math": math}
    exec(source(expression), space)
    return space["f"](1.5, np.arange(4.0), 2)
