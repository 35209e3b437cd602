"""Functions that generated code may call on lists and dicts, and on what may be one."""

import numpy as np

from lsp_ad.runtime.basic import unbroadcast


def zeros_of(x):
    """The zero adjoint of x: its structure of lists and dicts (tuples become lists), float zeros for numbers
    and arrays, those of integers too, and for None in a tuple; None for anything else."""
    if isinstance(x, tuple):
        return zeros_of([0.0 if item is None else item for item in x])
    if isinstance(x, dict):
        return {k: zeros_of(item) for k, item in x.items()}
    if x is None or isinstance(x, str):
        return None
    if not isinstance(x, list):
        return np.zeros_like(x, dtype=np.result_type(x, 1.0)) if np.ndim(x) else 0.0
    inner = [item for item in x if isinstance(item, (list, tuple))]
    flat = bool(inner) and all(
        e is not None and not isinstance(e, (list, tuple, dict, str)) and np.ndim(e) == 0
        for item in inner
        for e in item
    )
    return [np.zeros(len(item)) if flat and isinstance(item, (list, tuple)) else zeros_of(item) for item in x]


def ones_of(x):
    """A seed of ones for a number, an array, or a structure of lists, tuples and dicts with these in it."""
    if isinstance(x, dict):
        return {k: ones_of(item) for k, item in x.items()}
    if isinstance(x, (list, tuple)):
        return [ones_of(item) for item in x]
    return np.ones_like(x, dtype=np.result_type(x, 1.0)) if np.ndim(x) else 1.0


def same_form(dx, x):
    """Whether dx is a structure like x: items for its items, and a number or array of the shape of each."""
    if isinstance(x, dict):
        return isinstance(dx, dict) and all(k in dx and same_form(dx[k], item) for k, item in x.items())
    if not isinstance(x, (list, tuple)):
        return not isinstance(dx, (list, tuple, dict)) and np.shape(dx) == np.shape(x)
    if not isinstance(dx, (list, tuple)) or len(dx) != len(x):
        return False
    return all(same_form(a, b) for a, b in zip(dx, x, strict=True))


def copy_of(x):
    """A copy of a structure of lists and dicts with the arrays in it."""
    if isinstance(x, dict):
        return {k: copy_of(item) for k, item in x.items()}
    if isinstance(x, (list, tuple)):
        return [copy_of(item) for item in x]
    return np.array(x) if np.ndim(x) else x


def own_copy(saved):
    """A copy of a structure of lists and dicts with the arrays in it, where what shared memory still does."""
    memory = {}

    def copied(x):
        if isinstance(x, dict):
            return {k: copied(item) for k, item in x.items()}
        if isinstance(x, (list, tuple)):
            items = [copied(item) for item in x]
            return type(x)(*items) if hasattr(x, "_fields") else type(x)(items)
        if not isinstance(x, np.ndarray):
            return x
        whole = x
        while isinstance(whole.base, np.ndarray):
            whole = whole.base
        start = whole.__array_interface__["data"][0]
        if id(whole) not in memory:
            memory[id(whole)] = np.array(whole.ravel(order="K"))
        at = x.__array_interface__["data"][0] - start
        return np.ndarray(x.shape, x.dtype, memory[id(whole)], at, x.strides)

    return copied(saved)


def sum_of(dx, dy):
    """The sum of two adjoints of one value: item by item where they are lists or dicts. None and the number
    0.0 stand for no adjoint."""
    if dx is None or (isinstance(dx, float) and dx == 0.0):
        return dy
    if dy is None or (isinstance(dy, float) and dy == 0.0):
        return dx
    if isinstance(dx, dict):
        return {k: sum_of(item, dy[k]) for k, item in dx.items()}
    lists = [isinstance(d, (list, tuple)) for d in (dx, dy)]
    if any(lists) and (lists[0] or np.ndim(dx)) and (lists[1] or np.ndim(dy)):
        items = [sum_of(a, b) for a, b in zip(dx, dy, strict=True)]
        return items if lists[0] else np.array(items)
    return np.add(dx, dy) if lists[0] else dx + dy


def part_of_sum(dy, x):
    """The adjoint of x in y = sum_of(x, e): dy, as it is or, for arrays, without broadcasting."""
    if isinstance(x, (list, tuple, dict)) or isinstance(dy, (list, tuple, dict)):
        return dy
    return unbroadcast(dy, x)


def like(dx, x):
    """The adjoint dx of x in the structure of x: lists and tuples where x has them."""
    if isinstance(x, dict):
        return {k: like(dx[k], item) for k, item in x.items()}
    if not isinstance(x, (list, tuple)):
        return None if x is None else dx
    items = [like(d, item) for d, item in zip(dx, x, strict=True)]
    if isinstance(x, list):
        return items
    return type(x)(*items) if hasattr(x, "_fields") else tuple(items)


def filled(dx, x):
    """The adjoint dx of the dict x, in the order of x and with zeros for the items that dx does not have."""
    if not isinstance(x, dict):
        return dx
    return {k: filled(dx[k], item) if k in dx else zeros_of(item) for k, item in x.items()}


def joined_like(dx, x):
    """The adjoint dx of the items of x, in one array if x is an array."""
    return dx if isinstance(x, (list, tuple)) or np.ndim(x) == 0 else np.array(dx)


def repeat_adjoint(dy, xs):
    """The adjoint of the list xs in y = xs * n: the sum over its copies."""
    dxs = zeros_of(xs)
    for start in range(0, len(dy), max(len(xs), 1)):
        dxs = sum_of(dxs, dy[start : start + len(xs)])
    return dxs


def part_of(dy, x, *later):
    """The adjoint of the dict x in y = {**x, ...}: its items that none of the later ones have replaced."""
    kept = [k for k in x if not any(k in keys for keys in later)]
    return {k: dy[k] if k in kept else zeros_of(item) for k, item in x.items()}


def split_like(dy, xs, axis=0):
    """The adjoints of the arrays xs in y = np.concatenate(xs, axis)."""
    if axis is None:
        pieces = np.split(dy, np.cumsum([np.size(x) for x in xs])[:-1])
        return [np.reshape(piece, np.shape(x)) for piece, x in zip(pieces, xs, strict=True)]
    return np.split(dy, np.cumsum([np.shape(x)[axis] for x in xs])[:-1], axis)
