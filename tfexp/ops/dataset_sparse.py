"""Batches of elements of different shapes as sparse tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.errors import DataLossError, InvalidArgumentError
from tfexp.core.shape import dims_text
from tfexp.ops.dataset import Chain, Dataset, DatasetIterator, Element, FromRecipe, as_count, define_dataset
from tfexp.ops.sparse_batches import Parts
from tfexp.ops.sparse_serial import store

dense_to_sparse_batch_dataset = define_dataset(
    "DenseToSparseBatchDataset(input_dataset: variant, batch_size: int64, row_shape: int64) -> (handle: variant) "
    "{output_types: list(type) >= 1; output_shapes: list(shape) >= 1}",
    any_shape=["row_shape"],
)


class _DenseToSparse(Chain):
    """`shape`: the dense shape of a row; -1 stands for the largest size in the batch."""

    def __init__(self, source: DatasetIterator, size: int, shape: np.ndarray):
        super().__init__(source)
        self.blocks = False
        self._size, self._shape = size, shape

    def next(self) -> Element | None:
        elements: list[np.ndarray] = []
        while len(elements) < self._size and (element := self.source.next()) is not None:
            elements.append(self._checked(np.asarray(element[0])))
        if not elements:
            return None
        shapes = np.array([array.shape for array in elements], np.int64)
        dims = np.where(self._shape < 0, shapes.max(axis=0, initial=0), self._shape)
        places = [np.indices(array.shape, np.int64).reshape(array.ndim, -1).T for array in elements]
        numbers = np.repeat(np.arange(len(elements)), [array.size for array in elements])
        indices = np.concatenate([numbers[:, None], np.concatenate(places)], axis=1)
        values = np.concatenate([array.ravel() for array in elements])
        parts = Parts(indices, values, np.concatenate([[len(elements)], dims]).astype(np.int64))
        return [store([parts], dtypes.as_dtype(values.dtype), dtypes.variant)[0]]

    def _checked(self, array: np.ndarray) -> np.ndarray:
        if array.ndim != len(self._shape):
            raise InvalidArgumentError(
                None,
                None,
                f"Input element had shape ({dims_text(array.shape)}) that is incompatible with the row shape "
                f"({dims_text(self._shape)}).",
            )
        if ((self._shape >= 0) & (np.array(array.shape) > self._shape)).any():
            raise DataLossError(
                None,
                None,
                f"Input element had shape ({dims_text(array.shape)}) that is larger than the row shape "
                f"({dims_text(self._shape)}).",
            )
        return array


@dense_to_sparse_batch_dataset.kernel("CPU")
def _(ctx: Any, dataset: Dataset, batch_size: Any, row_shape: Any) -> Dataset:
    size, shape = as_count(batch_size), np.array(row_shape, np.int64)
    if size <= 0:
        raise InvalidArgumentError(None, None, "Batch size must be greater than zero.")
    if shape.ndim != 1:
        raise InvalidArgumentError(None, None, "row_shape must be a vector")
    if (shape < -1).any():
        raise InvalidArgumentError(None, None, f"Dimension {int(shape.min())} of row_shape must be >= -1")
    counted = dataset.cardinality
    return FromRecipe(
        lambda source: _DenseToSparse(source.iterator(), size, shape),
        dataset,
        cardinality=counted if counted < 0 else -(-counted // size),
    )
