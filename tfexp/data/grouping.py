"""Transformations that put elements with the same key together. Source: `tf.data.experimental`, TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.shape import TensorShape, as_shape
from tfexp.data.dataset import DATASET, Dataset, traced
from tfexp.data.functions import DatasetFunction, stateful_function
from tfexp.data.specs import spec_structure
from tfexp.data.structure import Component, map_leaves, spec_of
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.scopes import control_dependencies
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_identity import identity
from tfexp.ops.array_mask import where
from tfexp.ops.cast import cast
from tfexp.ops.check_compare import assert_less
from tfexp.ops.comparison import greater_equal, less
from tfexp.ops.dataset_groups import experimental_group_by_reducer_dataset, group_by_window_dataset
from tfexp.ops.logical import logical_and
from tfexp.ops.reduce import reduce_min

Transformation = Callable[[Dataset], Dataset]

_KEY = Component(dtypes.int64, TensorShape([]))


def group_by_window(
    key_func: Callable[..., Any],
    reduce_func: Callable[[Any, Dataset], Dataset],
    window_size: Any = None,
    window_size_func: Callable[[Any], Any] | None = None,
) -> Transformation:
    """The elements of the data sets that `reduce_func(key, window)` makes of windows of elements of equal keys.

    A window has `window_size` elements, or as many as `window_size_func(key)` says; at the end of the data, fewer.
    ValueError unless exactly one of the two is given; TypeError when `reduce_func` gives no data set.
    """
    if (window_size is None) == (window_size_func is None):
        raise ValueError("Must pass either window_size or window_size_func.")
    if window_size_func is None:

        def constant_window_func(key: Tensor) -> Tensor:
            return convert_to_tensor(window_size, dtype=dtypes.int64)

        window_size_func = constant_window_func

    def apply(dataset: Dataset) -> Dataset:
        return _grouped(dataset, key_func, reduce_func, window_size_func)

    return apply


def _grouped(dataset: Dataset, key_func: Any, reduce_func: Any, window_size_func: Any) -> Dataset:
    def key_func_wrapper(*args: Any) -> Tensor:
        return convert_to_tensor(key_func(*args), dtype=dtypes.int64)

    def window_size_func_wrapper(key: Tensor) -> Tensor:
        return convert_to_tensor(window_size_func(key), dtype=dtypes.int64)

    label = "Dataset.group_by_window()"
    key = traced(key_func_wrapper, label, dataset._element)
    _check_scalar(key, "key_func", "scalar tensor")
    window = Component(dtypes.variant, TensorShape([]), dataset._element, DATASET)
    reduce = traced(reduce_func, label, (_KEY, window))
    if not (isinstance(reduce.result, Component) and reduce.result.kind is DATASET):
        raise TypeError(f"`reduce_func` must return a `Dataset` object. Got {spec_structure(reduce.result)}.")
    size = traced(window_size_func_wrapper, label, _KEY)
    _check_scalar(size, "window_size_func", "scalar tensor")
    element = reduce.result.inner
    variant = group_by_window_dataset(
        dataset._variant_tensor,
        key.captured,
        reduce.captured,
        size.captured,
        key_func=key.named,
        reduce_func=reduce.named,
        window_size_func=size.named,
        **spec_of(element),
    )
    return Dataset(variant, element, dataset)


def _check_scalar(function: DatasetFunction, name: str, what: str) -> None:
    result = function.result
    if not (isinstance(result, Component) and result.dtype is dtypes.int64 and result.shape.is_compatible_with([])):
        types, shapes = map_leaves(lambda c: c.dtype, result), map_leaves(lambda c: c.shape, result)
        raise ValueError(f"`{name}` must return a single tf.int64 {what}. Got type={types} and shape={shapes}")


class Reducer:
    """How the elements of a key are reduced: `init_func(key)`, `reduce_func(state, element)`, `finalize_func(state)`."""

    def __init__(self, init_func: Any, reduce_func: Any, finalize_func: Any):
        self._init_func = init_func
        self._reduce_func = reduce_func
        self._finalize_func = finalize_func

    @property
    def init_func(self) -> Any:
        return self._init_func

    @property
    def reduce_func(self) -> Any:
        return self._reduce_func

    @property
    def finalize_func(self) -> Any:
        return self._finalize_func


def group_by_reducer(key_func: Callable[..., Any], reducer: Reducer) -> Transformation:
    """One element for each key, in the order of the keys: what `reducer` makes of the elements with that key."""

    def apply(dataset: Dataset) -> Dataset:
        label = "tf.data.experimental.group_by_reducer()"

        key = traced(key_func, label, dataset._element)
        _check_scalar(key, "key_func", "tensor")
        init = traced(reducer.init_func, label, _KEY)
        reduce = stateful_function(reducer.reduce_func, label, init.result, dataset._element)
        finalize = traced(reducer.finalize_func, label, reduce.result)
        variant = experimental_group_by_reducer_dataset(
            dataset._variant_tensor,
            key.captured,
            init.captured,
            reduce.captured,
            finalize.captured,
            key_func=key.named,
            init_func=init.named,
            reduce_func=reduce.named,
            finalize_func=finalize.named,
            **spec_of(finalize.result),
        )
        return Dataset(variant, finalize.result, dataset)

    return apply


def bucket_by_sequence_length(
    element_length_func: Callable[..., Any],
    bucket_boundaries: Sequence[int],
    bucket_batch_sizes: Sequence[int],
    padded_shapes: Any = None,
    padding_values: Any = None,
    pad_to_bucket_boundary: bool = False,
    no_padding: bool = False,
    drop_remainder: bool = False,
) -> Transformation:
    """Batches of elements of similar length: bucket i has those below boundary i, in batches of the i-th size.

    Elements are padded to the longest of the batch, with `pad_to_bucket_boundary` to the boundary less one, with
    `no_padding` not at all. ValueError unless there is one batch size more than boundaries.
    """
    if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
        raise ValueError(
            "len(bucket_batch_sizes) must equal len(bucket_boundaries) + 1, but they are "
            f"{len(bucket_batch_sizes)} and {len(bucket_boundaries)}"
        )
    limits = list(bucket_boundaries)
    lowest, highest = np.iinfo(np.int32).min, np.iinfo(np.int32).max

    def element_to_bucket_id(*args: Any) -> Tensor:
        length = element_length_func(*args)
        inside = logical_and(less(length, [*limits, highest]), greater_equal(length, [lowest, *limits]))
        return reduce_min(where(inside))

    def apply(dataset: Dataset) -> Dataset:
        sizes = constant(list(bucket_batch_sizes), dtype=dtypes.int64)

        def window_size_fn(bucket_id: Tensor) -> Tensor:
            return sizes[bucket_id]

        def batching_fn(bucket_id: Tensor, grouped: Dataset) -> Dataset:
            size = window_size_fn(bucket_id)
            if no_padding:
                return grouped.batch(size, drop_remainder=drop_remainder)
            filler: Any = None
            if pad_to_bucket_boundary:
                message = "When pad_to_bucket_boundary=True, elements must have length < max(bucket_boundaries)."
                last = constant(len(bucket_batch_sizes) - 1, dtype=dtypes.int64)
                with control_dependencies([assert_less(bucket_id, last, message=message)]):
                    bucket_id = identity(bucket_id)
                filler = constant(limits, dtype=dtypes.int64)[bucket_id] - 1
            shapes = grouped.output_shapes if padded_shapes is None else padded_shapes
            shapes = map_leaves(lambda c, shape: _filled(shape, filler), grouped._element, shapes)
            return grouped.padded_batch(size, shapes, padding_values, drop_remainder=drop_remainder)

        return _grouped(dataset, element_to_bucket_id, batching_fn, window_size_fn)

    return apply


def _filled(shape: Any, filler: Tensor | None) -> Any:
    """A padded shape with the filler, if there is one, for what is unknown."""
    known = as_shape(shape).as_list() if isinstance(shape, (TensorShape, list, tuple)) else None
    if known is None:
        return shape
    if filler is None:
        return [-1 if size is None else size for size in known]
    if None not in known:
        return known
    sizes = [cast(filler, dtypes.int64) if size is None else constant(size, dtype=dtypes.int64) for size in known]
    return convert_to_tensor(sizes, dtype=dtypes.int64)
