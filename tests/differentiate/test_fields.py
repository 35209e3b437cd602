"""Programs of many fields, against finite differences in all modes."""

from __future__ import annotations

import pytest

from tests import oracle
from tests.differentiate.programs import fields

pytestmark = pytest.mark.row("T3")


@pytest.mark.parametrize("program", fields.CASES, ids=lambda program: program.name)
def test_a_program_is_right(program):
    oracle.assert_gradient(program.source, *program.args, wrt=program.wrt)
    oracle.assert_jvp(program.source, *program.args, wrt=program.wrt)
