"""Checks of Python arguments and dtypes that need no node."""

from __future__ import annotations

from typing import Any

from tfexp.graph.convert import IndexedSlices
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.graph.tensor import Tensor


def is_tensor(x: Any) -> bool:
    """Whether `x` is a tensor of the graph, dense or sparse, or a variable. `tf.is_tensor`."""
    return isinstance(x, (Tensor, IndexedSlices, SparseTensor)) or hasattr(x, "_as_graph_element")
