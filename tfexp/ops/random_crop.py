"""`tf.random_crop`: a slice of fixed size at a random place, checked when it runs."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.core.op import get_op
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.dependencies import with_dependencies
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import array
from tfexp.ops.check import Assert
from tfexp.ops.random import random_uniform
from tfexp.ops.reduce import reduce_all


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
