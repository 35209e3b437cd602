"""Operations that Numba does not have, in LLVM."""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


@intrinsic
def stack_pointer(typing_context: Any) -> Any:
    """The address of the frame of the function that runs: how far the stack has grown (downwards)."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        name = "llvm.frameaddress.p0"
        frame = builder.module.globals.get(name)
        if frame is None:
            kind = ir.FunctionType(ir.IntType(8).as_pointer(), [ir.IntType(32)])
            frame = ir.Function(builder.module, kind, name)
        address = builder.call(frame, [ir.Constant(ir.IntType(32), 0)])
        return builder.ptrtoint(address, ir.IntType(64))

    return types.int64(), generate


def _reordered(instruction: str, plain: Any) -> Any:
    """An operation whose order in a reduction is free, as in NumPy's: LLVM may vectorise it. `plain`: of
    numbers other than floats, it is that operator."""

    def typed(typing_context: Any, a: Any, b: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            if not isinstance(a, types.Float):
                return context.get_function(plain, a(a, a))(builder, args)
            return getattr(builder, instruction)(*args, flags=("reassoc",))

        return (a(a, a), generate) if isinstance(a, types.Number) and a == b else None

    return typed


accumulate = intrinsic(_reordered("fadd", operator.add))
multiply_up = intrinsic(_reordered("fmul", operator.mul))


@intrinsic
def bits_of(typing_context: Any, x: Any) -> Any:
    """The bits of a float64 as an integer."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), generate


@intrinsic
def float_of(typing_context: Any, bits: Any) -> Any:
    """The float64 that has these bits."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), generate


@intrinsic
def fused(typing_context: Any, a: Any, b: Any, c: Any) -> Any:
    """a b + c, rounded once."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fma(*args)

    return types.float64(types.float64, types.float64, types.float64), generate


@intrinsic
def chosen(typing_context: Any, test: Any, a: Any, b: Any) -> Any:
    """One of two numbers, both of which are computed."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.select(*args)

    return types.float64(types.boolean, types.float64, types.float64), generate
