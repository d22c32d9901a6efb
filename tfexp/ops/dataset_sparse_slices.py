"""The data set of the slices of a sparse tensor: SparseTensorSliceDataset."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.dtypes import DType
from tfexp.core.errors import UnimplementedError
from tfexp.core.shape import InputShape, TensorShape
from tfexp.ops.dataset import Dataset, DatasetIterator, Element, FromRecipe, State, define_dataset
from tfexp.ops.shape_rules import with_rank
from tfexp.ops.sparse_layout import check_sparse

Array = np.ndarray

sparse_tensor_slice_dataset = define_dataset(
    "SparseTensorSliceDataset(indices: int64, values: Tvalues, dense_shape: int64) -> (handle: variant) {Tvalues: type} "
    "#stateful"
)


@sparse_tensor_slice_dataset.shape
def _(indices: InputShape, values: InputShape, dense_shape: InputShape) -> TensorShape:
    with_rank(indices, 2)
    with_rank(values, 1)
    with_rank(dense_shape, 1)
    return TensorShape([])


class _Slices(DatasetIterator):
    """(indices, values, dense shape) of one slice along the first dimension after another."""

    def __init__(self, indices: Array, values: Array, dims: Array, bounds: Array):
        self._indices, self._values, self._dims, self._bounds = indices, values, dims, bounds
        self._position = 0

    def next(self) -> Element | None:
        number = self._position
        if number == len(self._bounds) - 1:
            return None
        self._position = number + 1
        begin, end = self._bounds[number : number + 2]
        return [self._indices[begin:end, 1:], self._values[begin:end], self._dims[1:]]

    def save(self) -> State:
        return self._position

    def restore(self, state: State) -> None:
        self._position = state


@sparse_tensor_slice_dataset.kernel("CPU")
def _(ctx: Any, indices: Array, values: Array, dense_shape: Array, *, Tvalues: DType) -> Dataset:
    check_sparse(indices, values, dense_shape)
    parts = np.array(indices), np.array(values), np.array(dense_shape)
    rows, count = parts[0][:, 0], int(parts[2][0])
    if (np.diff(rows) < 0).any():
        i = int(np.argmax(np.diff(rows) < 0)) + 1
        raise UnimplementedError(
            None,
            None,
            "The SparseTensor must be ordered in the batch dimension; handling arbitrarily ordered input is not currently "
            f"supported: row {rows[i]} comes after row {rows[i - 1]}. `tf.sparse.reorder` puts it in order",
        )
    bounds = np.searchsorted(rows, np.arange(count + 1))
    return FromRecipe(lambda: _Slices(*parts, bounds), cardinality=count)
