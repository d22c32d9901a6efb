"""`tf.image.convert_image_dtype`: a picture in another type; floats go from 0 to 1, integers to their largest."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.core.op import get_op
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_identity import identity
from tfexp.ops.cast import cast, saturate_cast
from tfexp.ops.elementwise_binary import mul


def convert_image_dtype(image: Any, dtype: Any, saturate: bool = False, name: str | None = None) -> Tensor:
    """`image` as `dtype`, scaled: floats lie in [0, 1], integers up to their largest value.

    saturate: values that do not fit are cut off instead of wrapped. AttributeError for a type that is neither a float nor
    an integer. Source: `tf.image.convert_image_dtype`.
    """
    image = convert_to_tensor(image, name="image")
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating and not dtype.is_integer:
        raise AttributeError("dtype must be either floating point or integer")
    if not image.dtype.is_floating and not image.dtype.is_integer:
        raise AttributeError("image dtype must be either floating point or integer")
    if dtype == image.dtype:
        return identity(image, name=name)
    with name_scope(name, "convert_image", [image]) as scope:
        if image.dtype.is_integer and dtype.is_integer:
            return _between_integers(image, dtype, saturate, scope)
        if image.dtype.is_floating and dtype.is_floating:
            return _cast(image, dtype, False, scope)
        if image.dtype.is_integer:
            result: Tensor = mul(cast(image, dtype), 1.0 / int(image.dtype.max), name=scope)
            return result
        scaled = mul(image, int(dtype.max) + 0.5, name="Mul")
        return _cast(scaled, dtype, saturate, scope)


def _between_integers(image: Tensor, dtype: Any, saturate: bool, scope: str) -> Tensor:
    largest_in, largest_out = int(image.dtype.max), int(dtype.max)
    if largest_in > largest_out:
        scaled = get_op("FloorDiv")(image, (largest_in + 1) // (largest_out + 1), name="floordiv")
        return _cast(scaled, dtype, saturate, scope)
    widened = saturate_cast(image, dtype) if saturate else cast(image, dtype)
    result: Tensor = mul(widened, (largest_out + 1) // (largest_in + 1), name=scope)
    return result


def _cast(value: Tensor, dtype: Any, saturate: bool, scope: str) -> Tensor:
    result: Tensor = saturate_cast(value, dtype, name=scope) if saturate else cast(value, dtype, name=scope)
    return result
