"""Transformations of data sets that `tf.data.experimental` did not take over. Source: `tf.contrib.data`, TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.shape import TensorShape, as_shape
from tfexp.data.dataset import Dataset, mapped
from tfexp.data.experimental import make_batched_features_dataset, parallel_interleave
from tfexp.data.grouping import Reducer
from tfexp.data.readers import TFRecordDataset
from tfexp.data.structure import Component, flatten, flatten_up_to, map_leaves, pack_as, spec_of
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import control_dependencies
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import rank
from tfexp.ops.array import shape as array_shape
from tfexp.ops.array_identity import identity
from tfexp.ops.check import Assert
from tfexp.ops.comparison import equal
from tfexp.ops.dataset_lmdb import lmdb_dataset
from tfexp.ops.dataset_windows import sliding_window_dataset
from tfexp.ops.logical import logical_or
from tfexp.ops.reduce import reduce_all

Transformation = Callable[[Dataset], Dataset]


class LMDBDataset(Dataset):
    """The (key, value) of each pair of LMDB files, one file after another. `filenames`: strings of any shape."""

    def __init__(self, filenames: Any):
        element = (Component(dtypes.string, TensorShape([])), Component(dtypes.string, TensorShape([])))
        names = convert_to_tensor(filenames, dtypes.string, name="filenames")
        super().__init__(lmdb_dataset(names, **spec_of(element)), element)


def batch_and_drop_remainder(batch_size: Any) -> Transformation:
    """Batches of that size alone."""
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


def padded_batch_and_drop_remainder(batch_size: Any, padded_shapes: Any, padding_values: Any = None) -> Transformation:
    """Padded batches of that size alone."""
    return lambda dataset: dataset.padded_batch(batch_size, padded_shapes, padding_values, drop_remainder=True)


def sloppy_interleave(map_func: Callable[..., Any], cycle_length: Any, block_length: Any = 1) -> Transformation:
    """`parallel_interleave` whose elements may come in any order."""
    return parallel_interleave(map_func, cycle_length, block_length, sloppy=True)


def sliding_window_batch(
    window_size: Any, stride: Any = None, window_shift: Any = None, window_stride: Any = 1
) -> Transformation:
    """Batches of `window_size` elements, `window_stride` apart, which begin `window_shift` (1) elements after each other.

    `stride` is an older name of `window_shift`; ValueError where both are given.
    """
    if stride is not None and window_shift is not None:
        raise ValueError("Cannot specify both `stride` and `window_shift`")
    given = [shift for shift in (stride, window_shift) if shift is not None]
    numbers = {"window_size": window_size, "window_shift": given[0] if given else 1, "window_stride": window_stride}

    def apply(dataset: Dataset) -> Dataset:
        element = map_leaves(lambda component: component.batch(None), dataset._element)
        tensors = [convert_to_tensor(value, dtype=dtypes.int64, name=name) for name, value in numbers.items()]
        return Dataset(sliding_window_dataset(dataset._variant_tensor, *tensors, **spec_of(element)), element, dataset)

    return apply


def assert_element_shape(expected_shapes: Any) -> Transformation:
    """The elements, which have to have these shapes: InvalidArgumentError, when it runs, for one that has not.

    ValueError where that is known before, or `expected_shapes` are of another structure.
    """

    def apply(dataset: Dataset) -> Dataset:
        expected = [as_shape(shape) for shape in flatten_up_to(dataset._element, expected_shapes)]

        def check(*parts: Any) -> Any:
            element = parts if len(parts) > 1 else parts[0]
            checked = [_of_shape(tensor, shape) for tensor, shape in zip(flatten(element), expected, strict=True)]
            return pack_as(element, checked)

        return mapped(dataset, check)

    return apply


def _of_shape(tensor: Tensor, expected: TensorShape) -> Tensor:
    known = tensor.shape.merge_with(expected)
    if expected.rank is not None and not tensor.shape.is_fully_defined():
        sizes = np.array([-1 if size is None else size for size in expected.as_list()], np.int32)
        found = array_shape(tensor)
        told = [f"Wrong shape for {tensor.name} [expected] [actual].", sizes, found]
        with control_dependencies([Assert(equal(rank(tensor), len(sizes)), told)]):
            fits = reduce_all(logical_or(equal(found, sizes), equal(sizes, -1)))
        with control_dependencies([Assert(fits, told)]):
            tensor = identity(tensor)
    tensor.set_shape(known)
    return tensor


def read_batch_features(
    file_pattern: Any,
    batch_size: Any,
    features: Any,
    reader: Any = TFRecordDataset,
    reader_args: Any = None,
    randomize_input: bool = True,
    num_epochs: int | None = None,
    capacity: int = 10000,
) -> Any:
    """The tensors of the next batch of parsed `tf.Example`s of files: a dict by the names of `features`."""
    dataset = make_batched_features_dataset(
        file_pattern,
        batch_size,
        features,
        reader=reader,
        reader_args=reader_args,
        shuffle=randomize_input,
        num_epochs=num_epochs,
        shuffle_buffer_size=capacity,
    )
    return dataset.make_one_shot_iterator().get_next()


def reduce_dataset(dataset: Dataset, reducer: Reducer) -> Any:
    """The state of `reducer` after all elements, as tensors; TypeError for what is no data set.

    As in 1.15, the reducer's `finalize_func` is not called.
    """
    if not isinstance(dataset, Dataset):
        raise TypeError("`dataset` must be a `tf.data.Dataset` object.")
    return dataset.reduce(reducer.init_func(np.int64(0)), reducer.reduce_func)
