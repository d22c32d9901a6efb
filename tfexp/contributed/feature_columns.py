"""The columns of `tf.feature_column` under the names that `tf.contrib.layers` gave them. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tfexp.core import dtypes
from tfexp.feature_column import (
    categorical_column_with_hash_bucket,
    categorical_column_with_identity,
    categorical_column_with_vocabulary_file,
    categorical_column_with_vocabulary_list,
    indicator_column,
    numeric_column,
    weighted_categorical_column,
)
from tfexp.feature_column import crossed_column as _crossed_column
from tfexp.feature_column import embedding_column as _embedding_column
from tfexp.feature_column import shared_embedding_columns as _shared_embedding_columns
from tfexp.feature_column.column import CategoricalColumn
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.ops.parsing import VarLenFeature

# What `hash_key` should be given as, so that crossings are spread better than without one.
SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY = 956888297470


def real_valued_column(
    column_name: str,
    dimension: int = 1,
    default_value: Any = None,
    dtype: Any = dtypes.float32,
    normalizer: Any = None,
) -> Any:
    """Numbers: [batch, dimension]."""
    return numeric_column(column_name, (dimension,), default_value, dtype, normalizer)


def sparse_column_with_hash_bucket(
    column_name: str, hash_bucket_size: int, combiner: str = "sum", dtype: Any = dtypes.string, hash_keys: Any = None
) -> Any:
    """Values by their hashes. `combiner` says nothing here: columns on top of this one have their own."""
    return categorical_column_with_hash_bucket(column_name, hash_bucket_size, dtype)


def sparse_column_with_integerized_feature(
    column_name: str, bucket_size: int, combiner: str = "sum", dtype: Any = dtypes.int64
) -> Any:
    """Integers below `bucket_size`."""
    return categorical_column_with_identity(column_name, bucket_size)


def sparse_column_with_keys(
    column_name: str, keys: Sequence[Any], default_value: int = -1, combiner: str = "sum", dtype: Any = dtypes.string
) -> Any:
    """Values by their places among the keys."""
    return categorical_column_with_vocabulary_list(column_name, keys, dtype, default_value)


def sparse_column_with_vocabulary_file(
    column_name: str,
    vocabulary_file: str,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    combiner: str = "sum",
    dtype: Any = dtypes.string,
) -> Any:
    """Values by their lines in a file."""
    # The core's refuses a default beside buckets for the values that are not in the file.
    default = None if num_oov_buckets else default_value
    return categorical_column_with_vocabulary_file(column_name, vocabulary_file, vocab_size, num_oov_buckets, default, dtype)


def one_hot_column(sparse_id_column: Any) -> Any:
    """Which of its values a column has: [batch, number of values]."""
    return indicator_column(sparse_id_column)


def embedding_column(
    sparse_id_column: Any,
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> Any:
    """Rows of a variable: [batch, dimension]."""
    return _embedding_column(
        sparse_id_column, dimension, combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt, max_norm, trainable
    )


def shared_embedding_columns(
    sparse_id_columns: Sequence[Any],
    dimension: int,
    combiner: str = "mean",
    shared_embedding_name: str | None = None,
    initializer: Any = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> tuple[Any, ...]:
    """Rows of one variable for several columns of a kind: of each [batch, dimension]. TypeError for what is no list."""
    if isinstance(sparse_id_columns, str) or not isinstance(sparse_id_columns, Sequence):
        raise TypeError(
            f"sparse_id_columns must be a non-string sequence (ex: list or tuple) instead of type {type(sparse_id_columns)}."
        )
    if not sparse_id_columns:
        raise ValueError("The input sparse_id_columns should have at least one element.")
    return tuple(
        _shared_embedding_columns(
            sparse_id_columns,
            dimension,
            combiner,
            initializer,
            shared_embedding_name,
            ckpt_to_load_from,
            tensor_name_in_ckpt,
            max_norm,
            trainable,
        )
    )


def weighted_sparse_column(sparse_id_column: Any, weight_column_name: str, dtype: Any = dtypes.float32) -> Any:
    """A column's values, each of which counts as much as the feature `weight_column_name` says."""
    return weighted_categorical_column(sparse_id_column, weight_column_name, dtype)


def crossed_column(
    columns: Iterable[Any],
    hash_bucket_size: int,
    combiner: str = "sum",
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    hash_key: int | None = None,
) -> Any:
    """Combinations of columns by their hash; of texts the combinations of what they say, before any hash or vocabulary.

    `combiner` says nothing here: columns on top of this one have their own. ValueError for a checkpoint to load weights
    from: `tf.train.init_from_checkpoint` does that.
    """
    if ckpt_to_load_from is not None or tensor_name_in_ckpt is not None:
        raise ValueError("Weights of crossed columns are not loaded here: use tf.train.init_from_checkpoint.")
    return _crossed_column([_as_it_says(column) for column in columns], hash_bucket_size, hash_key)


def _as_it_says(column: Any) -> Any:
    """The name of the feature, for a column that only says which texts there are. TypeError for what is no such column."""
    if not isinstance(column, CategoricalColumn):
        raise TypeError(
            f"columns must be a set of sparse columns, crossed columns or bucketized columns. Given {type(column)}: {column}"
        )
    says_texts = column.spec() == {column.name: VarLenFeature(dtypes.string)}
    return column.name if says_texts else column


def infer_real_valued_columns(features: Any) -> list[Any]:
    """A column of numbers for each of the features, a tensor [batch, …] or a dict of them. ValueError for no numbers."""
    return [_column_of(name, one) for name, one in (features if isinstance(features, Mapping) else {"": features}).items()]


def _column_of(name: str, tensor: Any) -> Any:
    if isinstance(tensor, SparseTensor) or not (tensor.dtype.is_floating or tensor.dtype.is_integer):
        raise ValueError(f"on `{name}`: {tensor} is of no type of real values; such features need columns of their own")
    return numeric_column(name, tensor.get_shape()[1:].as_list(), dtype=tensor.dtype)


def check_feature_columns(feature_columns: Iterable[Any]) -> None:
    """ValueError for a dict, and for a column that is there twice."""
    if isinstance(feature_columns, Mapping):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    seen = set()
    for column in feature_columns:
        if column in seen:
            raise ValueError(f"Duplicate feature column key found for column: {column.name}. One must be discarded.")
        seen.add(column)
