"""Random programs against the oracle: `python tests/differentiate/random_programs/run.py COUNT [SEED]`.

Prints the share that is accepted, the refusals by kind, and every fault, made smaller with `--reduce`; with `--refused` a
program of each kind of refusal. Exit code 1 where a program is wrong or crashes, or fewer than 90 % are accepted.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

import hypothesis

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.differentiate.random_programs.judge import Fault, Verdict, check
from tests.differentiate.random_programs.reduce import reduced
from tests.differentiate.random_programs.strategy import Program, programs

CHUNK = 25
SIZES = (2, 4, 7, 11, 16)  # the statements at most, from chunk to chunk
LEAST_ACCEPTED = 0.9
SHOWN = [
    option[2:] for option in sys.argv if option.startswith("--")
]  # outcomes of which programs are printed
SETTINGS = {
    "database": None,
    "deadline": None,
    "derandomize": False,
    "suppress_health_check": list(hypothesis.HealthCheck),
}


def drawn(count: int, seed: int) -> list[Program]:
    """Programs of a seed; the seed decides their size as well."""
    found: list[Program] = []

    @hypothesis.seed(seed)
    @hypothesis.settings(max_examples=count, phases=[hypothesis.Phase.generate], **SETTINGS)
    @hypothesis.given(programs(SIZES[seed % len(SIZES)]))
    def collect(program):
        found.append(program)

    collect()
    return found


def judged(count: int, seed: int) -> tuple[Counter, list[tuple[Program, str]]]:
    """How many programs of a seed had which outcome, with the kind of refusal, and the faults."""
    outcomes: Counter = Counter()
    faults = []
    for program in drawn(count, seed):
        try:
            verdict = check(program)
        except Fault as fault:
            verdict = Verdict("fault", str(fault))
            faults.append((program, str(fault)))
        if verdict.outcome in SHOWN and (verdict.outcome, kind(verdict)) not in outcomes:
            print(f"--- {verdict.outcome}: {verdict.detail}\n{program}")
        outcomes[verdict.outcome, kind(verdict) if verdict.outcome in ("refused", "broken") else ""] += 1
    return outcomes, faults


def kind(verdict: Verdict) -> str:
    """A message without the names of its program."""
    return re.sub(r"`[^`]*`", "`..`", verdict.detail)[:150]


def accepted(outcomes: Counter) -> float:
    counts = Counter()
    for (outcome, _), n in outcomes.items():
        counts[outcome] += n
    taken = counts["right"] + counts["rough"] + counts["fault"]
    return taken / max(taken + counts["refused"], 1)


def report(outcomes: Counter) -> str:
    total = sum(outcomes.values())
    counts = Counter()
    for (outcome, _), n in outcomes.items():
        counts[outcome] += n
    lines = [
        f"{total} programs, accepted {accepted(outcomes):.1%}: "
        + ", ".join(f"{n} {o}" for o, n in counts.most_common())
    ]
    lines += [f"  {n:4} {outcome} {text}" for (outcome, text), n in outcomes.most_common() if text]
    return "\n".join(lines)


def main() -> int:
    numbers = [int(a) for a in sys.argv[1:] if not a.startswith("-")]
    count, first = numbers[0], numbers[1] if len(numbers) > 1 else 0
    outcomes: Counter = Counter()
    failed = False
    for chunk in range(-(-count // CHUNK)):
        seed = first + chunk
        some, faults = judged(min(CHUNK, count - chunk * CHUNK), seed)
        outcomes += some
        failed |= bool(faults)
        for program, fault in faults:
            if "--reduce" in sys.argv:
                program = reduced(program, fault)
            print(f"--- chunk {seed}\n{program}\n{fault}\n", flush=True)
    print(report(outcomes))
    return 1 if failed or accepted(outcomes) < LEAST_ACCEPTED else 0


if __name__ == "__main__":
    sys.exit(main())
