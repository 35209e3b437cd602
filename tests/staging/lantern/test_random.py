"""Random programs: text comes back, and compiled code does what the interpreter does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsp_ad.staging.lantern.infer import check
from lsp_ad.staging.lantern.interpreter import interpret
from lsp_ad.staging.lantern.parsing import parse
from lsp_ad.staging.lantern.printing import program_text
from tests.staging.lantern.random_programs import ARGS, Programs, nested

pytestmark = [pytest.mark.row("A16"), pytest.mark.filterwarnings("ignore::RuntimeWarning")]
seeds = st.integers(0, 2**32)


def outcome(run) -> Any:
    try:
        return run()
    except (ArithmeticError, IndexError, ValueError, RuntimeError) as error:
        return error


def agree(found: Any, expected: Any) -> None:
    if isinstance(expected, Exception):
        assert type(found) is type(expected), found
    elif isinstance(expected, tuple | list):
        assert type(found) is type(expected) and len(found) == len(expected), found
        for a, b in zip(found, expected, strict=True):
            agree(a, b)
    else:
        assert np.asarray(found).dtype == expected.dtype
        # Functions of float32 and sums in another order differ in their last digits; a wrong element does not.
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@given(seeds)
@settings(max_examples=60, deadline=None)
def test_printing_and_parsing_is_the_identity(seed):
    program = Programs(seed).program(20)
    check(program)
    assert parse(program_text(program)) == program


@given(seeds)
@settings(max_examples=150, deadline=None)
def test_generated_python_does_what_the_interpreter_does(seed):
    pytest.importorskip("numba")
    from tests.staging.lantern.generated import uncompiled

    program = Programs(seed).program(20)
    program = nested(program, seed) if seed % 3 else program
    found = outcome(lambda: uncompiled(program, *ARGS))
    if str(found) in ("math domain error", "float division by zero"):
        return  # compiled code gives nan or an infinity there
    agree(found, outcome(lambda: interpret(program, *ARGS)))


@given(seeds)
@settings(max_examples=8, deadline=None)
def test_compiled_code_does_what_the_interpreter_does(seed):
    pytest.importorskip("numba")
    from lsp_ad.staging.lantern.compiler.driver import Compiled

    program = Programs(seed).program(12)
    expected = outcome(lambda: interpret(program, *ARGS))
    agree(outcome(lambda: Compiled(program)(*ARGS)), expected)
