"""`tf.edit_distance`: how many symbols must be put in, taken out or changed to make one sequence of another. TF 1.15."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.errors import invalid
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.graph.sparse_tensor import SparseTensor, is_sparse
from tfexp.graph.tensor import Tensor
from tfexp.ops.shape_rules import sparse_rank
from tfexp.ops.sparse_layout import check_sparse

Array = np.ndarray

edit_distance_op = define_op(
    "EditDistance(hypothesis_indices: int64, hypothesis_values: T, hypothesis_shape: int64, truth_indices: int64, "
    "truth_values: T, truth_shape: int64) -> (output: float) {normalize: bool = true; T: type}"
).not_differentiable()


@edit_distance_op.shape
def _(
    hypothesis_indices: InputShape,
    hypothesis_values: InputShape,
    hypothesis_shape: InputShape,
    truth_indices: InputShape,
    truth_values: InputShape,
    truth_shape: InputShape,
    *,
    normalize: bool,
) -> TensorShape:
    sparse_rank(hypothesis_indices, hypothesis_values, hypothesis_shape)
    sparse_rank(truth_indices, truth_values, truth_shape)
    if hypothesis_shape.value is None or truth_shape.value is None:
        return TensorShape(None)
    if len(hypothesis_shape.value) != len(truth_shape.value):
        raise ValueError(
            "Expected matching hypothesis and truth shapes; got: "
            f"{len(hypothesis_shape.value)} and {len(truth_shape.value)} dimensions"
        )
    return TensorShape(np.maximum(hypothesis_shape.value, truth_shape.value)[:-1].tolist())


@edit_distance_op.kernel("CPU")
def _(
    ctx: Any,
    hypothesis_indices: Array,
    hypothesis_values: Array,
    hypothesis_shape: Array,
    truth_indices: Array,
    truth_values: Array,
    truth_shape: Array,
    *,
    normalize: bool,
) -> Array:
    check_sparse(hypothesis_indices, hypothesis_values, hypothesis_shape)
    check_sparse(truth_indices, truth_values, truth_shape)
    if len(hypothesis_shape) != len(truth_shape):
        raise invalid(
            f"Expected matching hypothesis and truth ranks, got {dims_text(hypothesis_shape)} and {dims_text(truth_shape)}"
        )
    if not len(truth_shape):
        raise invalid("Sequences have at least one dimension, got shapes [] and []")
    dims = tuple(np.maximum(hypothesis_shape, truth_shape)[:-1].tolist())
    values = [hypothesis_values, truth_values]
    if hypothesis_values.dtype == object:
        _, numbers = np.unique(np.concatenate(values), return_inverse=True)
        values = np.split(numbers.reshape(-1), [len(hypothesis_values)])
    ours, our_sizes = _sequences(hypothesis_indices, values[0], dims, "hypothesis")
    theirs, their_sizes = _sequences(truth_indices, values[1], dims, "truth")
    distances = _levenshtein(ours, our_sizes, theirs, their_sizes).astype(np.float32)
    if normalize:
        with np.errstate(divide="ignore", invalid="ignore"):
            distances = np.where(distances == 0, np.float32(0), distances / their_sizes.astype(np.float32))
    return distances.reshape(dims)


def _sequences(indices: Array, values: Array, dims: tuple[int, ...], what: str) -> tuple[Array, Array]:
    """(a row of symbols for each sequence, in the order in which they stand; their numbers)."""
    groups = indices[:, :-1]
    if ((groups < 0) | (groups >= np.array(dims, np.int64))).any():
        row = int(np.argmax(((groups < 0) | (groups >= np.array(dims, np.int64))).any(axis=1)))
        raise invalid(f"{what}_indices[{row}] = {dims_text(indices[row])} is outside of {dims_text(dims)} sequences")
    count = int(np.prod(dims, dtype=np.int64))
    sequence = np.ravel_multi_index(tuple(groups.T), dims) if dims else np.zeros(len(indices), np.int64)
    sizes = np.bincount(sequence, minlength=count)
    order = np.argsort(sequence, kind="stable")
    position = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    rows = np.zeros((count, int(sizes.max(initial=0))), values.dtype)
    rows[sequence[order], position] = values[order]
    return rows, sizes


def _levenshtein(ours: Array, our_sizes: Array, theirs: Array, their_sizes: Array) -> Array:
    """The distances of each pair of rows, all at once: one step for each symbol of the longest of `ours`.

    costs[:, j] is what it takes to make the first j symbols of theirs of as many of ours as there were steps. That a symbol
    put in costs one more than what is left of it makes a running minimum once the position is taken off.
    """
    places = np.arange(theirs.shape[1] + 1)
    costs = np.repeat(places[np.newaxis], len(ours), axis=0)
    result = their_sizes.copy()
    for step in range(ours.shape[1]):
        changed = costs[:, :-1] + (ours[:, step : step + 1] != theirs)
        best = costs + 1
        np.minimum(best[:, 1:], changed, out=best[:, 1:])
        costs = np.minimum.accumulate(best - places, axis=1) + places
        ends = our_sizes == step + 1
        result[ends] = costs[ends, their_sizes[ends]]
    return result


def edit_distance(hypothesis: Any, truth: Any, normalize: bool = True, name: str = "edit_distance") -> Tensor:
    """The Levenshtein distances of sequences along the last dimension; `normalize` divides by the truth's lengths.

    An empty truth is infinitely far from anything else. TypeError for what is not sparse. Source: `tf.edit_distance`.
    """
    for what, x in (("Hypothesis", hypothesis), ("Truth", truth)):
        if not is_sparse(x):
            raise TypeError(f"{what} must be a SparseTensor.")
    ours, theirs = SparseTensor.from_value(hypothesis), SparseTensor.from_value(truth)
    result: Tensor = edit_distance_op(*ours.parts, *theirs.parts, normalize=normalize, name=name)
    return result
