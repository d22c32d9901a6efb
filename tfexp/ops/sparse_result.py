"""The sparse results of parsing and splitting."""

from __future__ import annotations

import importlib
from typing import Any

from tfexp.graph.tensor import Tensor


def sparse_result(indices: Tensor, values: Tensor, dense_shape: Tensor) -> Any:
    """The `tf.SparseTensor` of three tensors."""
    return importlib.import_module("tfexp.graph.sparse_tensor").SparseTensor(indices, values, dense_shape)
