"""Elements that move between dimensions, as in sub-pixel convolutions, and back with the gradient.

Source: `tf.contrib.periodic_resample`, TF 1.15; Shi et al., arXiv 1609.05158.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array

_TYPE = (
    "T: type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,uint16,complex128,half,"
    "uint32,uint64]"
)
periodic_resample_op = define_op(f"PeriodicResample(values: T) -> (output: T) {{{_TYPE}; shape: shape}}")
periodic_resample_grad_op = define_op(
    f"PeriodicResampleOpGrad(grad: T) -> (grad_values: T) {{{_TYPE}; original_shape: shape; desired_shape: shape}}"
)


def _result(original: Sequence[int], desired: TensorShape) -> tuple[int, tuple[int, ...]]:
    """(the dimension that shrinks, the shape of the result). InvalidArgumentError where there is none."""
    wanted = desired.as_list()
    shrinking = [axis for axis, size in enumerate(wanted) if size is None]
    if len(wanted) != len(original):
        raise _refused(
            f"expects the rank of the input tensor, {len(original)}, to be the same as the length of the desired shape, "
            f"{len(wanted)}."
        )
    if len(shrinking) != 1:
        raise _refused(f"expects {'only' if shrinking else 'at least'} one index to be marked as adjustable.")
    for axis, (size, old) in enumerate(zip(wanted, original, strict=True)):
        if size is not None and size < old:
            raise _refused(
                "expects the size of non-adjustable dimensions be at least as large as size of input tensor. "
                f"Dimension {axis} input tensor has size {old}, desired shape has size {size}."
            )
    [axis] = shrinking
    rest = math.prod(size for size in wanted if size is not None)
    left = math.prod(original) // rest if rest else 0
    if left < 1:
        raise _refused(f"found that the adjustable dimension, {axis}, isn't greater than zero, {left}.")
    return axis, tuple(left if size is None else size for size in wanted)


def _refused(reason: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, f"periodic_resample {reason}")


def _sizes(shape: TensorShape) -> list[int]:
    """ValueError for a shape that is not known."""
    sizes = [size for size in shape.as_list() if size is not None]
    if len(sizes) != shape.rank:
        raise ValueError(f"periodic_resample: the shape {shape} has to be known where the graph of the gradient is built")
    return sizes


def _origins(original: Sequence[int], desired: TensorShape) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
    """(of each element of the result its place among the values, whether there is one), of the result's shape.

    What the dimensions that grow have g times as many of comes, in turn, from g blocks of the one that shrinks.
    """
    axis, result = _result(original, desired)
    places = list(np.ogrid[tuple(slice(size) for size in result)])
    shrunk, blocks = places[axis], 1
    for other, (place, old) in enumerate(zip(places, original, strict=True)):
        if other != axis:
            factor = -(-result[other] // old)
            places[other] = place // factor
            shrunk = shrunk + result[axis] * blocks * (place % factor)
            blocks *= factor
    known = np.broadcast_to(shrunk < original[axis], result)
    places[axis] = np.minimum(shrunk, original[axis] - 1)
    return np.ravel_multi_index(np.broadcast_arrays(*places), original), known


@periodic_resample_op.shape
def _(values: InputShape, *, shape: TensorShape) -> TensorShape:
    return TensorShape(_result(_sizes(values), shape)[1]) if values.is_fully_defined() else shape


@periodic_resample_op.kernel("CPU")
def _(ctx: Any, values: Array, *, shape: TensorShape) -> Array:
    places, known = _origins(values.shape, shape)
    return np.where(known, values.reshape(-1)[places], values.dtype.type(0))


@periodic_resample_grad_op.shape
def _(grad: InputShape, *, original_shape: TensorShape, desired_shape: TensorShape) -> TensorShape:
    return original_shape


@periodic_resample_grad_op.kernel("CPU")
def _(ctx: Any, grad: Array, *, original_shape: TensorShape, desired_shape: TensorShape) -> Array:
    original = _sizes(original_shape)
    places, known = _origins(original, desired_shape)
    found = np.zeros(math.prod(original), grad.dtype)
    np.add.at(found, places[known], grad[known])
    return found.reshape(original)


@periodic_resample_op.gradient
def _(op: Operation, grad: Tensor) -> Any:
    """The values' shape has to be known where the graph is built."""
    return periodic_resample_grad_op(grad, original_shape=op.inputs[0].get_shape(), desired_shape=op.get_attr("shape"))


@periodic_resample_grad_op.gradient
def _(op: Operation, grad: Tensor) -> Any:
    return periodic_resample_op(grad, shape=op.get_attr("desired_shape"))


def periodic_resample(values: Any, shape: Any, name: str | None = None) -> Any:
    """`values`, numbers, in `shape`, of the same rank: one dimension, None, shrinks, and others may grow for it.

    A dimension that grows g-fold interleaves g blocks of the one that shrinks, which is as long as all the elements allow;
    what they do not have is zero. InvalidArgumentError where another dimension is smaller than that of the values, and
    where nothing is left. Source: `tf.contrib.periodic_resample.periodic_resample`.
    """
    return periodic_resample_op(values, shape=shape, name=name)
