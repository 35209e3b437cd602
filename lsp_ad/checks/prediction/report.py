"""The predictions for the staged functions of a file."""

from __future__ import annotations

from typing import NamedTuple

from lsp_ad.checks.origins import Kind, Origin, Sure
from lsp_ad.checks.prediction.expressions import Prediction
from lsp_ad.checks.prediction.loops import Predictor
from lsp_ad.checks.prediction.values import STAGED, UNCLEAR, Python, Value
from lsp_ad.checks.traces import Trace, Traces

_MOST = 100_000  # expressions that are looked at in a file: a fraction of a second


class Foretold(NamedTuple):
    """What becomes of a construct when a staged function is traced."""

    trace: Trace
    prediction: Prediction

    def __str__(self) -> str:
        construct, outcome, count = (getattr(self.prediction, n) for n in ("construct", "outcome", "count"))
        transform = self.trace.staged.transform
        if outcome is None:
            return f"{construct}: it depends on the arguments of `{self.trace.place.name}` under {transform}"
        if outcome == "fails":
            return f"{construct}: fails under {transform}, which has no conversion"
        times = f" {count} times" if count is not None else ""
        return f"{construct}: {outcome}{times} under {transform}"


def foretold(traces: Traces) -> list[Foretold]:
    """The predictions for each staged function of a file, in the order of the text."""
    found: dict[Prediction, Foretold] = {}
    left = _MOST
    for trace in traces:
        if trace.place is not trace.root:
            continue
        given = {
            name: _value(trace, origin)
            for name, origin in trace.flow.parameters.items()
            if name != trace.place.receiver
        }
        backend = trace.staged.backend
        predictor = Predictor(traces.functions, trace.staged.converts, bool(backend), backend == "lantern")
        predictor.most = min(left, predictor.most)
        for prediction in predictor.of(trace.place, given):
            found.setdefault(prediction, Foretold(trace, prediction))
        left -= predictor.steps
    return sorted(found.values(), key=lambda f: (f.prediction.node.lineno, f.prediction.node.col_offset))


def _value(trace: Trace, origin: Origin) -> Value:
    """What a parameter is, by its origin; without jax.jit, what may be an array counts as one."""
    if origin.kind is Kind.TRACED:
        return STAGED if origin.sure is Sure.ITSELF or not trace.staged.jitted else UNCLEAR
    return UNCLEAR if origin.kind in (Kind.UNKNOWN, Kind.OPTIONAL) else Python()
