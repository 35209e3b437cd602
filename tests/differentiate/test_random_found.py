"""What random programs have found, as plain programs."""

import numpy as np
import pytest

from tests import oracle
from tests.differentiate.programs import earlier, earlier_longer, found

pytestmark = pytest.mark.row("T25", "T31")


@pytest.mark.parametrize(
    "program", [*found.CASES, *earlier.CASES, *earlier_longer.CASES], ids=lambda program: program.name
)
def test_a_program_that_failed_once_is_right(program):
    oracle.assert_gradient(
        program.source, *program.args, wrt=program.wrt, tolerance=1e-5, all_modes=program.is_first
    )
    oracle.assert_jvp(program.source, *program.args, wrt=program.wrt, tolerance=1e-5)


def test_an_object_and_one_of_two_lambdas():
    source = """from dataclasses import dataclass
import numpy as np

@dataclass
class Point:
    u: float
    v: float

def f(x, a):
    g = (lambda p: p * a) if a > 2.0 else (lambda p: np.cos(p))
    s = g(x)
    o = Point(s, a)
    return o.u * o.v
"""
    for a in (0.5, 2.5):
        oracle.assert_gradient(source, 0.3, a)
        oracle.assert_jvp(source, 0.3, a)


def test_what_a_loop_goes_over_is_not_bound_again_where_it_would_change():
    source = """import numpy as np

def f(a, z):
    for i, e in enumerate(z):
        z -= np.stack([e, a, a])
    return z * 2.0
"""
    for mode in ("vjp", "jvp"):
        with pytest.raises(oracle.Refused) as refused:
            oracle.generate(source, mode=mode)
        assert [p.code for p in refused.value.args] == ["AD302"]
    oracle.assert_gradient(source.replace("z -=", "z = z -"), 0.3, np.array([0.2, -0.5, 0.3]))
