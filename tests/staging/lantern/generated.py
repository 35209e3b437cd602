"""Generated Python, run by Python: what compiled programs compute, without the time to compile them."""

from __future__ import annotations

import math
import operator
from typing import Any
from unittest import mock

import numpy as np

from lsp_ad.staging.lantern.compiler import boundary, driver, functions, kernels
from lsp_ad.staging.lantern.ir import Program

FUNCTIONS = {
    **{name: getattr(kernel, "py_func", None) for name, kernel in kernels.KERNELS.items()},
    **{f"vector_{name}": getattr(np, name) for name in ("exp", "expm1", "log", "log1p", "tanh")},
    "accumulate": operator.add,
    "multiply_up": operator.mul,
    "sine": math.sin,
    "cosine": math.cos,
    "stack_pointer": lambda: 0,
}


def uncompiled(program: Program, *args: Any) -> Any:
    """The result of a program. As in `Compiled`, other code runs where an axis is stretched."""
    for stretching in (False, True):
        text = functions.program_source(program, list(kernels.KERNELS), stretching)
        try:
            return _run(text, program, args)
        except kernels.Stretch:
            assert not stretching
    raise AssertionError


def _run(text: functions.Text, program: Program, args: tuple[Any, ...]) -> Any:
    space: dict[str, Any] = {"np": np, "math": math, "Raised": driver.Raised, **FUNCTIONS}
    exec(text.source, space)
    taken: list[Any] = [-1] if text.low else []
    for k, (value, t) in enumerate(zip(args, text.entry.params, strict=True)):
        boundary.taking(t, "x", k in text.entry.consumed)(value, taken)
    give = boundary.giving(program.table[program.entry].result)
    with np.errstate(all="ignore"), mock.patch.dict(vars(kernels), FUNCTIONS):
        return give(space[text.entry.name](*taken))
