"""Categorical columns: identities, hashes, vocabularies, weights and crosses. Source: TF 1.15."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType, as_dtype
from tfexp.feature_column.column import CategoricalColumn, Features, SparseIds, dense_to_sparse
from tfexp.feature_column.serialization import in_configs
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.dependencies import with_dependencies
from tfexp.graph.sparse_tensor import SparseTensor, is_sparse
from tfexp.ops.array import shape
from tfexp.ops.array_fill import fill
from tfexp.ops.array_mask import where_v2
from tfexp.ops.cast import cast
from tfexp.ops.check_compare import assert_greater_equal, assert_less
from tfexp.ops.comparison import greater_equal, less
from tfexp.ops.logical import logical_or
from tfexp.ops.lookup_vocabulary import index_table_from_file, index_table_from_tensor
from tfexp.ops.parsing import VarLenFeature
from tfexp.ops.sparse_cross import sparse_cross_hashed
from tfexp.ops.string_hash import string_to_hash_bucket_fast
from tfexp.ops.strings import as_string


def _with_values(sparse: SparseTensor, values: Any) -> SparseTensor:
    return SparseTensor(sparse.indices, values, sparse.dense_shape)


def _check_kind(key: str, dtype: DType, sparse: SparseTensor) -> None:
    check_texts_or_integers(sparse.dtype, f"column_name: {key} input_tensor")
    if dtype.is_integer != sparse.dtype.is_integer:
        raise ValueError(
            f"Column dtype and SparseTensors dtype must be compatible. key: {key}, column dtype: {dtype}, tensor dtype: "
            f"{sparse.dtype}"
        )


class _Identity(NamedTuple):
    key: str
    number_buckets: int
    default_value: int | None


@in_configs
class IdentityCategoricalColumn(_Identity, CategoricalColumn):
    """Integers as they are. Those outside are the default, or an error of the run where there is none."""

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.key

    @property
    def num_buckets(self) -> int:
        return self.number_buckets

    def spec(self) -> dict[str, Any]:
        return {self.key: VarLenFeature(dtypes.int64)}

    def transformed(self, features: Features) -> SparseTensor:
        found = features.sparse(self.key)
        if not found.dtype.is_integer:
            raise ValueError(f"Invalid input, not integer. key: {self.key} dtype: {found.dtype}")
        values = cast(found.values, dtypes.int64, name="values")
        limit = convert_to_tensor(self.number_buckets, dtypes.int64, name="num_buckets")
        zero = convert_to_tensor(0, dtypes.int64, name="zero")
        if self.default_value is None:
            above = f'Bucket index for categorical column "{self.name}" exceeds number of buckets'
            below = f'Negative bucket index for categorical column "{self.name}"'
            checks = [
                assert_less(values, limit, data=[above, values, limit], name="assert_less_than_num_buckets"),
                assert_greater_equal(values, zero, data=[below, values], name="assert_greater_or_equal_0"),
            ]
            values = with_dependencies(checks, values)
        else:
            outside = logical_or(less(values, zero), greater_equal(values, limit), name="out_of_range")
            default = fill(shape(values), convert_to_tensor(self.default_value, dtypes.int64), name="default_values")
            values = where_v2(outside, default, values)
        return _with_values(found, values)


def categorical_column_with_identity(
    key: str, num_buckets: int, default_value: int | None = None
) -> IdentityCategoricalColumn:
    """Integers in [0, num_buckets) as ids. ValueError for fewer than one, or a default outside.

    Source: `tf.feature_column.categorical_column_with_identity`.
    """
    check_key(key)
    if num_buckets < 1:
        raise ValueError(f"num_buckets {num_buckets} < 1, column_name {key}")
    if default_value is not None and not 0 <= default_value < num_buckets:
        raise ValueError(f"default_value {default_value} not in range [0, {num_buckets}), column_name {key}")
    return IdentityCategoricalColumn(key, num_buckets, default_value)


class _Hashed(NamedTuple):
    key: str
    hash_bucket_size: int
    dtype: Any


@in_configs
class HashedCategoricalColumn(_Hashed, CategoricalColumn):
    """The hash of texts, or of integers as texts."""

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.key

    @property
    def num_buckets(self) -> int:
        return self.hash_bucket_size

    def spec(self) -> dict[str, Any]:
        return {self.key: VarLenFeature(self.dtype)}

    def transformed(self, features: Features) -> SparseTensor:
        found = features.sparse(self.key)
        _check_kind(self.key, as_dtype(self.dtype), found)
        texts = found.values if found.dtype is dtypes.string else as_string(found.values)
        return _with_values(found, string_to_hash_bucket_fast(texts, self.hash_bucket_size, name="lookup"))


def categorical_column_with_hash_bucket(
    key: str, hash_bucket_size: int, dtype: Any = dtypes.string
) -> HashedCategoricalColumn:
    """Texts or integers by their hash. ValueError for less than one bucket, or another type.

    Source: `tf.feature_column.categorical_column_with_hash_bucket`.
    """
    if hash_bucket_size is None:
        raise ValueError(f"hash_bucket_size must be set. key: {key}")
    if hash_bucket_size < 1:
        raise ValueError(f"hash_bucket_size must be at least 1. hash_bucket_size: {hash_bucket_size}, key: {key}")
    check_key(key)
    check_texts_or_integers(as_dtype(dtype), f"column_name: {key}")
    return HashedCategoricalColumn(key, hash_bucket_size, as_dtype(dtype))


class _VocabularyList(NamedTuple):
    key: str
    vocabulary_list: tuple[Any, ...]
    dtype: Any
    default_value: int
    num_oov_buckets: int


@in_configs
class VocabularyListCategoricalColumn(_VocabularyList, CategoricalColumn):
    """The place in a list."""

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.key

    @property
    def num_buckets(self) -> int:
        return len(self.vocabulary_list) + self.num_oov_buckets

    def spec(self) -> dict[str, Any]:
        return {self.key: VarLenFeature(self.dtype)}

    def transformed(self, features: Features) -> Any:
        found = features.sparse(self.key)
        _check_kind(self.key, self.dtype, found)
        key_dtype = self.dtype
        if found.dtype.is_integer:
            found, key_dtype = _with_values(found, cast(found.values, dtypes.int64)), dtypes.int64
        table = index_table_from_tensor(
            vocabulary_list=tuple(self.vocabulary_list),
            default_value=self.default_value,
            num_oov_buckets=self.num_oov_buckets,
            dtype=key_dtype,
            name=f"{self.key}_lookup",
        )
        return table.lookup(found)


def categorical_column_with_vocabulary_list(
    key: str, vocabulary_list: Sequence[Any], dtype: Any = None, default_value: int = -1, num_oov_buckets: int = 0
) -> VocabularyListCategoricalColumn:
    """Texts or integers by their place in a list; others are the default (-1: left out), or hashed into `num_oov_buckets`.

    ValueError for an empty list or one with repeats. Source: `tf.feature_column.categorical_column_with_vocabulary_list`.
    """
    if vocabulary_list is None or len(vocabulary_list) < 1:
        raise ValueError(f"vocabulary_list {vocabulary_list} must be non-empty, column_name: {key}")
    if len(set(vocabulary_list)) != len(vocabulary_list):
        raise ValueError(f"Duplicate keys in vocabulary_list {vocabulary_list}, column_name: {key}")
    kind = as_dtype(np.array(vocabulary_list).dtype)
    _check_buckets(key, num_oov_buckets, default_value)
    check_texts_or_integers(kind, f"column_name: {key} vocabulary")
    wanted = kind if dtype is None else as_dtype(dtype)
    if wanted.is_integer != kind.is_integer:
        raise ValueError(f"dtype {wanted} and vocabulary dtype {kind} do not match, column_name: {key}")
    check_texts_or_integers(wanted, f"column_name: {key}")
    check_key(key)
    return VocabularyListCategoricalColumn(key, tuple(vocabulary_list), wanted, default_value, num_oov_buckets)


class _VocabularyFile(NamedTuple):
    key: str
    vocabulary_file: str
    vocabulary_size: int
    num_oov_buckets: int
    dtype: Any
    default_value: int


@in_configs
class VocabularyFileCategoricalColumn(_VocabularyFile, CategoricalColumn):
    """The number of the line in a file."""

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.key

    @property
    def num_buckets(self) -> int:
        return self.vocabulary_size + self.num_oov_buckets

    def spec(self) -> dict[str, Any]:
        return {self.key: VarLenFeature(self.dtype)}

    def transformed(self, features: Features) -> Any:
        found = features.sparse(self.key)
        _check_kind(self.key, self.dtype, found)
        key_dtype = self.dtype
        if found.dtype.is_integer:
            found, key_dtype = _with_values(found, cast(found.values, dtypes.int64)), dtypes.int64
        table = index_table_from_file(
            vocabulary_file=self.vocabulary_file,
            num_oov_buckets=self.num_oov_buckets,
            vocab_size=self.vocabulary_size,
            default_value=self.default_value,
            key_dtype=key_dtype,
            name=f"{self.key}_lookup",
        )
        return table.lookup(found)


def categorical_column_with_vocabulary_file(
    key: str,
    vocabulary_file: str,
    vocabulary_size: int | None = None,
    num_oov_buckets: int = 0,
    default_value: int | None = None,
    dtype: Any = dtypes.string,
) -> VocabularyFileCategoricalColumn:
    """Texts or integers by their line in a file, of which the first `vocabulary_size` count (by default all).

    ValueError without a file. Source: `tf.feature_column.categorical_column_with_vocabulary_file`.
    """
    if not vocabulary_file:
        raise ValueError(f"Missing vocabulary_file in {key}.")
    if vocabulary_size is None:
        if not os.path.exists(vocabulary_file):
            raise ValueError(f"vocabulary_file in {key} does not exist.")
        with open(vocabulary_file, "rb") as file:
            vocabulary_size = sum(1 for _ in file)
    if vocabulary_size < 1:
        raise ValueError(f"Invalid vocabulary_size in {key}.")
    _check_buckets(key, num_oov_buckets, default_value)
    check_texts_or_integers(as_dtype(dtype), f"column_name: {key}")
    check_key(key)
    default = -1 if default_value is None else default_value
    return VocabularyFileCategoricalColumn(key, vocabulary_file, vocabulary_size, num_oov_buckets, as_dtype(dtype), default)


class _Weighted(NamedTuple):
    categorical_column: CategoricalColumn
    weight_feature_key: str
    dtype: Any


@in_configs
class WeightedCategoricalColumn(_Weighted, CategoricalColumn):
    """Another column's ids with weights from a feature of the same shape."""

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"{self.categorical_column.name}_weighted_by_{self.weight_feature_key}"

    @property
    def num_buckets(self) -> int:
        return self.categorical_column.num_buckets

    def spec(self) -> dict[str, Any]:
        spec = self.categorical_column.spec()
        if self.weight_feature_key in spec:
            raise ValueError(f"Parse config {spec[self.weight_feature_key]} already exists for {self.weight_feature_key}.")
        return {**spec, self.weight_feature_key: VarLenFeature(self.dtype)}

    def transformed(self, features: Features) -> SparseIds:
        weights = features.get(self.weight_feature_key)
        if weights.dtype.base_dtype != as_dtype(self.dtype):
            raise ValueError(f"Bad dtype, expected {self.dtype}, but got {weights.dtype}.")
        if not is_sparse(weights):
            weights = dense_to_sparse(weights, 0.0)
        if not weights.dtype.is_floating:
            weights = _with_values(weights, cast(weights.values, dtypes.float32))
        return SparseIds(features.get(self.categorical_column), weights)

    def ids(self, features: Features) -> SparseIds:
        return features.get(self)  # type: ignore[no-any-return]


def weighted_categorical_column(
    categorical_column: CategoricalColumn, weight_feature_key: str, dtype: Any = dtypes.float32
) -> WeightedCategoricalColumn:
    """Ids that count as much as another feature says. ValueError for weights that are no numbers.

    Source: `tf.feature_column.weighted_categorical_column`.
    """
    kind = None if dtype is None else as_dtype(dtype)
    if kind is None or not (kind.is_integer or kind.is_floating):
        raise ValueError(f"dtype {dtype} is not convertible to float.")
    return WeightedCategoricalColumn(categorical_column, weight_feature_key, kind)


class _Crossed(NamedTuple):
    keys: tuple[Any, ...]
    hash_bucket_size: int
    hash_key: int | None


@in_configs
class CrossedColumn(_Crossed, CategoricalColumn):
    """The hash of each combination of the values of several features."""

    @property
    def name(self) -> str:  # type: ignore[override]
        return "_X_".join(sorted(key if isinstance(key, str) else key.name for key in self._leaves()))

    @property
    def parents(self) -> list[Any]:
        return list(self.keys)

    def _leaves(self) -> list[Any]:
        """The keys, those of crosses among them in their place."""
        return [leaf for key in self.keys for leaf in (key._leaves() if isinstance(key, CrossedColumn) else [key])]

    @property
    def num_buckets(self) -> int:
        return self.hash_bucket_size

    def spec(self) -> dict[str, Any]:
        spec: dict[str, Any] = {}
        for key in self.keys:
            spec.update({key: VarLenFeature(dtypes.string)} if isinstance(key, str) else key.spec())
        return spec

    def transformed(self, features: Features) -> SparseTensor:
        parts: list[Any] = []
        for key in self._leaves():
            if isinstance(key, str):
                parts.append(features.get(key))
                continue
            found = key.ids(features)
            if found.weights is not None:
                raise ValueError(
                    f"crossed_column does not support weight_tensor, but the given column populates it: {key.name}"
                )
            parts.append(found.ids)
        return sparse_cross_hashed(parts, num_buckets=self.hash_bucket_size, hash_key=self.hash_key)


def crossed_column(keys: Any, hash_bucket_size: int, hash_key: int | None = None) -> CrossedColumn:
    """Combinations of features (names, or categorical columns but hashed ones) by their hash. ValueError for others.

    Source: `tf.feature_column.crossed_column`.
    """
    if not hash_bucket_size or hash_bucket_size < 1:
        raise ValueError(f"hash_bucket_size must be > 1. hash_bucket_size: {hash_bucket_size}")
    if not keys or len(keys) < 2:
        raise ValueError(f"keys must be a list with length > 1. Given: {keys}")
    for key in keys:
        if not isinstance(key, (str, CategoricalColumn)):
            raise ValueError(
                "Unsupported key type. All keys must be either string, or categorical column except "
                f"HashedCategoricalColumn. Given: {key}"
            )
        if isinstance(key, HashedCategoricalColumn):
            raise ValueError(
                "categorical_column_with_hash_bucket is not supported for crossing. Hashing before crossing will increase "
                f"probability of collision. Instead, use the feature name as a string. Given: {key}"
            )
    return CrossedColumn(tuple(keys), hash_bucket_size, hash_key)


def check_key(key: Any) -> None:
    if not isinstance(key, str):
        raise ValueError(f"key must be a string. Got: type {type(key)}. Given key: {key}.")


def _check_buckets(key: str, num_oov_buckets: int, default_value: int | None) -> None:
    if num_oov_buckets:
        if default_value not in (None, -1):
            raise ValueError(f"Can't specify both num_oov_buckets and default_value in {key}.")
        if num_oov_buckets < 0:
            raise ValueError(f"Invalid num_oov_buckets {num_oov_buckets} in {key}.")


def check_texts_or_integers(dtype: DType, where: str) -> None:
    if dtype is not dtypes.string and not dtype.is_integer:
        raise ValueError(f"{where} dtype must be string or integer. dtype: {dtype}.")
