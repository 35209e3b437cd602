"""Lists in staged code on Lantern, which has lists of its own: they need no room from the start."""

from __future__ import annotations

from typing import Any

from lsp_ad.staging.backends.base import Backend, Spec
from lsp_ad.staging.errors import staging_error
from lsp_ad.staging.lantern.ir import List
from lsp_ad.staging.lantern.specs import type_from
from lsp_ad.staging.lantern.tracer import Tracer


class Lists(Backend):
    """The part of the back end that makes, reads and changes lists."""

    bounded_lists = False
    tracers: list[Tracer]

    @property
    def tracer(self) -> Tracer:
        return self.tracers[-1]

    def list_spec(self, item: Spec, capacity: int) -> Spec:
        return Spec(item.dtype, (None, *(item.shape or ())), listed=item.listed + 1)

    def list_item(self, store: Spec) -> Spec:
        return Spec(store.dtype, (store.shape or (None,))[1:], listed=store.listed - 1)

    def list_new(self, item: Spec, capacity: int) -> Any:
        return self.tracer.op("list-new", item=type_from(item))

    def list_full(self, value: Any, item: Spec, capacity: int) -> Any:
        made = self.list_new(item, capacity)
        for _ in range(capacity):
            made = self.tracer.op("list-append", made, self.cast(value, item))
        return made

    def list_cast(self, store: Any, item: Spec) -> Any:
        if store.type == List(type_from(item)):
            return store
        raise staging_error("The items of this list change their type.", "Give all of them one type.")

    def list_grown(self, store: Any, by: int) -> Any:
        return store

    def list_get(self, store: Any, index: Any) -> Any:
        return self.tracer.op("list-get", store, index)

    def list_set(self, store: Any, index: Any, item: Any) -> Any:
        return self.tracer.op("list-set", store, index, self.cast(item, self.list_item(self.spec(store))))

    def list_append(self, store: Any, length: Any, item: Any) -> Any:
        builder, tracer = self.tracer.builder, self.tracer
        new = tracer.value(self.cast(item, self.list_item(self.spec(store))))
        old, end = tracer.value(store), tracer.value(length)
        # what was popped is still there
        inside = builder.op("<", end, builder.op("list-len", old))
        made = builder.branch(
            inside, lambda: builder.op("list-set", old, end, new), lambda: builder.op("list-append", old, new)
        )
        memory = tracer.sharing.of_result("list-append", (store, item))
        return tracer.staged(made, memory=memory)

    def list_array(self, store: Any, length: Any, capacity: int) -> Any:
        return self.tracer.op("list-stack", store)[:length]
