"""From one order of dimensions to another, both written as letters: DataFormatDimMap, DataFormatVecPermute. TF 1.15."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.ops.array import Array

_ATTRS = "T: type in [int32,int64] = int32; src_format: string = 'NHWC'; dst_format: string = 'NCHW'"
dim_map_op = define_op(f"DataFormatDimMap(x: T) -> (y: T) {{{_ATTRS}}}")
vec_permute_op = define_op(f"DataFormatVecPermute(x: T) -> (y: T) {{{_ATTRS}}}")


def _places(source: str, target: str) -> np.ndarray:
    """For each letter of `source` where it is in `target`. InvalidArgumentError unless both have the same letters."""
    if sorted(source) != sorted(target):
        raise InvalidArgumentError(
            None, None, f"Destination and source format must determine a permutation, got {source} and {target}"
        )
    return np.array([target.index(letter) for letter in source], np.intp)


@dim_map_op.shape
def _(x: InputShape) -> TensorShape:
    return TensorShape(x)


@dim_map_op.kernel("CPU")
def _(ctx: Any, x: Array, *, src_format: str, dst_format: str) -> Array:
    places = _places(src_format, dst_format)
    if x.size and not (-len(places) <= x.min() and x.max() < len(places)):
        raise InvalidArgumentError(
            None, None, f"Source dimensions must be in the range [-{len(places)}, {len(places)}), got {np.ravel(x).tolist()}"
        )
    return places[x].astype(x.dtype)


@vec_permute_op.shape
def _(x: InputShape) -> TensorShape:
    if x.rank is not None and x.rank not in (1, 2):
        raise ValueError(f"Shape must be at least rank 1 and at most rank 2 but is rank {x.rank}")
    return TensorShape(x)


@vec_permute_op.kernel("CPU")
def _(ctx: Any, x: Array, *, src_format: str, dst_format: str) -> Array:
    """`x` has a number, or a pair of numbers, for each dimension; or for the two that are not N and C."""
    if x.ndim not in (1, 2):
        raise InvalidArgumentError(None, None, f"input must be a vector or 2D tensor, but got shape {list(x.shape)}")
    if x.ndim == 2 and x.shape[1] != 2:
        raise InvalidArgumentError(
            None, None, f"Second dimension of 2D input must be of size 2, but got shape {list(x.shape)}"
        )
    if len(x) == len(src_format) - 2:
        src_format, dst_format = (f.replace("N", "").replace("C", "") for f in (src_format, dst_format))
    if len(x) != len(src_format):
        raise InvalidArgumentError(
            None,
            None,
            f"input must have {len(src_format)} rows, or one less for each of N and C, but has {len(x)}",
        )
    result: Array = np.empty_like(x)
    result[_places(src_format, dst_format)] = x
    return result
