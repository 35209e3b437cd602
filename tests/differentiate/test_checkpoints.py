"""Loops of which only every so many states are kept."""

from __future__ import annotations

import ast
import copy
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from lsp_ad.differentiate import Options, differentiate, insertion
from lsp_ad.source import edits
from tests import oracle
from tests.differentiate.programs.everything import CASES as PROGRAMS_OF_ALL

pytestmark = pytest.mark.row("T26")
HEAD = "import numpy as np\nimport lsp_ad\n\n"
RNG = np.random.default_rng(3)
W, H, XS = RNG.normal(size=(2, 2)), RNG.normal(size=2), RNG.normal(size=(8, 2))


def indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


PROGRAMS = {
    "range": ("""def f(x, n: int):
    with lsp_ad.checkpoint(every=3):
        for t in range(n):
            x = np.sin(x) * 1.1 + 0.01 * t
    return x * x
""", [(0.7, 10), (0.7, 9), (0.7, 1), (0.7, 0), (H, 7)]),
    "start, stop and step": ("""def f(x, n: int):
    with lsp_ad.checkpoint(every=2):
        for t in range(1, n, 3):
            x = np.sin(x) * 1.1 + 0.01 * t
    with lsp_ad.checkpoint(every=2):
        for t in range(n, -2, -2):
            x = np.sin(x) + 0.01 * t * x
    return x
""", [(0.7, 17), (0.7, 2), (0.7, -3)]),
    "what the loop goes over changes in it": ("""def f(x, n: int):
    k = 2
    with lsp_ad.checkpoint(k):
        for n in range(n):
            k = k + 1
            x = np.sin(x * k) + n
    return x * n + k
""", [(0.7, 4)]),
    "an array, recurrent": ("""def f(w, h, xs):
    with lsp_ad.checkpoint(every=3):
        for x in xs:
            h = np.tanh(w @ h + x)
    return np.sum(h * h)
""", [(W, H, XS), (W, H, XS[:0])]),
    "zip, enumerate, unpacking": ("""def f(w, h, xs, ys):
    total = 0.0
    with lsp_ad.checkpoint(every=3):
        for i, (x, (a, b)) in enumerate(zip(xs * 2.0, ys)):
            h = np.tanh(w @ h + x * a)
            total = total + np.sum(h) * b * i
    return total
""", [(W, H, XS, XS + 1.0)]),
    "a list": ("""def f(x, n: int):
    factors = [x, x * x, 2.0, x + 1.0, x]
    with lsp_ad.checkpoint(every=2):
        for factor in factors:
            x = np.sin(x * factor)
    return x
""", [(0.7, 1)]),
    "while": ("""def f(x, n: int):
    i = 0
    with lsp_ad.checkpoint(every=3):
        while i < n and x < 3.0:
            x = x + np.sin(x) * 0.2
            i = i + 1
    return x * x * i
""", [(0.7, 10), (0.7, 0), (2.9, 10)]),
    "while true": ("""def f(x, n: int):
    i = 0
    with lsp_ad.checkpoint(every=3):
        while True:
            x = x + np.sin(x) * 0.2
            i = i + 1
            if i > n:
                break
    return x * x
""", [(0.7, 10), (0.7, 0), (0.7, 5)]),
    "break and continue": ("""def f(x, n: int):
    total = 0.0 * x
    with lsp_ad.checkpoint(every=3):
        for t in range(n):
            if t % 2 == 1:
                continue
            total = total + x * t
            if total > 4.0:
                break
            x = np.sin(x) * 1.1 + 0.01 * t
    return x * x + total
""", [(0.7, 12), (0.7, 3), (0.1, 5)]),
    "return": ("""def f(x, n: int):
    with lsp_ad.checkpoint(every=3):
        for t in range(n):
            x = x * 1.2
            if x > 2.0:
                return x * t
    return x * x
""", [(0.7, 12), (0.7, 3)]),
    "names from inside and the loop variable, read afterwards": ("""def f(x, n: int):
    y, t = x, 0
    with lsp_ad.checkpoint(every=4):
        for t in range(n):
            y = np.sin(x)
            x = x * y + 0.1
    return x * y * t
""", [(0.7, 9), (0.7, 0)]),
    "names that are bound again afterwards": ("""def f(x, w, n: int):
    z = x * w
    w = w * 2.0
    with lsp_ad.checkpoint(every=4):
        for t in range(n):
            x = np.sin(x * w) + z
    z = x * z
    w = w + z
    x = w * w
    return x * z
""", [(0.7, 0.4, 9)]),
    "branches and an inner loop": ("""def f(x, n: int):
    with lsp_ad.checkpoint(every=2):
        for t in range(n):
            if x > 0.5:
                for k in range(3):
                    x = np.sin(x) + 0.1 * k
            else:
                x = np.exp(x)
    return x
""", [(0.7, 7), (0.1, 6)]),
    "in another loop": ("""def f(x, n: int):
    for k in range(3):
        y = x * k
        with lsp_ad.checkpoint(every=2):
            for t in range(n):
                x = np.sin(x + y) + 0.1 * t
        x = x * y + 1.0
    return x
""", [(0.7, 5)]),
    "one in the other": ("""def f(x, n: int):
    with lsp_ad.checkpoint(every=2):
        for k in range(5):
            y = x * k
            with lsp_ad.checkpoint(every=3):
                for t in range(n):
                    x = np.sin(x + y) + 0.1 * t
            x = x * y + 1.0
    return x
""", [(0.7, 7)]),
    "in a function that is called": ("""def steps(x, w, n):
    with lsp_ad.checkpoint(every=3):
        for t in range(n):
            x = np.sin(x * w) + 0.1 * t
    return x

def f(x, w, n: int):
    for _ in range(2):
        x = steps(x, w, n) * x
    return x
""", [(0.7, 0.9, 7)]),
    "a function that is called in it": ("""def step(x, w):
    while x > 1.0:
        x = x * 0.5
    return np.sin(x * w) + 0.6

def f(x, w, n: int):
    with lsp_ad.checkpoint(every=3):
        for t in range(n):
            x = step(x * 1.7, w) * x
    return x
""", [(0.7, 0.9, 7)]),
}  # fmt: skip
CASES = [(name, source, args) for name, (source, inputs) in PROGRAMS.items() for args in inputs]
each = pytest.mark.parametrize(
    "name, source, args", CASES, ids=[f"{n}, {i}" for i, (n, _, _) in enumerate(CASES)]
)


@each
def test_the_gradient(name, source, args):
    text = oracle.assert_gradient(HEAD + source, *args)
    assert "checkpoint(" not in text[len(HEAD + source) :]


@each
def test_forward_mode_and_code_before_simplification(name, source, args):
    compiled = oracle.program(HEAD + source)

    def run(mode, optimized):
        derivative, problems = differentiate(compiled, "f", None, mode, Options(optimized=optimized))
        assert derivative is not None, problems
        namespace = oracle.run(edits.apply(HEAD + source, insertion(compiled, derivative)))
        rng = np.random.default_rng(0)
        wrt = [a for a in args if not isinstance(a, int)]
        seeds = (
            [oracle.random_like(namespace["f"](*args), rng)]
            if mode == "vjp"
            else [oracle.random_like(a, rng) for a in wrt]
        )
        return namespace[derivative.name](*args, *seeds), seeds

    (adjoints, seed), (raw, _) = run("vjp", True), run("vjp", False)
    (_, tangent), seeds = run("jvp", True)
    for a, b in zip(oracle.leaves(adjoints), oracle.leaves(raw), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)
    gradients = adjoints if isinstance(adjoints, tuple) else (adjoints,)
    both = sum(np.sum(g * d) for g, d in zip(gradients, seeds, strict=True))
    np.testing.assert_allclose(both, np.sum(tangent * seed[0]), rtol=1e-9, atol=1e-12)


def test_the_example():
    source = (Path(__file__).resolve().parents[2] / "examples" / "checkpointed.py").read_text(
        encoding="utf-8"
    )
    oracle.assert_gradient(source, 0.5, 0.1, 1.2, 420, name="amplitude", wrt=["x", "v", "k"])


def test_second_derivatives():
    source = HEAD + PROGRAMS["range"][0]
    _, text = oracle.generate(source)
    oracle.assert_gradient(
        text + "\n\ndef g(x):\n    return f_grad(x, 7, 1.0)\n", 0.7, name="g", all_modes=False
    )


def test_what_is_printed_is_printed_once(capsys):
    source = (
        HEAD
        + "def f(x, n: int):\n    with lsp_ad.checkpoint(every=2):\n        for t in range(n):\n            print(t)\n            x = np.sin(x)\n    return x\n"
    )
    _, text = oracle.generate(source)
    oracle.run(text)["f_grad"](0.5, 4)
    assert capsys.readouterr().out == "0\n1\n2\n3\n"


def test_nothing_is_run_again_that_need_not_be():
    source = (
        HEAD
        + "def f(x, n: int):\n    with lsp_ad.checkpoint(every=2):\n        for t in range(n):\n            x = x * 2.0 + t\n    return x\n"
    )
    derivative, _ = oracle.generate(source)
    assert "tape" not in derivative.text and "for t in" not in derivative.text.split("# backward")[1]


def test_the_mark_does_nothing():
    code = "import sys, lsp_ad\nwith lsp_ad.checkpoint(every=3):\n    for i in range(7): pass\nassert i == 6 and 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def peak(function, *args) -> int:
    tracemalloc.start()
    function(*args)
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


def test_memory():
    """Two hundred iterations with a vector of 1000 numbers each: two hundred of them without, some thirty with it."""
    loop = "for t in range(n):\n    x = np.sin(x) * 1.1\n"
    plain = HEAD + "def f(x: np.ndarray, n: int):\n" + indented(loop) + "    return np.sum(x)\n"
    kept = (
        HEAD
        + "def f(x: np.ndarray, n: int):\n    with lsp_ad.checkpoint(every=14):\n"
        + indented(indented(loop))
        + "    return np.sum(x)\n"
    )
    x = np.linspace(0.0, 1.0, 1000)
    gradients = [oracle.run(oracle.generate(source)[1])["f_grad"] for source in (plain, kept)]
    np.testing.assert_array_equal(gradients[0](x, 200), gradients[1](x, 200))
    without, with_it = (peak(gradient, x, 200) / 8000 for gradient in gradients)
    assert without > 200 and with_it < 45


# --- what is refused -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "header, loop",
    [
        ("lsp_ad.checkpoint()", "for t in range(n):\n    x = x * x"),
        ("lsp_ad.checkpoint(every=0)", "for t in range(n):\n    x = x * x"),
        ("lsp_ad.checkpoint(every=2.0)", "for t in range(n):\n    x = x * x"),
        ("lsp_ad.checkpoint(every=n + 1)", "for t in range(n):\n    x = x * x"),
        ("lsp_ad.checkpoint(every=2) as c", "for t in range(n):\n    x = x * x"),
        ("lsp_ad.checkpoint(every=2), np.errstate()", "for t in range(n):\n    x = x * x"),
        ("lsp_ad.checkpoint(every=2)", "x = x * x"),
        ("lsp_ad.checkpoint(every=2)", "x = x * x\nfor t in range(n):\n    x = x * x"),
        ("lsp_ad.checkpoint(every=2)", "for t in range(n):\n    x = x * x\nelse:\n    x = x + 1.0"),
        ("lsp_ad.checkpoint(every=2)", "for t in reversed(range(n)):\n    x = x * x"),
        ("lsp_ad.checkpoint(every=2)", "for t in range(0, n, n):\n    x = x * x"),
        ("lsp_ad.checkpoint(every=2)", "for t in range(n):\n    x[0] = x[1] * 2.0"),
        ("lsp_ad.checkpoint(every=2)", "for t in range(n):\n    x = x * drawn(x)"),
        ("lsp_ad.checkpoint(every=2)", "for t in range(n):\n    x = x * through(x)"),
    ],
)
def test_what_is_no_checkpointed_loop(header, loop):
    source = (
        HEAD
        + "@lsp_ad.non_differentiable\ndef drawn(x):\n    return np.random.normal()\n\ndef through(x):\n    return x * drawn(x)\n\n"
    )
    source += f"def f(x, n: int):\n    with {header}:\n" + indented(indented(loop)) + "    return x\n"
    with pytest.raises(oracle.Refused) as caught:
        oracle.generate(source)
    assert "AD604" in {p.code for p in caught.value.args}


# --- programs of all constructs, their loops checkpointed ------------------------------------


class _Checkpointed(ast.NodeTransformer):
    """Every loop in a checkpoint of its own."""

    def _loop(self, node: ast.For | ast.While) -> ast.With:
        self.generic_visit(node)
        manager = ast.parse("lsp_ad.checkpoint(every=2)", mode="eval").body
        return ast.With([ast.withitem(manager, None)], [node])

    visit_For = visit_While = _loop


LOOPS = [c for c in PROGRAMS_OF_ALL if c.is_first and ("for " in c.source or "while " in c.source)]


@pytest.mark.parametrize("program", LOOPS, ids=[c.name for c in LOOPS])
def test_a_checkpointed_program_has_the_same_gradient(program):
    tree = _Checkpointed().visit(ast.parse(program.source))
    sources = [program.source, "import lsp_ad\n" + ast.unparse(ast.fix_missing_locations(tree))]
    results = []
    for source in sources:
        try:
            derivative, text = oracle.generate(source, "f", program.wrt, "vjp")
        except oracle.Refused as refused:
            assert not results or {p.code for p in refused.args} <= {"AD203", "AD604"}
            pytest.skip(str(refused.args[0]))
        namespace = oracle.run(text)
        value = namespace["f"](*copy.deepcopy(program.args))
        seed = oracle.random_like(value, np.random.default_rng(0))
        results.append(namespace[derivative.name](*copy.deepcopy(program.args), copy.deepcopy(seed)))
    for a, b in zip(*map(oracle.leaves, results), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)
