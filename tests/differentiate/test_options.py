"""What may be asked of a derivative: the seed, the value as well, code before simplification, the stages."""

from __future__ import annotations

import copy
import os
import subprocess
import sys
from pathlib import Path

import gast
import numpy as np
import pytest

import lsp_ad
from lsp_ad import cli
from lsp_ad.differentiate import SEEDS, STAGES, Options, Stages, differentiate, insertion
from lsp_ad.source import edits
from tests import oracle
from tests.differentiate.programs import callables
from tests.differentiate.programs.everything import CASES

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden"
HEAD = "import numpy as np\nimport lsp_ad\n"
ARRAY = HEAD + "def f(x, w=2.0):\n    return np.sin(x) * w\n"
NUMBER = HEAD + "def f(x):\n    return np.sum(np.sin(x))\n"
TUPLE = HEAD + "def f(x):\n    return np.sin(x), (np.sum(x * x), [x * 2.0])\n"
X = np.array([0.3, 0.9])


def derived(source: str, mode: str = "grad", wrt=("x",), name: str = "f", **options):
    program = oracle.program(source)
    derivative, problems = differentiate(program, name, wrt, mode, Options(**options))
    if derivative is None:
        raise oracle.Refused(*problems)
    return oracle.run(edits.apply(source, insertion(program, derivative)))[derivative.name]


# --- the seed --------------------------------------------------------------------------------


@pytest.mark.row("T4")
@pytest.mark.parametrize("mode", ["grad", "value_and_grad", "vjp"])
def test_a_required_seed(mode):
    for source in (ARRAY, NUMBER, TUPLE):
        with pytest.raises(TypeError):
            derived(source, mode, seed="required")(X)


@pytest.mark.row("T4")
def test_what_is_required_if_nothing_is_said():
    assert derived(NUMBER)(X) == pytest.approx(np.cos(X))
    with pytest.raises(TypeError):
        derived(NUMBER, "vjp")(X)


@pytest.mark.row("T4")
@pytest.mark.parametrize("mode", ["grad", "vjp"])
def test_ones(mode):
    np.testing.assert_allclose(derived(ARRAY, mode, seed="ones")(X), 2.0 * np.cos(X))
    np.testing.assert_allclose(derived(ARRAY, mode, seed="ones")(X, 3.0, df=X), 3.0 * np.cos(X) * X)
    np.testing.assert_allclose(derived(NUMBER, mode, seed="ones")(X), np.cos(X))
    np.testing.assert_allclose(derived(TUPLE, mode, seed="ones")(X), np.cos(X) + 2.0 * X + 2.0)
    assert derived(ARRAY, mode, seed="ones")(0.5) == 2.0 * np.cos(0.5)


@pytest.mark.row("T4", "T27")
def test_ones_are_of_the_type_of_the_result():
    assert derived(ARRAY, seed="ones")(np.float32(X)).dtype == np.float32


@pytest.mark.row("T4")
def test_one():
    np.testing.assert_allclose(derived(NUMBER, "vjp", seed="one")(X), np.cos(X))
    with pytest.raises(ValueError, match="shape of the result"):
        derived(ARRAY, "vjp", seed="one")(X)


WRONG = [
    (ARRAY, "vjp", np.ones(3)), (ARRAY, "vjp", 1.0), (ARRAY, "grad", np.ones((2, 1))), (NUMBER, "vjp", np.ones(2)),
    (NUMBER, "vjp", np.ones(1)), (TUPLE, "vjp", (X, (1.0, [X, X]))), (TUPLE, "vjp", (X, (1.0, [1.0]))),
    (TUPLE, "vjp", (X, 1.0)), (TUPLE, "vjp", X), (TUPLE, "grad", 1.0),
]  # fmt: skip


@pytest.mark.row("T4")
@pytest.mark.parametrize("source, mode, seed", WRONG)
def test_the_form_of_the_seed_is_checked(source, mode, seed):
    with pytest.raises(ValueError, match=r"must have the|expects"):
        derived(source, mode)(X, df=seed)


@pytest.mark.row("T4")
def test_the_form_of_the_seed_is_checked_without_assertions():
    program = oracle.program(ARRAY)
    derivative, _ = differentiate(program, "f", ["x"], "vjp")
    text = edits.apply(ARRAY, insertion(program, derivative))
    run = subprocess.run(
        [sys.executable, "-O", "-c", f"{text}\nf_vjp(np.ones(2), 2.0, np.ones(3))"],
        capture_output=True,
        text=True,
    )
    assert "ValueError: df must have the shape of the result of f" in run.stderr


@pytest.mark.row("T4")
def test_live_functions_and_their_seed():
    def f(x):
        return np.sin(x)

    assert lsp_ad.grad(f, seed="ones")(X) == pytest.approx(np.cos(X))
    assert lsp_ad.vjp(f, seed="ones")(X) == pytest.approx(np.cos(X))
    with pytest.raises(TypeError):
        lsp_ad.grad(f, seed="required")(X)
    with pytest.raises(ValueError, match="required, one, ones"):
        lsp_ad.grad(f, seed="two")


# --- the value as well -----------------------------------------------------------------------


CALLS = []


@lsp_ad.non_differentiable
def counted(x):
    CALLS.append(x)
    return 2.0


@pytest.mark.row("T5")
@pytest.mark.parametrize(
    "transform",
    [
        lambda f: lsp_ad.value_and_grad(f, "x"),
        lambda f: lsp_ad.grad(f, "x", preserve_result=True),
        lambda f: lambda x: lsp_ad.vjp(f, "x", preserve_result=True)(x, 1.0),
    ],
)
def test_the_value_is_computed_once(transform):
    CALLS.clear()

    def f(x):
        return np.sum(np.exp(x) * counted(x))

    value, gradient = transform(f)(X)
    assert len(CALLS) == 1
    assert value == f(X)
    np.testing.assert_allclose(gradient, 2.0 * np.exp(X))


# --- before simplification -------------------------------------------------------------------


@pytest.mark.row("T6")
@pytest.mark.parametrize("mode", ["vjp", "jvp"])
@pytest.mark.parametrize("program", CASES[::3], ids=[c.name for c in CASES[::3]])
def test_code_before_simplification_computes_the_same(program, mode):
    if mode == "jvp" and not program.is_first:
        return
    compiled = oracle.program(program.source)
    results = []
    for optimized in (True, False):
        derivative, problems = differentiate(compiled, "f", program.wrt, mode, Options(optimized=optimized))
        if derivative is None and mode == "jvp":
            pytest.skip(str(problems[0]))
        namespace = oracle.run(edits.apply(program.source, insertion(compiled, derivative)))
        rng = np.random.default_rng(0)
        if mode == "vjp":
            seeds = {derivative.seed: oracle.random_like(namespace["f"](*copy.deepcopy(program.args)), rng)}
        else:
            parameters = list(namespace["f"].__code__.co_varnames)
            moving = zip(derivative.wrt, derivative.tangents, strict=True)
            seeds = {t: oracle.random_like(program.args[parameters.index(p)], rng) for p, t in moving}
        results.append(namespace[derivative.name](*copy.deepcopy(program.args), **seeds))
    for a, b in zip(*map(oracle.leaves, results), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


@pytest.mark.row("T6")
def test_live_functions_before_simplification():
    def f(x):
        return np.sum(np.sin(x) * x)

    assert lsp_ad.grad(f, optimized=False)(X) == pytest.approx(lsp_ad.grad(f)(X))
    assert lsp_ad.jvp(f, optimized=False)(X, X) == pytest.approx(lsp_ad.jvp(f)(X, X))


# --- the stages ------------------------------------------------------------------------------

# Programs whose functions stand at the top level: those that are made of others are not in the text of a stage.
PLAIN = [c for c in CASES if c.is_first and c not in callables.CASES]


def stages(source: str, name: str, wrt, mode: str = "grad") -> dict[str, str]:
    recorded = Stages()
    derivative, _ = differentiate(oracle.program(source), name, wrt, mode, Options(stages=recorded))
    return {**recorded.texts, "final": derivative.text}


@pytest.mark.row("T6")
@pytest.mark.parametrize("example, name, wrt", [("walk", "walk", ["x"]), ("huber", "huber", ["w"])])
def test_the_stages_read_as_they_did(example, name, wrt):
    source = (ROOT / "examples" / f"{example}.py").read_text(encoding="utf-8")
    text = "\n\n".join(f"# {stage}\n\n{t}" for stage, t in stages(source, name, wrt).items())
    path = GOLDEN / "stages" / f"{example}.py"
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    assert text == path.read_text(encoding="utf-8"), "run again with UPDATE_GOLDEN=1 if that is meant"


@pytest.mark.row("T6")
def test_there_is_every_stage():
    assert list(stages(NUMBER, "f", ["x"])) == [*STAGES, "final"]
    assert list(stages(NUMBER, "f", ["x"], "jvp")) == [s for s in STAGES if s not in ("saves", "tapes")] + [
        "final"
    ]


@pytest.mark.row("T6")
@pytest.mark.parametrize("program", PLAIN, ids=[c.name for c in PLAIN])
def test_each_stage_is_python_and_up_to_the_normal_form_computes_the_function(program):
    namespace = oracle.run(program.source)
    wanted = namespace["f"](*copy.deepcopy(program.args))
    for stage, text in stages(program.source, "f", program.wrt).items():
        gast.parse(text)
        if stage in STAGES[: STAGES.index("normal form") + 1]:
            exec(text, namespace)
            got = namespace["f"](*copy.deepcopy(program.args))
            for a, b in zip(oracle.leaves(got), oracle.leaves(wanted), strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-12, err_msg=stage)


@pytest.mark.row("T6")
def test_live_functions_and_their_stages():
    def f(x):
        return np.sum(np.sin(x))

    assert "np.sum(np.sin(x))" in lsp_ad.stages(f)["primal"] and "df" in lsp_ad.stages(f)["final"]


@pytest.mark.row("T4", "T6")
def test_the_command_line(tmp_path, capsys):
    path = tmp_path / "model.py"
    path.write_text(ARRAY)
    target = f"{path}::f"
    assert cli.main(["grad", target, "--wrt", "x", "--seed", "ones"]) == 0
    assert "df = ones_of(value)" in capsys.readouterr().out
    assert cli.main(["grad", target, "--wrt", "x", "--unoptimized"]) == 0
    assert "dsin_x" in capsys.readouterr().out
    assert cli.main(["grad", target, "--wrt", "x", "--stage", "normal form"]) == 0
    assert "t__1 = np.sin(x)" in capsys.readouterr().out
    assert cli.main(["jvp", target, "--wrt", "x", "--stage", "all"]) == 0
    assert "# final" in capsys.readouterr().out
    assert cli.main(["grad", target, "--wrt", "x", "--stage", "last"]) == 2
    assert "no such stage: last; there are primal, inlined" in capsys.readouterr().err


def test_seeds_are_listed():
    assert SEEDS == ("required", "one", "ones")
