"""`tf.sparse_placeholder`: a SparseTensor that is fed."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.shape import as_shape
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.ops.array_identity import placeholder, placeholder_with_default


def sparse_placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> SparseTensor:
    """A SparseTensor to feed with a SparseTensorValue or a tuple (indices, values, dense_shape). `tf.sparse_placeholder`."""

    def named(part: str) -> str | None:
        return None if name is None else f"{name}/{part}"

    rank = None
    if shape is None:
        dense_shape = placeholder(dtypes.int64, shape=[None], name=named("shape"))
    else:
        dims = [-1 if d is None else d for d in as_shape(shape).as_list()]
        rank = len(dims)
        default = convert_to_tensor(np.array(dims, np.int64), name=named("shape_default"))
        dense_shape = placeholder_with_default(default, shape=default.shape, name=named("shape"))
    values = placeholder(dtype, shape=[None], name=named("values"))
    indices = placeholder(dtypes.int64, shape=[None, rank], name=named("indices"))
    sparse = SparseTensor(indices, values, dense_shape)
    sparse.set_shape(shape)
    return sparse
