"""Logic on bool tensors and bit operations on integers. No gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.graph.tensor import Tensor
from tfexp.ops.shape_rules import broadcasting, shape_preserving

logical_and = define_op("LogicalAnd(x: bool, y: bool) -> (z: bool) #commutative")
logical_or = define_op("LogicalOr(x: bool, y: bool) -> (z: bool) #commutative")
logical_not = define_op("LogicalNot(x: bool) -> (y: bool)")
broadcasting(logical_and).not_differentiable().ufunc(np.logical_and)
broadcasting(logical_or).not_differentiable().ufunc(np.logical_or)
shape_preserving(logical_not).not_differentiable().ufunc(np.logical_not)


def logical_xor(x: Any, y: Any, name: str = "LogicalXor") -> Tensor:
    """(x or y) and not (x and y). `tf.logical_xor`."""
    return logical_and(logical_or(x, y), logical_not(logical_and(x, y)), name=name)


bitwise_and = define_op(
    "BitwiseAnd(x: T, y: T) -> (z: T) {T: type in [int8,int16,int32,int64,uint8,uint16,uint32,uint64]} #commutative"
)
bitwise_or = define_op(
    "BitwiseOr(x: T, y: T) -> (z: T) {T: type in [int8,int16,int32,int64,uint8,uint16,uint32,uint64]} #commutative"
)
bitwise_xor = define_op(
    "BitwiseXor(x: T, y: T) -> (z: T) {T: type in [int8,int16,int32,int64,uint8,uint16,uint32,uint64]} #commutative"
)
invert = define_op("Invert(x: T) -> (y: T) {T: type in [int8,int16,int32,int64,uint8,uint16,uint32,uint64]}")
left_shift = define_op("LeftShift(x: T, y: T) -> (z: T) {T: type in [int8,int16,int32,int64,uint8,uint16,uint32,uint64]}")
right_shift = define_op("RightShift(x: T, y: T) -> (z: T) {T: type in [int8,int16,int32,int64,uint8,uint16,uint32,uint64]}")
population_count = define_op(
    "PopulationCount(x: T) -> (y: uint8) {T: type in [int8,int16,int32,int64,uint8,uint16,uint32,uint64]}"
)
broadcasting(bitwise_and).not_differentiable().ufunc(np.bitwise_and)
broadcasting(bitwise_or).not_differentiable().ufunc(np.bitwise_or)
broadcasting(bitwise_xor).not_differentiable().ufunc(np.bitwise_xor)
shape_preserving(invert).not_differentiable().ufunc(np.invert)
broadcasting(left_shift).not_differentiable()
broadcasting(right_shift).not_differentiable()


def _clamped(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    # Shifting by the width or more is undefined in C; TensorFlow clamps the distance.
    return np.clip(y, 0, x.dtype.itemsize * 8 - 1)


@left_shift.kernel("CPU")
def _(ctx: Any, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.left_shift(x, _clamped(x, y))


@right_shift.kernel("CPU")
def _(ctx: Any, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.right_shift(x, _clamped(x, y))


shape_preserving(population_count).not_differentiable()


@population_count.kernel("CPU")
def _(ctx: Any, x: np.ndarray) -> np.ndarray:
    unsigned = np.asarray(x).view(f"u{x.dtype.itemsize}")
    return np.bitwise_count(unsigned).astype(np.uint8)


compare_and_bitpack = define_op(
    "CompareAndBitpack(input: T, threshold: T) -> (output: uint8) {T: type in "
    "[bool,half,float,double,int8,int16,int32,int64]}"
).not_differentiable()


@compare_and_bitpack.shape
def _(input: InputShape, threshold: InputShape) -> TensorShape:
    threshold.assert_has_rank(0)
    shape = input.with_rank_at_least(1)
    size = shape[-1].value
    if size is not None and size % 8:
        raise ValueError(f"The last dimension must be divisible by 8, but is {size}")
    return shape[:-1].concatenate([None if size is None else size // 8])


@compare_and_bitpack.kernel("CPU")
def _(ctx: Any, input: np.ndarray, threshold: np.ndarray) -> np.ndarray:
    """Eight comparisons a byte, the first of them in the highest bit. Of bools, the values themselves."""
    if input.shape[-1] % 8:
        raise ValueError(f"Inner dimension of input should be divisible by 8, but saw shape: {dims_text(input.shape)}")
    return np.packbits(input if input.dtype == np.bool_ else np.asarray(input) > threshold, axis=-1)
