"""Generated code needs NumPy and nothing of lsp-ad: it runs, fails and is stepped through like any other code."""

from __future__ import annotations

import bdb
import importlib.util
import linecache
import os
import pickle
import subprocess
import sys
import traceback

import numpy as np
import pytest

from tests import oracle
from tests.differentiate.programs import calls, in_place, jumps, straight, structures

pytestmark = pytest.mark.row("T7")

PROGRAMS = [
    c
    for c in (*straight.CASES, *jumps.CASES, *calls.CASES, *structures.CASES, *in_place.CASES)
    if c.is_first and "scipy" not in c.source
]

RUN = """
import pickle, sys

class Without:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("lsp_ad", "gast", "pygls"):
            raise ImportError(name)

sys.meta_path.insert(0, Without())
with open("programs.pickle", "rb") as file:
    programs = pickle.load(file)
import numpy
before = set(sys.modules)
found = []
for text, name, args, seeds in programs:
    namespace = {"__name__": "alone"}
    exec(text, namespace)
    found.append(namespace[name](*args, **seeds))
loaded = {m.split(".")[0] for m in set(sys.modules) - before} - {"numpy"} - set(sys.stdlib_module_names)
assert not loaded, loaded
with open("found.pickle", "wb") as file:
    pickle.dump(found, file)
"""


@pytest.mark.parametrize("mode", ["vjp", "jvp"])
def test_a_process_without_the_package(mode, tmp_path):
    rng = np.random.default_rng(0)
    programs, wanted = [], []
    for program in PROGRAMS:
        derivative, text = oracle.generate(program.source, wrt=program.wrt, mode=mode)
        assert "lsp_ad" not in text
        namespace = oracle.run(text)
        if mode == "vjp":
            seeds = {derivative.seed: oracle.random_like(namespace["f"](*program.args), rng)}
        else:
            parameters = list(namespace["f"].__code__.co_varnames)
            moving = zip(derivative.tangents, derivative.wrt, strict=True)
            seeds = {t: oracle.random_like(program.args[parameters.index(p)], rng) for t, p in moving}
        programs.append((text, derivative.name, program.args, seeds))
        wanted.append(namespace[derivative.name](*program.args, **seeds))
    (tmp_path / "programs.pickle").write_bytes(pickle.dumps(programs))
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    subprocess.run([sys.executable, "-c", RUN], cwd=tmp_path, env=environment, check=True)
    found = pickle.loads((tmp_path / "found.pickle").read_bytes())
    assert len(found) == len(wanted) > 80
    for got, want in zip(oracle.leaves(found), oracle.leaves(wanted), strict=True):
        np.testing.assert_array_equal(got, want)


SOURCE = """import numpy as np


def f(x, w):
    s = 0.0
    for i in range(3):
        if s < 1.0:
            s = s + np.sum(np.sin(x) * w)
        else:
            s = s * 0.5
    return s * s
"""


@pytest.fixture
def generated(tmp_path):
    """(the gradient of f, as a module of a file of its own defines it, the text of the file)."""
    derivative, text = oracle.generate(SOURCE, wrt=["x"])
    path = tmp_path / "written.py"
    path.write_text(text, encoding="utf-8")
    specification = importlib.util.spec_from_file_location("written", path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return getattr(module, derivative.name), text


def test_a_traceback_shows_the_line_of_the_forward_sweep(generated):
    gradient, text = generated
    with pytest.raises(ValueError, match="broadcast") as failure:
        gradient(np.ones(2), np.ones(3))
    last = traceback.extract_tb(failure.tb)[-1]
    assert last.name == "f_grad" and last.line == "s = s + np.sum(np.sin(x) * w)"
    assert text.splitlines()[last.lineno - 1].strip() == last.line


def test_a_traceback_shows_the_line_of_the_backward_sweep(generated):
    class Failing(float):
        """A seed that cannot be multiplied."""

        def __mul__(self, other):
            raise ArithmeticError

        __rmul__ = __mul__

    gradient, text = generated
    with pytest.raises(ArithmeticError) as failure:
        gradient(np.ones(2), np.ones(2), Failing(1.0))
    (last,) = [f for f in traceback.extract_tb(failure.tb) if f.name == "f_grad"]
    backward = text.splitlines().index("    # backward")
    assert last.lineno - 1 > backward
    assert text.splitlines()[last.lineno - 1].strip() == last.line


def test_a_debugger_stops_at_every_line_that_is_run(generated):
    gradient, text = generated
    seen = []

    class Stepper(bdb.Bdb):
        def user_line(self, frame):
            if frame.f_code.co_name == "f_grad":
                seen.append(linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip())
            self.set_step()

    Stepper().runcall(gradient, np.array([0.3, 0.9]), np.array([0.5, 1.5]))
    below = text[text.index("def f_grad") :].split("# backward")
    forward, backward = ([line.strip() for line in part.splitlines()] for part in below)
    assert [line for line in seen if line in forward].count("s = s + np.sum(np.sin(x) * w)") == 2
    assert seen.count("s = s * 0.5") == 1
    assert sum(line.startswith("for ") for line in seen) == 8
    assert sum(line in backward for line in seen) >= 8
    assert seen[-1].startswith("return")
