"""Rows of the values of sparse and ragged tensors, as a batch takes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.graph.sparse_tensor import SparseTensorValue
from tfexp.ragged_tensors.value import RaggedTensorValue


def rows_of(value: Any, which: Any) -> Any:
    """The rows at these places, each at most once: of a sparse or ragged value, or of an array."""
    if isinstance(value, SparseTensorValue):
        return _rows_of_sparse(value, which)
    return _rows_of_ragged(value, which) if isinstance(value, RaggedTensorValue) else value[which]


def _rows_of_sparse(value: SparseTensorValue, which: Any) -> SparseTensorValue:
    count, *inner = (int(size) for size in value.dense_shape)
    taken = np.arange(count)[which]
    place = np.full(count, -1)
    place[taken] = np.arange(len(taken))
    rows = place[value.indices[:, 0]]
    kept = np.flatnonzero(rows >= 0)
    kept = kept[np.argsort(rows[kept], kind="stable")]  # within a row they stay in order
    indices = np.concatenate([rows[kept, None], value.indices[kept, 1:]], axis=1)
    return SparseTensorValue(indices, value.values[kept], np.array([len(taken), *inner]))


def _rows_of_ragged(value: RaggedTensorValue, which: Any) -> RaggedTensorValue:
    starts, lengths = value.row_splits[:-1][which], np.diff(value.row_splits)[which]
    splits = np.concatenate([[0], np.cumsum(lengths)]).astype(value.row_splits.dtype)
    inside = np.repeat(starts - splits[:-1], lengths) + np.arange(splits[-1])
    return RaggedTensorValue(rows_of(value.values, inside), splits)
