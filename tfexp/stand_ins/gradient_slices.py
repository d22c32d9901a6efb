"""Gradients that are `IndexedSlices`, as `tensorflow.python.eager.backprop` adds them. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.graph.convert import IndexedSlices
from tfexp.graph.gradient_sums import add_slices
from tfexp.ops.array_gather import gather


def flatten_nested_indexed_slices(grad: IndexedSlices) -> IndexedSlices:
    """Slices whose values are slices again, as slices of the whole with dense values."""
    values = grad.values
    if not isinstance(values, IndexedSlices):
        return grad
    inner = flatten_nested_indexed_slices(values)
    return IndexedSlices(inner.values, gather(grad.indices, inner.indices), inner.dense_shape)


def aggregate_indexed_slices_gradients(grads: Sequence[Any]) -> Any:
    """The sum: slices one behind the other, or dense where one of them is; None of nothing. None adds nothing."""
    given = [grad for grad in grads if grad is not None]
    if len(given) < 2:
        return given[0] if given else None
    return add_slices([flatten_nested_indexed_slices(grad) if isinstance(grad, IndexedSlices) else grad for grad in given])
