"""`tf.random_crop`: a slice of fixed size at a random place, checked when it runs."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.core.errors import FailedPreconditionError
from tfexp.core.merged_shape import merged
from tfexp.core.op import define_op, get_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.dependencies import with_dependencies
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import array
from tfexp.ops.array import Array
from tfexp.ops.check import Assert
from tfexp.ops.random import random_uniform, stream_state
from tfexp.ops.reduce import reduce_all
from tfexp.ops.shape_rules import with_rank

# The op of graphs of before version 8.
random_crop_op = define_op(
    "RandomCrop(image: T, size: int64) -> (output: T) {T: type in [uint8,int8,int16,int32,int64,float,double]; "
    "seed: int = 0; seed2: int = 0} #stateful"
).not_differentiable()


@random_crop_op.shape
def _(image: InputShape, size: InputShape) -> TensorShape:
    channels = with_rank(image, 3).as_list()[2]
    merged(size, TensorShape([2]))
    rows, columns = with_rank(size.value_as_shape, 2).as_list()
    return TensorShape([rows, columns, channels])


@random_crop_op.kernel("CPU")
def _(ctx: Any, image: Array, size: Array, *, seed: int, seed2: int) -> Array:
    """Rows and columns of [height, width, channels]. FailedPreconditionError for more of them than there are."""
    if image.ndim != 3 or size.shape != (2,):
        raise ValueError(f"Need an image of 3 dimensions and a size of 2 numbers, got shapes {image.shape} and {size.shape}")
    wanted = size.tolist()
    for what, length, target in zip(("height", "width"), image.shape, wanted, strict=False):
        if target < 0:
            raise ValueError(f"target_{what} must be >= 0: {target}")
        if length < target:
            text = f"{what} must be >= target_{what}: {what} = {length}, target_{what} = {target}"
            raise FailedPreconditionError(None, None, text)
    # A word for each axis that leaves a choice, columns first.
    words = iter(stream_state(ctx, seed, seed2).take(1).words(2).tolist())
    left, top = (next(words) % (n + 1) if n else 0 for n in (image.shape[1] - wanted[1], image.shape[0] - wanted[0]))
    return image[top : top + wanted[0], left : left + wanted[1]].copy()


def random_crop(value: Any, size: Any, seed: int | None = None, name: Any = None) -> Tensor:
    """A slice of `value` of shape `size` (int32, one number per dimension), every offset equally likely.

    A size larger than the value is an InvalidArgumentError when it runs. Source: `tf.random_crop`.
    """
    with name_scope(name, "random_crop", [value, size]) as scope:
        value = convert_to_tensor(value, name="value")
        size = convert_to_tensor(size, dtype=dtypes.int32, name="size")
        shape = array.shape(value)
        fits = reduce_all(get_op("GreaterEqual")(shape, size))
        check = Assert(fits, ["Need value.shape >= size, got ", shape, size], summarize=1000)
        shape = with_dependencies([check], shape)
        offsets = get_op("AddV2")(get_op("Sub")(shape, size, name="sub"), 1, name="add")
        # One draw over all int32 for every dimension: nearly uniform as long as dimensions are small.
        anywhere = random_uniform(array.shape(shape), maxval=dtypes.int32.max, dtype=dtypes.int32, seed=seed)
        begin = get_op("FloorMod")(anywhere, offsets, name="mod")
        result: Tensor = get_op("Slice")(value, begin, size, name=scope)
        return result
