"""Functions of arrays that private modules of TensorFlow have beside those that it publishes. Source: TF 1.15.

`array_ops`, `image_ops_impl`, `math_ops` and `random_grad` of `tensorflow.python.ops`.
"""

from __future__ import annotations

from typing import Any

from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import rank, reshape, shape
from tfexp.ops.array_fill import ones
from tfexp.ops.array_fill import ones_like as ones_like_impl
from tfexp.ops.array_fill import zeros_like as zeros_like_impl
from tfexp.ops.array_gather import gather_nd
from tfexp.ops.array_join import concat, stack
from tfexp.ops.array_repeat import repeat
from tfexp.ops.array_tile import tile
from tfexp.ops.elementwise_division import div, floordiv, truediv

__all__ = [
    "DivideDelegateWithName",
    "add_leading_unit_dimensions",
    "batch_gather_nd",
    "fix_image_flip_shape",
    "ones_like_impl",
    "repeat_with_axis",
    "tensor_equals",
    "tensor_not_equals",
    "tile_one_dimension",
    "zeros_like_impl",
]


def repeat_with_axis(data: Any, repeats: Any, axis: int, name: str | None = None) -> Tensor:
    """Each element along `axis` so many times, as `tf.repeat`, which may go without an axis: TypeError here."""
    if not isinstance(axis, int):
        raise TypeError(f"axis must be an int; got {type(axis).__name__}")
    return repeat(data, repeats, axis, name)


def tile_one_dimension(data: Any, axis: int, multiple: Any) -> Tensor:
    """`multiple` copies of a tensor, one after the other along `axis`, which is not negative where the rank is unknown."""
    data = convert_to_tensor(data)
    if data.shape.ndims is not None:
        multiples = [1] * data.shape.ndims
        multiples[axis] = multiple
        return tile(data, multiples)
    before, after = ones([axis], "int32"), ones([rank(data) - axis - 1], "int32")
    return tile(data, concat([before, [multiple], after], axis=0))


def batch_gather_nd(params: Any, indices: Any, batch_dims: int, name: str | None = None) -> Tensor:
    """`tf.gather_nd`. ValueError for a negative number of batch dimensions."""
    if batch_dims < 0:
        raise ValueError("tf.gather_nd does not allow negative batch_dims.")
    return gather_nd(params, indices, name, batch_dims)


def fix_image_flip_shape(image: Tensor, result: Tensor) -> Tensor:
    """`result` with the shape of `image`; as one image where nothing is known of that."""
    result.set_shape([None] * 3 if image.shape.ndims is None else image.shape)
    return result


def add_leading_unit_dimensions(x: Tensor, num_dimensions: Any) -> Tensor:
    """`x` as an array in so many others of one element each."""
    count = stack([num_dimensions])
    return reshape(x, concat([ones(count, "int32"), shape(x)], axis=0))


def tensor_equals(self: Any, other: Any) -> bool:
    """What `==` says of tensors in version 1: whether they are the same one."""
    return self is other


def tensor_not_equals(self: Any, other: Any) -> bool:
    return self is not other


class DivideDelegateWithName:
    """A dividend whose operators give their nodes a name."""

    def __init__(self, x: Any, name: str | None):
        self.x, self.name = x, name

    def __truediv__(self, y: Any) -> Tensor:
        return truediv(self.x, y, self.name)

    def __floordiv__(self, y: Any) -> Tensor:
        return floordiv(self.x, y, self.name)

    def __div__(self, y: Any) -> Tensor:
        """Integers down to integers, as Python 2 divided."""
        return div(self.x, y, self.name)
