"""Sparse tensors as single elements: one after the other into a batch, and a batch into as many. For what stores them.

Source: what `SerializeManySparse`, `DeserializeSparse` and the sparse tensors map of TF 1.15 have in common.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tfexp.core.errors import invalid
from tfexp.core.shape import dims_text
from tfexp.ops.sparse_layout import check_sparse

Array = np.ndarray


class Parts(NamedTuple):
    """A sparse tensor outside of any graph."""

    indices: Array
    values: Array
    dims: Array


def apart(indices: Array, values: Array, dims: Array) -> list[Parts]:
    """The sparse tensors along the first dimension. InvalidArgumentError for a vector, or indices that are not sorted."""
    check_sparse(indices, values, dims)
    if len(dims) < 2:
        raise invalid(f"Rank of input SparseTensor should be > 1, but saw rank: {len(dims)}")
    rows = indices[:, 0]
    if ((rows < 0) | (rows >= dims[0])).any():
        i = int(np.argmax((rows < 0) | (rows >= dims[0])))
        raise invalid(f"Received unexpected batch index: indices[{i},0] = {rows[i]} is not in [0, {dims[0]})")
    if (np.diff(rows) < 0).any():
        i = int(np.argmax(np.diff(rows) < 0)) + 1
        raise invalid(
            f"indices[{i}] = {dims_text(indices[i])} is out of order. Many sparse ops require sorted indices.\n"
            "    Use `tf.sparse.reorder` to create a correctly ordered copy."
        )
    cuts = np.cumsum(np.bincount(rows, minlength=dims[0]))[:-1]
    places, elements = np.split(indices[:, 1:], cuts), np.split(values, cuts)
    if not dims[0]:
        return []
    return [Parts(place, element, dims[1:]) for place, element in zip(places, elements, strict=True)]


def together(parts: list[Parts], outer: tuple[int, ...], of_map: bool = False) -> list[Array]:
    """(indices, values, dims) of the batch of shape `outer`; its other sizes are the largest of any.

    InvalidArgumentError when they differ in rank; that of those `of_map` counts the batch.
    """
    if not outer:
        return [parts[0].indices.copy(), parts[0].values.copy(), parts[0].dims.copy()]
    ranks = np.array([len(part.dims) for part in parts])
    if (ranks != ranks[0]).any():
        i = int(np.argmax(ranks != ranks[0]))
        what, first, other = ("rank", ranks[0] + 1, ranks[i] + 1) if of_map else ("shape", ranks[0], ranks[i])
        raise invalid(
            f"Inconsistent {what} across SparseTensors: rank prior to SparseTensor[{i}] was: {first} but rank of "
            f"SparseTensor[{i}] is: {other}"
        )
    counts = [len(part.values) for part in parts]
    number = np.repeat(np.arange(len(parts)), counts)
    inner = np.concatenate([part.indices for part in parts])
    prefix = np.stack(np.unravel_index(number, outer), axis=1)
    dims = np.max([part.dims for part in parts], axis=0)
    return [
        np.concatenate([prefix.astype(np.int64), inner], axis=1),
        np.concatenate([part.values for part in parts]),
        np.concatenate([np.array(outer, np.int64), dims]),
    ]
