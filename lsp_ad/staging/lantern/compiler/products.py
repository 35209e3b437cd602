"""Linear algebra: matrix products as loops where they are small, else as calls of BLAS and LAPACK."""

from __future__ import annotations

from collections.abc import Sequence

from lsp_ad.staging.lantern.compiler.elementwise import common_dims, elementwise, stretched
from lsp_ad.staging.lantern.compiler.operands import ArrayLike, Computed, Number, Operand, Stored, element_of
from lsp_ad.staging.lantern.compiler.writer import Writer
from lsp_ad.staging.lantern.dtypes import FLOATS, INTEGERS, dtype_of, rank_of
from lsp_ad.staging.lantern.ir import Type, ranked


def matmul(w: Writer, operands: list[Operand], result: Type) -> Operand:
    dtype = dtype_of(result)
    a, b = (_as(w, o, dtype) for o in operands)
    if len(a.dims) > 2 or len(b.dims) > 2:
        return _batched(w, a, b, dtype)
    if len(a.dims) == 1 and len(b.dims) == 1:
        a, b = _plain(w, a), _plain(w, b)
        return Number(w.assign("t", f"dot({a.code}, {b.code})"), dtype)
    kernel, a, b = _kernel(w, a, b)
    name = w.assign("t", f"{kernel}({a.code}, {b.code})")
    dims = tuple(f"{name}.shape[{k}]" for k in range(rank_of(result)))
    return Stored(name, dtype, dims, frozenset({w.new_root(True)}))


def _as(w: Writer, operand: Operand, dtype: str) -> ArrayLike:
    assert isinstance(operand, Stored | Computed)
    if operand.dtype == dtype:
        return operand
    found = elementwise(w, "cast", [operand], ranked(dtype, len(operand.dims)))
    assert isinstance(found, Computed)
    return found


def _plain(w: Writer, array: ArrayLike) -> Stored:
    return w.contiguous(array)


def _kernel(w: Writer, a: ArrayLike, b: ArrayLike) -> tuple[str, Stored, Stored]:
    """The function for a product; one by a transposed matrix goes over the matrix itself."""
    ranks = (len(a.dims), len(b.dims))
    if ranks == (2, 1):
        if isinstance(a, Computed) and a.transposed is not None:
            return "vector_matrix", _plain(w, b), _plain(w, a.transposed)
        return "matrix_vector", _plain(w, a), _plain(w, b)
    if ranks == (1, 2):
        if isinstance(b, Computed) and b.transposed is not None:
            return "matrix_vector", _plain(w, b.transposed), _plain(w, a)
        return "vector_matrix", _plain(w, a), _plain(w, b)
    whole = a.dtype in INTEGERS  # BLAS has no product of these
    return "matrix_product" if whole else "matrix_matrix", _operand(w, a), _operand(w, b)


def _operand(w: Writer, array: ArrayLike) -> Stored:
    """A matrix for BLAS, which takes transposes as they are."""
    if isinstance(array, Computed) and array.transposed is not None:
        source = _plain(w, array.transposed)
        return Stored(f"{source.code}.T", array.dtype, array.dims, array.roots, False)
    return _plain(w, array)


def _batched(w: Writer, a: ArrayLike, b: ArrayLike, dtype: str) -> Operand:
    """Products of stacks of matrices, whose first axes are broadcast together."""
    a, b = w.store(a), w.store(b)
    a_dims = list(a.dims) if len(a.dims) > 1 else ["1", *a.dims]
    b_dims = list(b.dims) if len(b.dims) > 1 else [*b.dims, "1"]
    w.require_same(a_dims[-1], b_dims[-2], "check_matmul")
    batch = common_dims(w, a_dims[:-2], b_dims[:-2])
    rows, columns = a_dims[-2:-1] * (len(a.dims) > 1), b_dims[-1:] * (len(b.dims) > 1)
    result = w.allocate("t", dtype, [*batch, *rows, *columns], "zeros")
    a_index, b_index = stretched(w, a_dims[:-2], batch), stretched(w, b_dims[:-2], batch)
    with w.loops([*batch, *rows, a_dims[-1], *columns]) as at:
        outer, inner = at[: len(batch) + len(rows)], at[len(batch) + len(rows)]
        last = at[len(batch) + len(rows) + 1 :]
        left = element_of(a, [*a_index(outer[: len(batch)]), *outer[len(batch) :], inner])
        right = element_of(b, [*b_index(outer[: len(batch)]), inner, *last])
        w.line(f"{result.code}[{', '.join([*outer, *last])}] += {left} * {right}")
    return result


def lapack(w: Writer, name: str, operands: Sequence[Operand], result: Type) -> Operand:
    """`solve`, `inv`, `det` and `cholesky`."""
    dtype = dtype_of(result)
    codes = ", ".join(w.contiguous(_as(w, o, dtype)).code for o in operands)
    code = w.assign("t", f"np.linalg.{name}({codes})")
    if not rank_of(result):
        return Number(code, dtype)
    dims = tuple(f"{code}.shape[{k}]" for k in range(rank_of(result)))
    # LAPACK gives matrices in Fortran order.
    return w.copied(Stored(code, dtype, dims, frozenset(), False))


__all__ = ["FLOATS", "INTEGERS", "lapack", "matmul"]
