"""Numeric columns, as they are or in buckets. Source: TF 1.15."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType, as_dtype
from tfexp.core.shape import TensorShape
from tfexp.feature_column.column import CategoricalColumn, DenseColumn, Features, SparseIds
from tfexp.feature_column.serialization import in_configs
from tfexp.graph.sparse_tensor import SparseTensor, is_sparse
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import expand_dims, reshape, shape
from tfexp.ops.array_fill import one_hot
from tfexp.ops.array_fill import range as range_
from tfexp.ops.array_join import stack
from tfexp.ops.array_order import transpose
from tfexp.ops.array_tile import tile
from tfexp.ops.cast import cast
from tfexp.ops.counting import bucketize_op
from tfexp.ops.parsing import FixedLenFeature


class _Numeric(NamedTuple):
    key: str
    shape: tuple[int, ...]
    default_value: Any
    dtype: Any
    normalizer_fn: Callable[[Any], Any] | None


@in_configs
class NumericColumn(_Numeric, DenseColumn):
    """Numbers of a feature, as float32."""

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.key

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape(self.shape)

    def spec(self) -> dict[str, Any]:
        return {self.key: FixedLenFeature(self.shape, self.dtype, self.default_value)}

    def transformed(self, features: Features) -> Any:
        found = features.get(self.key)
        if is_sparse(found):
            raise ValueError(
                "The corresponding Tensor of numerical column must be a Tensor. SparseTensor is not supported. "
                f"key: {self.key}"
            )
        if self.normalizer_fn is not None:
            found = self.normalizer_fn(found)
        return cast(found, dtypes.float32)

    def dense(self, features: Features, trainable: bool = True) -> Tensor:
        return features.get(self)  # type: ignore[no-any-return]


def numeric_column(
    key: str, shape: Any = (1,), default_value: Any = None, dtype: Any = dtypes.float32, normalizer_fn: Any = None
) -> NumericColumn:
    """Numbers of a shape; `normalizer_fn(tensor)` may change them; `default_value` is for parsing.

    ValueError for a shape with 0, a type that is no number, a default of another shape; TypeError for sizes that are no
    integers, a default of another type. Source:
    `tf.feature_column.numeric_column`.
    """
    sizes = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    for size in sizes:
        if not isinstance(size, (int, np.integer)):
            raise TypeError(f"shape dimensions must be integer. shape: {sizes}, key: {key}")
        if size < 1:
            raise ValueError(f"shape dimensions must be greater than 0. shape: {sizes}, key: {key}")
    kind = as_dtype(dtype)
    if not (kind.is_integer or kind.is_floating):
        raise ValueError(f"dtype must be convertible to float. dtype: {kind}, key: {key}")
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError(f"normalizer_fn must be a callable. Given: {normalizer_fn}")
    if not isinstance(key, str):
        raise ValueError(f"key must be a string. Got: type {type(key)}. Given key: {key}.")
    return NumericColumn(key, sizes, check_default_value(sizes, default_value, kind, key), kind, normalizer_fn)


def check_default_value(sizes: tuple[int, ...], given: Any, kind: DType, key: str) -> Any:
    """A number for each element, of one for all or of one each. TypeError for another type, ValueError for another shape."""
    if given is None:
        return None
    wrong_shape = (
        f"The shape of default_value must be equal to given shape. default_value: {given}, shape: {sizes}, key: {key}"
    )
    try:
        values = np.asarray(given)
    except ValueError as error:  # lists of several lengths
        raise ValueError(wrong_shape) from error
    if values.dtype.kind not in ("iu" if kind.is_integer else "iuf"):
        raise TypeError(f"default_value must be compatible with dtype. default_value: {given}, dtype: {kind}, key: {key}")
    if values.shape not in ((), sizes):
        raise ValueError(wrong_shape)
    return _tuples(np.broadcast_to(values, sizes).tolist())


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


class _Bucketized(NamedTuple):
    source_column: NumericColumn
    boundaries: tuple[float, ...]


@in_configs
class BucketizedColumn(_Bucketized, DenseColumn, CategoricalColumn):
    """In which bucket each number is: one-hot as a dense column, ids as a categorical one."""

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"{self.source_column.name}_bucketized"

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape([*self.source_column.shape, len(self.boundaries) + 1])

    @property
    def num_buckets(self) -> int:
        return (len(self.boundaries) + 1) * int(np.prod(self.source_column.shape, dtype=np.int64))

    def spec(self) -> dict[str, Any]:
        return self.source_column.spec()

    def transformed(self, features: Features) -> Any:
        return bucketize_op(features.get(self.source_column), boundaries=list(self.boundaries))

    def dense(self, features: Features, trainable: bool = True) -> Tensor:
        depth = len(self.boundaries) + 1
        return one_hot(indices=cast(features.get(self), dtypes.int64), depth=depth, on_value=1.0, off_value=0.0)

    def ids(self, features: Features) -> SparseIds:
        """Each element of the source has buckets of its own, one after the other."""
        found: Any = features.get(self)
        rows: Any = shape(found)[0]  # type: ignore[index]
        count = int(np.prod(self.source_column.shape, dtype=np.int64))
        row = reshape(tile(expand_dims(range_(0, rows), 1), [1, count]), (-1,))
        column: Any = tile(range_(0, count), [rows])
        values = reshape(found, (-1,)) + (len(self.boundaries) + 1) * column  # type: ignore[operator]
        places = cast(transpose(stack((row, column))), dtypes.int64)
        return SparseIds(SparseTensor(places, values, cast(stack([rows, count]), dtypes.int64)), None)


def bucketized_column(source_column: NumericColumn, boundaries: Sequence[float]) -> BucketizedColumn:
    """Numbers by which of the boundaries, sorted, they are between. ValueError for others, or for more than one dimension.

    Source: `tf.feature_column.bucketized_column`.
    """
    if not isinstance(source_column, NumericColumn):
        raise ValueError(f"source_column must be a column generated with numeric_column(). Given: {source_column}")
    if len(source_column.shape) > 1:
        raise ValueError(f"source_column must be one-dimensional column. Given: {source_column}")
    if not boundaries:
        raise ValueError("boundaries must not be empty.")
    if not isinstance(boundaries, (list, tuple)) or any(a >= b for a, b in itertools.pairwise(boundaries)):
        raise ValueError("boundaries must be a sorted list.")
    return BucketizedColumn(source_column, tuple(boundaries))
