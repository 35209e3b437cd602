"""The helpers of generated derivatives, known by their code wherever they stand: in the user's file, too."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from types import CodeType, FunctionType

from lsp_ad.sources import same_code


def helper_name(function: FunctionType) -> str | None:
    """The name of a helper, converted or not; None of any other function."""
    plain = getattr(function, "__lsp_ad_unstaged__", function)
    code = _codes().get(plain.__name__)
    return plain.__name__ if code is not None and same_code(plain.__code__, code) else None


@cache
def _codes() -> dict[str, CodeType]:
    """The code of the helpers, by name, from their text."""
    found: dict[str, CodeType] = {}
    for name in ("basic.py", "structures.py"):
        text = (Path(__file__).parents[1] / "runtime" / name).read_text(encoding="utf-8")
        found |= {c.co_name: c for c in compile(text, name, "exec").co_consts if isinstance(c, CodeType)}
    return found
