"""Elements of staged arrays, read and written, as NumPy indexes."""

from __future__ import annotations

from typing import Any

import numpy as np

from lsp_ad.staging.lantern.builder import slice_
from lsp_ad.staging.lantern.ir import NewAxis
from lsp_ad.staging.lantern.numpy_functions import asarray, tracer_of
from lsp_ad.staging.lantern.staged import Staged


def get_item(value: Any, index: Any) -> Any:
    """`value[index]`, as NumPy indexes."""
    tracer = tracer_of(value, index)
    base = _base(tracer, value)
    items = _index(tracer, index, base.ndim)
    if not base.ndim and not items:
        return base
    memory = tracer.sharing.piece() if _picks(index) else base.memory
    return tracer.staged(tracer.builder.get(tracer.value(base), *items), memory=memory)


def set_item(value: Any, index: Any, new: Any) -> Any:
    """The array `value` with `new` in a part of it."""
    tracer = tracer_of(value, index, new)
    base = _base(tracer, value)
    if isinstance(new, list | tuple):
        new = asarray(new) if tracer_of(new) else np.asarray(new)
    items = _index(tracer, index, base.ndim)
    if not base.ndim and not items:
        return tracer.staged(_as_new(tracer, new, base))
    made = tracer.builder.set(tracer.value(base), items, _as_new(tracer, new, base))
    return tracer.staged(made, memory=base.memory)


def add_at(value: Any, index: Any, new: Any) -> Any:
    """The array `value` after `np.add.at(value, index, new)`."""
    tracer = tracer_of(value, index, new)
    base = _base(tracer, value)
    made = tracer.builder.add_at(
        tracer.value(base), _index(tracer, index, base.ndim), _as_new(tracer, new, base)
    )
    return tracer.staged(made, memory=base.memory)


def _base(tracer: Any, value: Any) -> Staged:
    if isinstance(value, Staged):
        return value
    return tracer.staged(tracer.value(np.asarray(value)), memory=tracer.sharing.of(value))


def _picks(index: Any) -> bool:
    """Whether an index has an array in it, so that what it reads is new."""
    return any(isinstance(p, list) or np.ndim(p) > 0 for p in _parts(index) if not isinstance(p, slice))


def _as_new(tracer: Any, new: Any, base: Staged) -> Any:
    """What is written, in the dtype of the array: as in NumPy, it is cast."""
    given = new if isinstance(new, Staged) else tracer.staged(tracer.value(new))
    if given.dtype != base.dtype:
        given = tracer.op("cast", given, dtype=base.dtype.name)
    return tracer.value(given)


def _index(tracer: Any, index: Any, rank: int) -> list[Any]:
    """The parts of an index, for the builder."""
    parts = _parts(index)
    used = sum(1 for part in parts if part is not None and part is not Ellipsis)
    made: list[Any] = []
    for part in parts:
        if part is Ellipsis:
            made += [slice_()] * (rank - used)
        elif part is None:
            made.append(NewAxis())
        elif isinstance(part, slice):
            made.append(
                slice_(*(None if p is None else tracer.value(p) for p in (part.start, part.stop, part.step)))
            )
        elif isinstance(part, list):
            made.append(tracer.value(asarray(part) if tracer_of(part) else np.asarray(part)))
        else:
            made.append(tracer.value(part))
    return made


def _parts(index: Any) -> tuple:
    return index if isinstance(index, tuple) else (index,)
