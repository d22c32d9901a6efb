"""The columns of `tf.feature_column` under the names that `tf.contrib.layers` gave them. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.core import dtypes
from tfexp.feature_column import (
    categorical_column_with_hash_bucket,
    categorical_column_with_identity,
    categorical_column_with_vocabulary_file,
    categorical_column_with_vocabulary_list,
    indicator_column,
    numeric_column,
)
from tfexp.feature_column import embedding_column as _embedding_column


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
