"""Functions of other files of the workspace: read as text, expressed in the names of the file that calls them."""

from __future__ import annotations

import importlib
import sys
import textwrap

import numpy as np
import pytest

import lsp_ad
from lsp_ad import cli
from lsp_ad.differentiate import differentiate, insertion
from lsp_ad.files import Workspace, read
from lsp_ad.semantics.linking import link
from lsp_ad.semantics.names import Program
from lsp_ad.source import edits
from lsp_ad.source.document import Document
from lsp_ad.source.parse import parse
from tests import oracle

pytestmark = pytest.mark.row("T16")


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    """Writes files; the directory is one that Python imports from, and forgets afterwards."""
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)

    def write(**files: str):
        for name, text in files.items():
            path = tmp_path.joinpath(*name.split("__")).with_suffix(".py")
            if name.endswith("__init"):
                path = path.with_name("__init__.py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
        return tmp_path

    yield write
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None) or ""
        if file.startswith(str(tmp_path)) or name in ("pkg", "model", "main"):
            del sys.modules[name]


def generated(root, module: str = "main", name: str = "f", wrt=None, mode: str = "grad"):
    """(derivative, whole file) for a function of a file in a workspace; the file is read from the disk."""
    path = root.joinpath(*module.split(".")).with_suffix(".py")
    program = Program(parse(Document(read(str(path)).text, str(path))))
    derivative, problems = differentiate(link(program, Workspace([str(root)])).program, name, wrt, mode)
    if derivative is None:
        raise oracle.Refused(*problems)
    text = edits.apply(program.parsed.document.text, insertion(program, derivative))
    return derivative, text


def assert_right(root, *args, module: str = "main", name: str = "f", wrt=None) -> str:
    """The gradient, written into the file and imported from there, agrees with finite differences."""
    path = root.joinpath(*module.split(".")).with_suffix(".py")
    before = path.read_text(encoding="utf-8")
    derivative, text = generated(root, module, name, wrt, "vjp")
    path.write_text(text, encoding="utf-8")
    sys.modules.pop(module, None)
    importlib.invalidate_caches()
    written = importlib.import_module(module)
    path.write_text(before, encoding="utf-8")
    f, vjp = getattr(written, name), getattr(written, derivative.name)
    value = f(*args)
    rng = np.random.default_rng(0)
    seed = oracle.random_like(value, rng)
    gradients = vjp(*args, **{derivative.seed: seed})
    gradients = gradients if len(derivative.wrt) > 1 else (gradients,)
    parameters = list(f.__code__.co_varnames[: f.__code__.co_argcount])
    for p, gradient in zip(derivative.wrt, gradients, strict=True):
        at = parameters.index(p)
        direction = oracle.random_like(args[at], rng)
        sides = []
        for sign in (1.0, -1.0):
            moved = list(args)
            moved[at] = oracle.nudge(args[at], direction, sign * 1e-6)
            sides.append(oracle.weighted(f(*moved), seed))
        np.testing.assert_allclose(
            oracle.weighted(gradient, direction), (sides[0] - sides[1]) / 2e-6, rtol=1e-6, atol=1e-7
        )
    return text


MODEL = """
    import numpy as np

    SCALE = 0.5


    def layer(x, w):
        h = np.tanh(x @ w)  # squashed
        return h * SCALE


    def deep(x, w, n):
        for _ in range(n):
            x = layer(x, w)
        return x
"""
X, W = np.array([0.3, -0.2]), np.array([[0.4, 0.1], [-0.3, 0.7]])

IMPORTS = {
    "from model import layer": "layer",
    "from model import layer as l": "l",
    "import model": "model.layer",
    "import model as m": "m.layer",
}


@pytest.mark.parametrize(("line", "called"), IMPORTS.items(), ids=IMPORTS)
@pytest.mark.parametrize("function", ["layer", "deep"])
@pytest.mark.parametrize("numpy", ["import numpy as np\n", "import numpy\n", ""])
def test_a_function_of_another_file_by_every_import(workspace, line, called, function, numpy):
    line, called = line.replace("layer", function), called.replace("layer", function)
    more = ", 3" if function == "deep" else ""
    root = workspace(model=MODEL, main=f"{line}\n{numpy}\n\ndef f(x, w):\n    return {called}(x, w{more})\n")
    text = assert_right(root, X, W)
    assert "lsp_ad." not in text


PACKAGED = {
    "from .model import layer": "layer",
    "from . import model": "model.layer",
    "from . import model as m": "m.layer",
    "from pkg.model import layer": "layer",
    "import pkg.model": "pkg.model.layer",
    "import pkg.model as m": "m.layer",
    "from pkg import model": "model.layer",
}


@pytest.mark.parametrize(("line", "called"), PACKAGED.items(), ids=PACKAGED)
@pytest.mark.parametrize("function", ["layer", "deep"])
@pytest.mark.parametrize("init", ["", None])
def test_packages(workspace, line, called, function, init):
    line, called = line.replace("layer", function), called.replace("layer", function)
    more = ", 2" if function == "deep" else ""
    root = workspace(
        pkg__model=MODEL,
        pkg__main=f"import numpy as np\n{line}\n\n\ndef f(x, w):\n    return {called}(x, w{more})\n",
        **({} if init is None else {"pkg__init": init}),
    )
    assert_right(root, X, W, module="pkg.main")


def test_re_exports(workspace):
    root = workspace(
        pkg__init="from .inner import layer as dense\nfrom .maths import np, sqrt\nfrom .layer import layer\n",
        pkg__inner="from pkg.model import layer\n",
        pkg__layer="from .model import deep as layer\n",
        pkg__maths="import numpy as np\nfrom numpy import sqrt\n",
        pkg__model=MODEL,
        main="""
            from pkg import dense, layer, np, sqrt

            def f(x, w):
                return dense(x, w) + np.exp(layer(x, w, 2)) * sqrt(x * x)
        """,
    )
    assert_right(root, X, W)


def test_functions_of_one_name_in_different_files(workspace):
    root = workspace(
        a="def g(x):\n    return x * x\n\ndef h(x, n):\n    for _ in range(n):\n        x = g(x)\n    return x\n",
        b="def g(x):\n    return 3.0 * x\n\ndef h(x, n):\n    while n > 0:\n        x = g(x)\n        n = n - 1\n    return x\n",
        main="""
            import a, b

            def g(x):
                return x - 1.0

            def h(x, n):
                return x / n if n > 2 else x

            def f(x):
                return a.h(x, 3) * b.h(x, 2) + a.g(x) * b.g(x) * g(x) + h(x, 3)
        """,
    )
    assert_right(root, 0.7)


def test_files_that_import_each_other(workspace):
    root = workspace(
        even="from odd import odd\n\ndef even(x, n):\n    if n == 0:\n        return x\n    return odd(x * x, n - 1)\n",
        odd="import even as e\n\ndef odd(x, n):\n    if n == 0:\n        return 2.0 * x\n    return e.even(x * 3.0, n - 1)\n",
        main="from even import even\n\ndef f(x):\n    return even(x, 3)\n",
    )
    assert_right(root, 0.7)


def test_a_function_that_calls_back_into_the_file(workspace):
    root = workspace(
        other="import main\n\ndef g(x, n):\n    y = x * main.SLOPE\n    return y * main.f(x, n - 1) if n > 0 else y\n",
        main="SLOPE = 0.5\nimport other\n\n\ndef f(x, n: int):\n    return other.g(x, n) + x\n",
    )
    assert_right(root, 0.7, 3, wrt=["x"])


def test_constants_and_arrays_of_other_files(workspace):
    root = workspace(
        constants="import numpy as np\n\nRATE = 0.3\nWEIGHTS = np.array([1.0, 2.0])\nN = 2\n",
        model="""
            from constants import RATE, WEIGHTS
            import constants

            BIAS = RATE * 2

            def g(x, n=constants.N):
                total = (WEIGHTS * x).sum() + BIAS
                for _ in range(n):
                    total = total * RATE + constants.WEIGHTS.max()
                return total
        """,
        main="""
            import constants
            from constants import RATE
            from model import g

            def f(x):
                return g(x, constants.N) * RATE + (constants.WEIGHTS * x).sum() * constants.RATE
        """,
    )
    assert_right(root, X)


def test_calls_without_a_derivative_stay_calls(workspace):
    root = workspace(
        model="""
            def count(x):
                return len(x) + 1

            def g(x):
                n = count(x)
                return x * n

            def h(x, m):
                for _ in range(count(x)):
                    x = x * 0.5 * count(x)
                return x * m
        """,
        main="from model import g, h\n\ndef f(x):\n    return g(x) + h(x, 2.0)\n",
    )
    text = assert_right(root, X)
    assert "from model import count\n" in text


CONDITIONAL = {
    "or nothing": "try:\n    import numpy as np\n    HAVE = True\nexcept ImportError:\n    np = None\n    HAVE = False\n",
    "or an error": "try:\n    import numpy as np\nexcept ImportError as error:\n    raise RuntimeError from error\n",
    "for types only": "import numpy as np\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from nowhere import Array\n",
}


@pytest.mark.parametrize("head", CONDITIONAL.values(), ids=CONDITIONAL)
def test_conditional_imports(workspace, head):
    root = workspace(
        model=head + "\ndef g(x: 'Array'):\n    return np.sin(x) * x\n",
        main="try:\n    from model import g\nexcept ImportError:\n    g = None\n\ndef f(x):\n    return g(x)\n",
    )
    assert_right(root, X)


def test_one_of_two_modules_is_refused(workspace):
    root = workspace(
        fast="def g(x):\n    return x * 2.0\n",
        slow="def g(x):\n    return x * 2.0\n",
        main="try:\n    from fast import g\nexcept ImportError:\n    from slow import g\n\ndef f(x):\n    return g(x)\n",
    )
    with pytest.raises(oracle.Refused, match="cannot be told what `g` is"):
        generated(root)


REFUSED = {
    "no such module": ({"main": "from nowhere import g\n"}, "no file of the module `nowhere` was found"),
    "no such relative module": (
        {"main": "from .nowhere import g\n"},
        "no file of the module|does not define `nowhere`",
    ),
    "no such function": (
        {"main": "from model import g\n", "model": "def h(x):\n    return x\n"},
        "does not define `g`",
    ),
    "it does not parse": (
        {"main": "from model import g\n", "model": "\ndef g(x:\n"},
        r"model.py does not parse: line 1: Syntax error",
    ),
    "defined twice": (
        {"main": "from model import g\n", "model": "def g(x):\n    return x\n\ndef g(x):\n    return -x\n"},
        "does not define `g` exactly once",
    ),
    "a circle of imports": (
        {"main": "from a import g\n", "a": "from b import g\n", "b": "from a import g\n"},
        "leads back",
    ),
    "a star import there": (
        {"main": "from model import g\n", "model": "from numpy import *\ndef g(x):\n    return sin(x)\n"},
        "cannot be told what `sin` is",
    ),
    "a name that is nothing there": (
        {"main": "from model import g\n", "model": "def g(x):\n    return x * rate\n"},
        "`rate`",
    ),
    "a variable that changes": (
        {"main": "from model import g\n", "model": "A = 1.0\nA = 2.0\n\ndef g(x):\n    return x * A\n"},
        "`A` of .*model.py is assigned more than once",
    ),
    "a decorator": (
        {
            "main": "from model import g\n",
            "model": "from functools import cache\n\n@cache\ndef g(x):\n    return x\n",
        },
        "decorator `cache`",
    ),
    "a reason in the other file": (
        {"main": "from model import g\n", "model": "\n\ndef g(x):\n    return eval('x')\n"},
        r"model.py, line 2: `eval` runs",
    ),
    "a built-in that is something else here": (
        {"main": "from model import g\nabs = 3\n", "model": "def g(x):\n    return abs(x)\n"},
        "`abs` is a built-in function there, and something else here",
    ),
    "a library under a name that is local there": (
        {
            "main": "import numpy as xp\nfrom model import g\n",
            "model": "import numpy\n\ndef g(xp):\n    return numpy.sin(xp)\n",
        },
        None,
    ),
}


@pytest.mark.parametrize(("files", "reason"), REFUSED.values(), ids=REFUSED)
def test_refusals_say_why(workspace, files, reason):
    root = workspace(**{**files, "main": files["main"] + "\ndef f(x):\n    return g(x) * 2.0\n"})
    if reason is None:
        assert_right(root, X)
        return
    with pytest.raises(oracle.Refused, match=reason):
        generated(root)


def test_live_functions(workspace):
    workspace(
        pkg__init="",
        pkg__model=MODEL,
        pkg__main="from . import model\nfrom .model import layer\n\ndef f(x, w):\n    return (layer(x, w) * model.deep(x, w, 2)).sum()\n",
    )
    main = importlib.import_module("pkg.main")
    gradient = lsp_ad.grad(main.f)
    direction = np.array([0.2, 0.5])
    eps = 1e-6
    want = (main.f(X + eps * direction, W) - main.f(X - eps * direction, W)) / (2 * eps)
    np.testing.assert_allclose(gradient(X, W)[0] @ direction, want, rtol=1e-7)
    assert "layer_forward" not in vars(main) and "np" not in vars(main)


def test_a_live_function_that_is_not_what_its_text_says(workspace):
    root = workspace(model=MODEL, main="import model\n\ndef f(x, w):\n    return model.layer(x, w).sum()\n")
    main, model = importlib.import_module("main"), importlib.import_module("model")
    original = model.layer
    model.layer = lambda x, w: x @ w
    with pytest.raises(lsp_ad.DifferentiationError, match="AD505"):
        lsp_ad.grad(main.f)
    model.layer = original
    lsp_ad.grad(main.f)
    workspace(model=MODEL.replace("SCALE\n", "SCALE * 2\n"))
    with pytest.raises(lsp_ad.DifferentiationError, match="has changed"):
        lsp_ad.grad(main.f)
    assert root


def test_the_command_line_reads_other_files(workspace, capsys, monkeypatch):
    root = workspace(
        model=MODEL,
        src__tools="def half(x):\n    return x / 2\n",
        main="""
        import model
        from tools import half

        def f(x, w):
            return half(model.layer(x, w).sum())
    """,
    )
    monkeypatch.chdir(root)
    assert cli.main(["grad", "main.py::f"]) == 0
    assert "np.tanh(x @ w)  # squashed" in capsys.readouterr().out
    assert cli.main(["check", "main.py"]) == 0


def test_the_fingerprint_carries_functions_of_other_files(workspace):
    root = workspace(model=MODEL, main="import model\n\ndef f(x, w):\n    return model.layer(x, w).sum()\n")
    before, _ = generated(root)
    workspace(model=MODEL.replace("tanh", "sin"))
    after, _ = generated(root)
    assert before.text.split("(")[2] != after.text.split("(")[2]


def test_an_ambiguous_module_is_refused(workspace, tmp_path):
    root = workspace(
        sub__main="from model import g\n\ndef f(x):\n    return g(x)\n",
        a__model="def g(x):\n    return x\n",
        b__model="def g(x):\n    return 2 * x\n",
    )
    program = oracle.program((root / "sub" / "main.py").read_text())
    found = link(program, Workspace([str(root / "a"), str(root / "b")])).program
    assert "more than one module" in str(differentiate(found, "f")[1][0])


def test_a_derivative_declared_in_another_file(workspace):
    root = workspace(
        model="""
            import lsp_ad

            def rule(x, y, dy):
                return dy * 3.0 * x * x

            @lsp_ad.custom_vjp(rule)
            def cube(x):
                return eval("x * x * x")
        """,
        main="import model\n\ndef f(x):\n    return model.cube(x) * 2.0\n",
    )
    text = assert_right(root, 0.7)
    assert "from model import rule\n" in text


CLASSES = """
    from dataclasses import dataclass
    import numpy as np
    from typing import NamedTuple

    RATE = 0.5

    @dataclass
    class Layer:
        w: np.ndarray
        b: float

        def apply(self, x):
            return np.tanh(x @ self.w + self.b) * RATE

        def size(self):
            return norm(self.w) + self.b**2

    def norm(w):
        return np.sum(w * w)

    class Deep(Layer):
        def apply(self, x):
            for _ in range(2):
                x = super().apply(x)
            return x

    class Pair(NamedTuple):
        left: float
        right: float

        def product(self):
            return self.left * self.right
"""


@pytest.mark.row("T18")
@pytest.mark.parametrize(
    "line", ["import model", "from model import Deep, Pair", "from pkg.inner import Deep, Pair"]
)
def test_classes_of_other_files(workspace, line):
    prefix = "model." if line == "import model" else ""
    root = workspace(
        model=CLASSES,
        pkg__init="",
        pkg__inner="from model import Deep, Pair\n",
        main=f"""
            {line}

            def f(layer: {prefix}Deep, x):
                pair = {prefix}Pair(x[0], layer.b)
                return layer.apply(x) * layer.size() + pair.product() * pair.left
        """,
    )
    derivative, text = generated(root)
    (root / "main.py").write_text(text)
    main, model = importlib.import_module("main"), importlib.import_module("model")
    layer = model.Deep(W, 0.3)
    dlayer, dx = vars(main)[derivative.name](layer, X, np.array([1.0, 2.0]))
    seed, eps = np.array([1.0, 2.0]), 1e-6
    assert isinstance(dlayer, model.Deep)
    want = (main.f(model.Deep(W, 0.3 + eps), X) - main.f(model.Deep(W, 0.3 - eps), X)) @ seed / (2 * eps)
    np.testing.assert_allclose(dlayer.b, want, rtol=1e-7)
    direction = np.array([[0.1, 0.4], [-0.2, 0.3]])
    sides = [main.f(model.Deep(W + s * direction, 0.3), X) @ seed for s in (eps, -eps)]
    np.testing.assert_allclose(np.sum(dlayer.w * direction), (sides[0] - sides[1]) / (2 * eps), rtol=1e-6)
    sides = [main.f(layer, X + s * direction[0]) @ seed for s in (eps, -eps)]
    np.testing.assert_allclose(dx @ direction[0], (sides[0] - sides[1]) / (2 * eps), rtol=1e-6)
    live = lsp_ad.vjp(main.f)(layer, X, seed)
    np.testing.assert_allclose(live[0].w, dlayer.w)
    bound = lsp_ad.vjp(layer.apply)(X, seed)
    sides = [layer.apply(X + s * direction[0]) @ seed for s in (eps, -eps)]
    np.testing.assert_allclose(bound @ direction[0], (sides[0] - sides[1]) / (2 * eps), rtol=1e-6)


def test_imports_in_a_function(workspace):
    root = workspace(
        model=MODEL,
        pkg__init="",
        pkg__other="def half(x):\n    return x / 2\n",
        main="""
            def f(x, w):
                import model as m
                from pkg import other
                from model import deep
                return other.half(m.layer(x, w)) + deep(x, w, 2)
        """,
    )
    assert_right(root, X, W)


def test_imports_in_a_function_of_another_file_are_refused(workspace):
    root = workspace(
        model="def g(x):\n    from other import h\n    return h(x)\n",
        other="def h(x):\n    return x\n",
        main="from model import g\n\ndef f(x):\n    return g(x)\n",
    )
    with pytest.raises(oracle.Refused, match="has imports of its own"):
        generated(root)


def test_a_local_name_that_is_that_of_a_module(workspace):
    root = workspace(
        model=MODEL,
        main="import model\nfrom model import layer\n\ndef f(x, w, model):\n    return layer(x, w) * model\n",
    )
    assert_right(root, X, W, 2.0)


TEXTS = {
    "unicode, long lines and comments": """
        import numpy as nüm

        α = 0.5  # größe

        def g(x, *, k=2.0):
            "Ö."
            # größer
            é = (nüm.
                 sin(x)  # ä
                 * α)
            return é * k + nüm.cos(
                x,
            )
    """,
    "names in strings that need no other words": """
        def g(x, k=2.0):
            if k < 0:
                raise ValueError(f"{k} is negative, and so is {k!r:>10}")
            return x * k
    """,
    "defaults, a loop and its own helper": """
        import math
        from math import pi as π

        def helper(x, n):
            while n > 0:
                x, n = math.sqrt(1.0 + x * x) * π, n - 1
            return x

        def g(x, k=2.0):
            return helper(x, 2) * k
    """,
    "types in annotations": """
        from __future__ import annotations
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            from nowhere import Array
        Scalar = float

        def g(x: Scalar, k: "Array" = 2.0) -> Array:
            y: Array = x * k
            for i in range(3):
                y = y * x
            return y
    """,
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_texts_of_other_files(workspace, text, newline):
    root = workspace(model=text, main="from model import g\n\ndef f(x):\n    return g(x, k=1.5) * x\n")
    path = root / "model.py"
    path.write_bytes(path.read_text(encoding="utf-8").replace("\n", newline).encode())
    assert_right(root, 0.7)


def test_names_in_strings_that_need_other_words(workspace):
    root = workspace(
        model="LIMIT = 3.0\n\ndef g(x):\n    if x > LIMIT:\n        raise ValueError(f'more than {LIMIT}')\n    return x * x\n",
        main="import model as m\n\ndef f(x):\n    return m.g(x)\n",
    )
    assert_right(root, 0.7)
