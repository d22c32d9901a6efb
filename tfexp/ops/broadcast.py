"""Broadcasting: what the binary element-wise ops share, and how gradients find their way back through it.

Shapes broadcast as in NumPy. The gradient of an input that was broadcast is summed over the axes along which it was
repeated; where static shapes already tell which axes these are, no `BroadcastGradientArgs` node is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.graph.tensor import Tensor
from tfexp.ops import array, reduce
from tfexp.ops.shape_rules import with_rank

broadcast_gradient_args = define_op(
    "BroadcastGradientArgs(s0: T, s1: T) -> (r0: T, r1: T) {T: type in [int32,int64] = int32}"
)


@broadcast_gradient_args.shape
def _(s0: InputShape, s1: InputShape) -> list[TensorShape]:
    with_rank(s0, 1)
    with_rank(s1, 1)
    return [TensorShape([None]), TensorShape([None])]


@broadcast_gradient_args.kernel("CPU")
def _(ctx: Any, s0: np.ndarray, s1: np.ndarray) -> list[np.ndarray]:
    for i, dims in enumerate((s0, s1)):
        if dims.ndim != 1:
            raise InvalidArgumentError(None, None, f"In[{i}] must be a vector.{dims_text(dims.shape)}")
    x, y = s0.tolist(), s1.tolist()
    axes = ([], []) if x == y else reduction_axes(x, y, repeat_ones=True)
    if axes is None:
        raise InvalidArgumentError(None, None, f"Incompatible shapes: {dims_text(x)} vs. {dims_text(y)}")
    return [np.array(a, dtype=s0.dtype) for a in axes]


broadcast_gradient_args.not_differentiable()

broadcast_args = define_op("BroadcastArgs(s0: T, s1: T) -> (r0: T) {T: type in [int32,int64] = int32}")


@broadcast_args.shape
def _(s0: InputShape, s1: InputShape) -> TensorShape:
    a, b = with_rank(s0, 1).known_dims, with_rank(s1, 1).known_dims
    lengths = [None if dims is None else dims[0] for dims in (a, b)]
    return TensorShape([None if None in lengths else max(length or 0 for length in lengths)])


@broadcast_args.kernel("CPU")
def _(ctx: Any, s0: np.ndarray, s1: np.ndarray) -> np.ndarray:
    try:
        return np.array(np.broadcast_shapes(tuple(s0.tolist()), tuple(s1.tolist())), dtype=s0.dtype)
    except ValueError:
        raise InvalidArgumentError(
            None, None, f"Incompatible shapes: {dims_text(s0.tolist())} vs. {dims_text(s1.tolist())}"
        ) from None


def reduction_axes(
    x: Sequence[int | None], y: Sequence[int | None], repeat_ones: bool = False
) -> tuple[list[int], list[int]] | None:
    """Along which axes of the result x, and y, are repeated; None when that is not known or they do not broadcast.

    `repeat_ones` counts an axis of length 1 in both as repeated in both (summing over it changes nothing).
    """
    rank = max(len(x), len(y))
    x = [1] * (rank - len(x)) + list(x)
    y = [1] * (rank - len(y)) + list(y)
    x_axes: list[int] = []
    y_axes: list[int] = []
    for axis, (d, e) in enumerate(zip(x, y, strict=True)):
        if d == 1 and (e != 1 or repeat_ones):
            x_axes.append(axis)
        if e == 1 and (d != 1 or repeat_ones):
            y_axes.append(axis)
        if d not in (1, e) and e != 1 and d is not None and e is not None:
            return None
        if 1 not in (d, e) and None in (d, e):
            return None
    return x_axes, y_axes


def equal_and_known(*tensors: Tensor) -> bool:
    """Whether all have one and the same fully defined static shape, so that nothing was broadcast.

    TensorFlow does not look at the shapes of IndexedSlices: with a sparse gradient the answer is no.
    """
    if not all(isinstance(t, Tensor) for t in tensors):
        return False
    shapes = [t.shape.known_dims for t in tensors]
    return shapes[0] is not None and None not in shapes[0] and all(s == shapes[0] for s in shapes)


def reduced_gradients(x: Tensor, y: Tensor, grad_x: Tensor | None, grad_y: Tensor | None) -> list[Tensor | None]:
    """The gradients of x and y, from gradients that have the shape of the broadcast result (None stays None)."""
    if grad_x is None and grad_y is None:
        return [None, None]
    shape_x, shape_y = array.shape(x), array.shape(y)
    dims_x, dims_y = x.shape.known_dims, y.shape.known_dims
    known = None if dims_x is None or dims_y is None else reduction_axes(dims_x, dims_y)
    if known is None:
        found = broadcast_gradient_args(shape_x, shape_y)
        return [
            None if grad is None else _sum_to_shape(grad, axes, shape)
            for grad, axes, shape in ((grad_x, found[0], shape_x), (grad_y, found[1], shape_y))
        ]
    rank = max(len(dims_x or ()), len(dims_y or ()))
    gradients: list[Tensor | None] = []
    for grad, axes, shape, dims in ((grad_x, known[0], shape_x, dims_x), (grad_y, known[1], shape_y, dims_y)):
        unchanged = grad is None or (not axes and len(dims or ()) == rank)
        gradients.append(grad if unchanged else _sum_to_shape(grad, axes, shape))
    return gradients


def _sum_to_shape(grad: Any, axes: Any, shape: Tensor) -> Tensor:
    return array.reshape(reduce.sum_(grad, axes, keep_dims=True), shape)


def summed_gradients(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Any]:
    """(shape of x, shape of y, `BroadcastGradientArgs` of them) for the rules that do not look at static shapes."""
    shape_x, shape_y = array.shape(x), array.shape(y)
    return shape_x, shape_y, broadcast_gradient_args(shape_x, shape_y)
