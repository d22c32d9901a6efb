"""Checks of Python arguments and dtypes that need no node."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.graph.convert import IndexedSlices
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.graph.tensor import Tensor
from tfexp.ops.check_texts import called


def assert_proper_iterable(values: Any) -> None:
    """TypeError unless `values` can be iterated over and is no tensor, array or string. `tf.assert_proper_iterable`."""
    if isinstance(values, (Tensor, SparseTensor, np.ndarray, bytes, str)):
        raise TypeError(f'Expected argument "values" to be a "proper" iterable.  Found: {type(values)}')
    if not isinstance(values, Iterable):
        raise TypeError(f'Expected argument "values" to be iterable.  Found: {type(values)}')


def assert_same_float_dtype(tensors: Iterable[Any] | None = None, dtype: Any = None) -> DType:
    """The floating dtype that all tensors (and `dtype`) have, float32 if there is none; ValueError where they differ.

    Source: `tf.assert_same_float_dtype`.
    """
    expected, first = (None, None) if dtype is None else (dtypes.as_dtype(dtype).base_dtype, None)
    for tensor in tensors or ():
        if tensor is None:
            continue
        found = tensor.dtype.base_dtype
        if expected is None:
            expected, first = found, tensor
        elif found is not expected:
            whose = f" as {called(first)}" if first is not None else ""
            raise ValueError(f"{called(tensor)}, type={found}, must be of the same type ({expected}){whose}.")
    expected = expected or dtypes.float32
    if not expected.is_floating:
        raise ValueError(f"Expected floating point type, got {expected}.")
    return expected


def is_tensor(x: Any) -> bool:
    """Whether `x` is a tensor of the graph, dense or sparse, or a variable. `tf.is_tensor`."""
    return isinstance(x, (Tensor, IndexedSlices, SparseTensor)) or hasattr(x, "_as_graph_element")
