"""What a value means as a condition."""

from __future__ import annotations

from typing import Any

from lsp_ad.staging.operators.lists import StagedList


def truth(value: Any) -> Any:
    """The value, or whether there are items in it where it is a staged list."""
    return value.length > 0 if isinstance(value, StagedList) else value
