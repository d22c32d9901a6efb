"""Gradients of the Fourier transforms, as TensorFlow builds them (it has none for the real ones of three dimensions)."""

from __future__ import annotations

import math
from typing import Any

from tfexp.core import dtypes
from tfexp.graph.constant_value import constant_value
from tfexp.graph.convert import constant
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.ops import array, array_fill, array_join, array_order, array_tile, fourier, reduce
from tfexp.ops.cast import cast
from tfexp.ops.complex_numbers import conj, real
from tfexp.ops.elementwise_unary import exp, reciprocal
from tfexp.ops.matmul import matmul


def _size(x: Tensor, rank: int, dtype: Any) -> Tensor:
    """How many elements each transform is of."""
    return cast(reduce.reduce_prod(array.shape(x)[-rank:]), dtype)


def _attach_complex(rank: int) -> None:
    @fourier.fft_ops[rank].gradient
    def _(op: Operation, grad: Tensor) -> Tensor:
        size = _size(grad, rank, grad.dtype)
        return fourier.ifft_ops[rank](grad) * size

    @fourier.ifft_ops[rank].gradient
    def _(op: Operation, grad: Tensor) -> Tensor:
        share = cast(1.0 / _size(grad, rank, grad.dtype.real_dtype), grad.dtype)
        return fourier.fft_ops[rank](grad) * share


for _rank in (1, 2, 3):
    _attach_complex(_rank)

_FORWARD = {1: fourier.rfft, 2: fourier.rfft2d}
_BACKWARD = {1: fourier.irfft, 2: fourier.irfft2d}


def _alternating(length: Tensor, dtype: Any) -> Tensor:
    """1, -1, 1, …"""
    return cast(1 - 2 * (array_fill.range(length) % 2), dtype)


def _transform_matrix(length: Tensor, dtype: Any) -> Tensor:
    """exp(-2 pi i j k / length)."""
    rows = array_tile.tile(array.expand_dims(array_fill.range(length), 0), [length, 1])
    products = cast(rows * array_order.transpose(rows, [1, 0]), dtype)
    return exp(-2j * math.pi * products / cast(length, dtype))


def _repeated_matrix(matrix: Tensor, example: Tensor) -> Tensor:
    """The matrix once for each of the innermost matrices of `example`."""
    outer = array_fill.ones([array.rank(example) - 2], dtype=dtypes.int32)
    lifted = array.reshape(matrix, array_join.concat([outer, array.shape(matrix)], 0))
    return array_tile.tile(lifted, array_join.concat([array.shape(example)[:-2], [1, 1]], 0))


def _attach_real(rank: int) -> None:
    @fourier.rfft_ops[rank].gradient
    def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
        # The inverse transform takes the values strictly inside the half spectrum twice. So the first column, and the
        # last one of an even length, which stand for themselves, are added once more, and the sum halved.
        length = op.inputs[1]
        shape = array.shape(op.inputs[0])
        is_even = cast(1 - length[-1] % 2, grad.dtype)
        if rank == 1:
            first, last = grad[..., 0:1], is_even * grad[..., -1:]
            extra = first + last * _alternating(shape[-1], grad.dtype)
        else:
            first = grad[..., 0:1]
            matrix = _repeated_matrix(_transform_matrix(shape[-2], grad.dtype), first)
            column = matmul(matrix, conj(first))
            last_column = matmul(matrix, conj(grad[..., -1:]))
            width = shape[-1]
            along = array_join.concat([array_fill.ones([array.rank(grad) - 1], dtype=dtypes.int32), [width]], 0)
            wide = array_tile.tile(last_column, along)
            extra = column + is_even * (wide * _alternating(width, grad.dtype))
        size = _size(op.inputs[0], rank, grad.dtype.real_dtype)
        inner = _BACKWARD[rank](grad, length)
        return [0.5 * (inner * size + real(extra)), None]

    @fourier.irfft_ops[rank].gradient
    def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
        # The values strictly inside the half spectrum stand for their mirror images too.
        length = op.inputs[1]
        known = constant_value(length)
        is_odd = (length[-1] if known is None else constant(int(known[-1]), name="mod/x")) % 2
        inside = array.shape(op.inputs[0])[-1] - 2 + is_odd
        weights = array_join.concat(
            [[1.0], 2.0 * array_fill.ones([inside], dtype=grad.dtype), array_fill.ones([1 - is_odd], dtype=grad.dtype)], 0
        )
        share = reciprocal(_size(grad, rank, grad.dtype))
        spectrum = _FORWARD[rank](grad, length if known is None else known)
        return [spectrum * cast(share * weights, op.inputs[0].dtype), None]


for _rank in (1, 2):
    _attach_real(_rank)
