"""What may be asked of a derivative besides its mode, and a record of the stages on the way to it."""

from __future__ import annotations

from dataclasses import dataclass, field

import gast

from lsp_ad.source.printing import expression_text
from lsp_ad.source.trees import copied

SEEDS = ("required", "one", "ones")
# The passes after which a function is recorded, in their order; forward mode has those up to the normal form.
STAGES = ("primal", "inlined", "structured", "webs", "normal form", "sweeps", "saves", "tapes", "simplified")


@dataclass(frozen=True)
class Product:
    """A Hessian-vector product on its way: its name, what the user calls the function, and the functions
    whose statements stand in the gradient."""

    name: str
    title: str
    written_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class Options:
    """`seed`: whether the seed has to be given, or is 1.0, or ones in the shape of the result, where it is
    not (None: required by vjp alone). `optimized`: False for the code as the passes write it down.
    `stages`: records the stages, where there is one. `product`: the Hessian-vector product that is made, of
    whose gradient (reverse mode, with the seed 1.0 in it) or tangent of the gradient (forward mode) this is.
    `single`: parameters and result have to be one number or array each.
    """

    seed: str | None = None
    optimized: bool = True
    stages: Stages | None = None
    product: Product | None = None
    single: bool = False

    def __post_init__(self) -> None:
        if self.seed not in (None, *SEEDS):
            raise ValueError(f"seed must be one of {', '.join(SEEDS)}, not {self.seed!r}")

    def seed_of(self, mode: str) -> str:
        """The policy for the seed in a mode."""
        return self.seed or ("required" if mode == "vjp" else "one")

    def record(self, stage: str, function: gast.FunctionDef, body: list[gast.stmt] | None = None) -> None:
        """Record a function after a pass, or its head with another body."""
        if self.stages is not None:
            self.stages.record(stage, function, function.body if body is None else body)


@dataclass
class Stages:
    """The text of a function after each pass, by the name of the stage."""

    texts: dict[str, str] = field(default_factory=dict)

    def record(self, stage: str, function: gast.FunctionDef, body: list[gast.stmt]) -> None:
        inside = [copied(s) for s in body] or [gast.Pass()]
        shown = gast.FunctionDef(function.name, copied(function.args), inside, [], None, None, [])
        self.texts[stage] = expression_text(gast.fix_missing_locations(shown)) + "\n"


DEFAULT = Options()
