"""How a list grows in a staged loop: the room that it needs for all iterations."""

from __future__ import annotations

from dataclasses import dataclass

from lsp_ad.staging.operators.lists import StagedList
from lsp_ad.staging.operators.plans import Made
from lsp_ad.staging.operators.types import Fixed


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
