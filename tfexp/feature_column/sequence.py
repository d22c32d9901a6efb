"""Columns of sequences: for each example as many ids, or numbers, as it has steps. Source: TF 1.15.

What makes them dense is [batch, time, *shape], as long as the longest, with each example's length beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import as_dtype
from tfexp.core.shape import TensorShape
from tfexp.feature_column.categorical import (
    categorical_column_with_hash_bucket,
    categorical_column_with_identity,
    categorical_column_with_vocabulary_file,
    categorical_column_with_vocabulary_list,
)
from tfexp.feature_column.column import CategoricalColumn, DenseColumn, Features, SparseIds
from tfexp.feature_column.numeric import numeric_column
from tfexp.feature_column.serialization import in_configs
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import reshape, shape
from tfexp.ops.array_join import concat
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_binary import maximum
from tfexp.ops.parsing import VarLenFeature
from tfexp.ops.reduce import reduce_prod
from tfexp.ops.segment import unsorted_segment_max
from tfexp.ops.sparse import sparse_reshape, sparse_tensor_to_dense


def sequence_lengths(sparse: SparseTensor, num_elements: int = 1) -> Tensor:
    """int64 [batch]: the steps up to the last that each row of [batch, time, ...] has an element for."""
    ends = sparse.indices[:, 1] + 1  # type: ignore[index]
    longest = maximum(unsorted_segment_max(ends, sparse.indices[:, 0], sparse.dense_shape[0]), 0)  # type: ignore[index]
    lengths: Tensor = (longest + (num_elements - 1)) // num_elements
    return lengths


class DenseAndLengths(NamedTuple):
    """[batch, time, *shape], and each example's length, as TensorFlow calls them."""

    dense_tensor: Tensor
    sequence_length: Tensor


# --- ids --------------------------------------------------------------------------------------------------------------


class _SequenceCategorical(NamedTuple):
    categorical_column: CategoricalColumn


@in_configs
class SequenceCategoricalColumn(_SequenceCategorical, CategoricalColumn):
    """Another column's ids [batch, time], or [batch, time, n], as n of each step: [batch, time, n]."""

    @property
    def is_sequence(self) -> bool:
        return True

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.categorical_column.name

    @property
    def num_buckets(self) -> int:
        return self.categorical_column.num_buckets

    def spec(self) -> dict[str, Any]:
        return self.categorical_column.spec()

    def transformed(self, features: Features) -> SparseIds:
        found = self.categorical_column.ids(features)
        return SparseIds(*(None if part is None else _by_steps(part) for part in found))  # type: ignore[arg-type]

    def ids(self, features: Features) -> SparseIds:
        return features.get(self)  # type: ignore[no-any-return]


def _by_steps(sparse: SparseTensor) -> SparseTensor:
    dims = sparse.dense_shape
    return sparse_reshape(sparse, concat([dims[:2], [reduce_prod(dims[2:])]], 0))  # type: ignore[index]


def sequence_categorical_column_with_identity(
    key: str, num_buckets: int, default_value: int | None = None
) -> SequenceCategoricalColumn:
    """Sequences of integers in [0, num_buckets) as ids.

    Source: `tf.feature_column.sequence_categorical_column_with_identity`.
    """
    return SequenceCategoricalColumn(categorical_column_with_identity(key, num_buckets, default_value))


def sequence_categorical_column_with_hash_bucket(
    key: str, hash_bucket_size: int, dtype: Any = dtypes.string
) -> SequenceCategoricalColumn:
    """Sequences of texts or integers by their hash.

    Source: `tf.feature_column.sequence_categorical_column_with_hash_bucket`.
    """
    return SequenceCategoricalColumn(categorical_column_with_hash_bucket(key, hash_bucket_size, dtype))


def sequence_categorical_column_with_vocabulary_file(
    key: str,
    vocabulary_file: str,
    vocabulary_size: int | None = None,
    num_oov_buckets: int = 0,
    default_value: int | None = None,
    dtype: Any = dtypes.string,
) -> SequenceCategoricalColumn:
    """Sequences of texts or integers by their line in a file.

    Source: `tf.feature_column.sequence_categorical_column_with_vocabulary_file`.
    """
    return SequenceCategoricalColumn(
        categorical_column_with_vocabulary_file(key, vocabulary_file, vocabulary_size, num_oov_buckets, default_value, dtype)
    )


def sequence_categorical_column_with_vocabulary_list(
    key: str, vocabulary_list: Sequence[Any], dtype: Any = None, default_value: int = -1, num_oov_buckets: int = 0
) -> SequenceCategoricalColumn:
    """Sequences of texts or integers by their place in a list.

    Source: `tf.feature_column.sequence_categorical_column_with_vocabulary_list`.
    """
    return SequenceCategoricalColumn(
        categorical_column_with_vocabulary_list(key, vocabulary_list, dtype, default_value, num_oov_buckets)
    )


# --- numbers ----------------------------------------------------------------------------------------------------------


class _SequenceNumeric(NamedTuple):
    key: str
    shape: tuple[int, ...]
    default_value: float
    dtype: Any
    normalizer_fn: Callable[[Any], Any] | None


@in_configs
class SequenceNumericColumn(_SequenceNumeric, DenseColumn):
    """Numbers of a SparseTensor [batch, time * elements], or [batch, time, elements]: [batch, time, *shape], float32."""

    @property
    def is_sequence(self) -> bool:
        return True

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.key

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape(self.shape)

    def spec(self) -> dict[str, Any]:
        return {self.key: VarLenFeature(self.dtype)}

    def transformed(self, features: Features) -> SparseTensor:
        found = features.sparse(self.key, ignored=self.default_value)
        values = found.values if self.normalizer_fn is None else self.normalizer_fn(found.values)
        return SparseTensor(found.indices, cast(values, dtypes.float32), found.dense_shape)

    def dense(self, features: Features, trainable: bool = True) -> Tensor:
        flat = sparse_tensor_to_dense(features.get(self), default_value=self.default_value)
        return reshape(flat, concat([shape(flat)[:1], [-1], self.shape], 0))  # type: ignore[index]

    def get_sequence_dense_tensor(self, transformation_cache: Features, state_manager: Any = None) -> DenseAndLengths:
        return DenseAndLengths(self.dense(transformation_cache), self.lengths(transformation_cache))

    def _get_sequence_dense_tensor(
        self, inputs: Features, weight_collections: Any = None, trainable: bool | None = None
    ) -> DenseAndLengths:
        return self.get_sequence_dense_tensor(inputs)

    def lengths(self, features: Features) -> Tensor:
        found = features.get(self)
        flat = found.indices.get_shape()[1].value == 2
        return sequence_lengths(found, int(np.prod(self.shape, dtype=np.int64)) if flat else 1)


def sequence_numeric_column(
    key: str, shape: Any = (1,), default_value: float = 0.0, dtype: Any = dtypes.float32, normalizer_fn: Any = None
) -> SequenceNumericColumn:
    """Sequences of numbers of a shape; behind an example's own come `default_value`s.

    `normalizer_fn(values)` may change the numbers that are there. ValueError and TypeError as `numeric_column`.
    Source: `tf.feature_column.sequence_numeric_column`.
    """
    one = numeric_column(key, shape, dtype=dtype, normalizer_fn=normalizer_fn)
    return SequenceNumericColumn(key, one.shape, default_value, as_dtype(dtype), normalizer_fn)
