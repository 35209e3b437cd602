"""How a list grows in a staged loop: the room that it needs for all iterations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lsp_ad.staging.errors import user_place
from lsp_ad.staging.operators.lists import StagedList
from lsp_ad.staging.operators.plans import Made
from lsp_ad.staging.operators.types import Fixed
from lsp_ad.staging.structures import mapped


@dataclass
class Growth:
    """What a loop does to one list: how many items it needs room for without it (`start`), how many an
    iteration adds (`net`), how many there are at once in one (`peak`)."""

    least: int
    start: int
    net: int = 0
    peak: int = 0

    def after(self, before: Made, after: Made) -> None:
        """Another trace of an iteration has made one type of another."""
        if after.kind is list:
            net = peak = len(after.parts) - self.start
        elif before.kind is StagedList:
            net, peak = after.meta.top, after.meta.peak
        else:
            base = after.parts[0]
            net = (base.value if isinstance(base, Fixed) else after.meta.capacity) - self.start
            peak = after.meta.capacity - self.start
        self.net, self.peak = max(self.net, net), max(self.peak, peak, 0)

    def room(self, count: int | None) -> int:
        """For how many items more than `start` there has to be room in `count` iterations."""
        if self.net <= 0 or count is None:
            return self.peak
        return self.net * max(count - 1, 0) + self.peak


def check_bound(most: int, growth: Mapping[tuple, Growth], values: Mapping[str, Any]) -> None:
    """Let the program check that a loop has kept to the bound that its lists have room for."""
    place = ":".join(map(str, user_place()))
    message = f"{place}: this loop runs more than {most} times, its maximum_iterations"

    def checked(value: StagedList, path: tuple) -> StagedList:
        found = growth.get(path)
        if found is not None and found.net > 0 and not value.known:
            value.backend.assert_(value.length <= value.meta.capacity, lambda: message)
        return value

    for name, value in values.items():
        mapped(value, StagedList, checked, (name,))
