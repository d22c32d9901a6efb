"""`shape_internal` and the like of `tensorflow.python.ops.array_ops`: with or without constants. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import rank, shape, size


def shape_internal(input: Any, name: str | None = None, optimize: bool = True, out_type: Any = dtypes.int32) -> Tensor:
    """`tf.shape`, with `optimize=False` a Shape node wherever there could be a constant."""
    return shape(input, name, out_type, optimize=optimize)


def size_internal(input: Any, name: str | None = None, optimize: bool = True, out_type: Any = dtypes.int32) -> Tensor:
    """`tf.size`, with `optimize=False` a Size node wherever there could be a constant."""
    return size(input, name, out_type, optimize=optimize)


def rank_internal(input: Any, name: str | None = None, optimize: bool = True) -> Tensor:
    """`tf.rank`, with `optimize=False` a Rank node wherever there could be a constant."""
    return rank(input, name, optimize=optimize)
