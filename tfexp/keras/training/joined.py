"""Predictions of several batches as one: arrays, and the values of sparse and ragged tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.graph.sparse_tensor import SparseTensorValue
from tfexp.ragged_tensors.value import RaggedTensorValue


def joined(parts: Sequence[Any]) -> Any:
    """The parts one below the other. Sparse ones may differ in all dimensions: the whole has the largest."""
    if len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], SparseTensorValue):
        return _joined_sparse(parts)
    if isinstance(parts[0], RaggedTensorValue):
        return _joined_ragged(parts)
    return np.concatenate(parts)


def _starts(counts: Any) -> np.ndarray[Any, Any]:
    """Where each part begins, of their sizes."""
    return np.cumsum([0, *counts[:-1]])


def _joined_sparse(parts: Sequence[Any]) -> SparseTensorValue:
    shapes = np.stack([part.dense_shape for part in parts])
    moved = []
    for part, start in zip(parts, _starts(shapes[:, 0]), strict=True):
        indices = part.indices.copy()
        indices[:, 0] += start
        moved.append(indices)
    values = np.concatenate([part.values for part in parts])
    return SparseTensorValue(np.concatenate(moved), values, np.array([shapes[:, 0].sum(), *shapes[:, 1:].max(axis=0)]))


def _joined_ragged(parts: Sequence[Any]) -> RaggedTensorValue:
    starts = _starts([part.row_splits[-1] for part in parts])
    splits = [part.row_splits[1:] + start for part, start in zip(parts, starts, strict=True)]
    row_splits = np.concatenate([parts[0].row_splits[:1], *splits]).astype(parts[0].row_splits.dtype)
    return RaggedTensorValue(joined([part.values for part in parts]), row_splits)
