"""Transformations that only `tf.contrib.data` had, for `Dataset.apply`. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.contributed.shape_checks import with_shape
from tfexp.core import nest
from tfexp.core.shape import as_shape
from tfexp.data.dataset import Dataset
from tfexp.data.grouping import Reducer
from tfexp.data.interleaving import parallel_interleave

Transformation = Callable[[Dataset], Dataset]


def batch_and_drop_remainder(batch_size: Any) -> Transformation:
    """`Dataset.batch` without a last batch that is smaller."""
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


def padded_batch_and_drop_remainder(batch_size: Any, padded_shapes: Any, padding_values: Any = None) -> Transformation:
    """`Dataset.padded_batch` without a last batch that is smaller."""
    return lambda dataset: dataset.padded_batch(batch_size, padded_shapes, padding_values, drop_remainder=True)


def sliding_window_batch(
    window_size: Any, stride: Any = None, window_shift: Any = None, window_stride: Any = 1
) -> Transformation:
    """Batches of `window_size` elements that are `window_stride` apart, each `window_shift` (1) after the one before.

    stride: the older name of window_shift; ValueError for both.
    """
    if stride is not None and window_shift is not None:
        raise ValueError("Cannot specify both `stride` and `window_shift`")
    shift = next((given for given in (window_shift, stride) if given is not None), 1)

    def batched(*parts: Any) -> Dataset:
        return Dataset.zip(nest.map_structure(lambda part: part.batch(window_size), _whole(parts)))

    return lambda dataset: dataset.window(window_size, shift, window_stride, drop_remainder=True).flat_map(batched)


def sloppy_interleave(map_func: Callable[..., Dataset], cycle_length: Any, block_length: Any = 1) -> Transformation:
    """`tf.data.experimental.parallel_interleave` of elements in whatever order they are there."""
    return parallel_interleave(map_func, cycle_length, block_length, sloppy=True)


def assert_element_shape(expected_shapes: Any) -> Transformation:
    """Elements known to have these shapes, which are checked when they come. ValueError where they are known not to."""

    def checked(*parts: Any) -> Any:
        element = _whole(parts)
        tensors, shapes = nest.flatten(element), [as_shape(shape) for shape in nest.flatten(expected_shapes)]
        for tensor, shape in zip(tensors, shapes, strict=True):
            tensor.get_shape().assert_is_compatible_with(shape)
        return nest.pack_sequence_as(element, [with_shape(s, t) for s, t in zip(shapes, tensors, strict=True)])

    return lambda dataset: dataset.map(checked)


def reduce_dataset(dataset: Dataset, reducer: Reducer) -> Any:
    """A `Reducer`'s state after all elements, before `finalize_func`. TypeError for what is no dataset."""
    if not isinstance(dataset, Dataset):
        raise TypeError("`dataset` must be a `tf.data.Dataset` object.")
    return dataset.reduce(reducer.init_func(0), reducer.reduce_func)


def _whole(parts: tuple[Any, ...]) -> Any:
    """An element, of what functions of elements are called with."""
    return parts[0] if len(parts) == 1 else parts
