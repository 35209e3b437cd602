"""Type rules of the operations on lists."""

from __future__ import annotations

from lsp_ad.staging.lantern.dtypes import Mismatch, Params, dtype_of, is_index, rank_of
from lsp_ad.staging.lantern.ir import INT64, Array, List, Scalar, Tuple, Type


def list_of(t: Type) -> List:
    if not isinstance(t, List):
        raise Mismatch("a list is needed")
    return t


def position_in(t: Type) -> None:
    if not is_index(t):
        raise Mismatch("the position is an integer")


def new_list(_: list[Type], params: Params) -> Type:
    item = params.get("item")
    if not isinstance(item, Scalar | Array | Tuple | List):
        raise Mismatch(":item is the type of the items")
    return List(item)


def append(types: list[Type], _: Params) -> Type:
    if list_of(types[0]).item != types[1]:
        raise Mismatch("the item is not of the list's type")
    return types[0]


def pop(types: list[Type], _: Params) -> Type:
    return Tuple((types[0], list_of(types[0]).item))


def list_get(types: list[Type], _: Params) -> Type:
    position_in(types[1])
    return list_of(types[0]).item


def list_set(types: list[Type], _: Params) -> Type:
    position_in(types[1])
    return append([types[0], types[2]], {})


def list_len(types: list[Type], _: Params) -> Type:
    list_of(types[0])
    return INT64


def list_stack(types: list[Type], _: Params) -> Type:
    item = list_of(types[0]).item
    return Array(dtype_of(item), rank_of(item) + 1)
