"""Random programs: right or refused, and seldom refused; `random_programs/run.py COUNT SEED` runs as many as one likes."""

from collections import Counter

import pytest

from tests.differentiate.random_programs import run

pytestmark = pytest.mark.row("T25", "T31")
COUNT = 1000  # in chunks, so that they are shared among the processes
CHUNKS = range(10_000, 10_000 + COUNT // (2 * run.CHUNK))


@pytest.mark.parametrize("seed", CHUNKS)
def test_random_programs_are_right_or_refused_and_seldom_refused(seed):
    outcomes: Counter = Counter()
    faults = []
    for half in (2 * seed, 2 * seed + 1):
        some, wrong = run.judged(run.CHUNK, half)
        outcomes += some
        faults += wrong
    print(run.report(outcomes))
    assert not faults, "\n\n".join(f"{program}\n{fault}" for program, fault in faults)
    # of fifty programs a few more may be refused than of all
    assert run.accepted(outcomes) >= run.LEAST_ACCEPTED - 0.08, run.report(outcomes)
