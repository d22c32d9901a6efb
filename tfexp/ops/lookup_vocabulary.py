"""Vocabularies: tables from words to ids and back, with buckets by hash for words that they do not have.

Source: `tf.lookup.StaticVocabularyTable`, `tf.contrib.lookup.index_table_from_file` and its like, TF 1.15.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.dependencies import no_op
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import name_scope
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.graph.tensor import Tensor
from tfexp.ops import array, array_fill, array_mask, comparison, elementwise_binary
from tfexp.ops.cast import cast
from tfexp.ops.lookup import LookupInterface, StaticHashTable
from tfexp.ops.lookup_file import LINE_NUMBER, WHOLE_LINE
from tfexp.ops.lookup_initializers import (
    KeyValueTensorInitializer,
    TableInitializerBase,
    TextFileIdTableInitializer,
    TextFileStringTableInitializer,
)
from tfexp.ops.string_hash import string_to_hash_bucket_fast, string_to_hash_bucket_strong
from tfexp.ops.strings import as_string


class HasherSpec(NamedTuple):
    """How words without an id are dealt to buckets: "fasthash", or "stronghash" with a key."""

    hasher: str
    key: Sequence[int] | None


FastHashSpec = HasherSpec("fasthash", None)


class StrongHashSpec(HasherSpec):
    """A keyed hash; `key` is two integers. ValueError, TypeError for anything else."""

    __slots__ = ()

    def __new__(cls, key: Sequence[int]) -> StrongHashSpec:
        if len(key) != 2:
            raise ValueError(f"key must have size 2, got {len(key)}.")
        if not all(isinstance(k, int) for k in key):
            raise TypeError(f"Invalid key {key}. Must be unsigned integer values.")
        return super().__new__(cls, "stronghash", key)


# --- ids and buckets ---------------------------------------------------------------------------------------------------


class _IdsOrBuckets(LookupInterface):
    """The ids of a table (if there is one), then `num_oov_buckets` more for all that it does not have."""

    def __init__(self, table: Any, num_oov_buckets: int, spec: HasherSpec, key_dtype: DType, name: str | None):
        self._table = table
        self._num_oov_buckets = num_oov_buckets
        self._hasher_spec = spec
        self._name = name.rstrip("/") if name else "hash_bucket" if table is None else table.name
        super().__init__(key_dtype, dtypes.int64)

    @property
    def name(self) -> str:
        return self._name

    @property
    def resource_handle(self) -> Tensor | None:
        return None if self._table is None else self._table.resource_handle

    @property
    def initializer(self) -> Operation:
        """What fills the table; an operation that does nothing without one."""
        return no_op() if self._table is None else self._table.initializer

    init = initializer

    def size(self, name: str | None = None) -> Tensor:
        with name_scope(name, f"{self.name}_Size"):
            ids: Any = constant(0, dtype=dtypes.int64) if self._table is None else self._table.size()
            return ids + self._num_oov_buckets  # type: ignore[no-any-return]

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        if not isinstance(keys, SparseTensor):
            keys = convert_to_tensor(keys, dtype_hint=self._key_dtype)
        if keys.dtype.base_dtype != self._key_dtype:
            raise TypeError(f"Signature mismatch. Keys must be dtype {self._key_dtype}, got {keys.dtype}.")
        values: Any = keys.values if isinstance(keys, SparseTensor) else keys
        if self._table is not None and self._table.key_dtype.base_dtype == dtypes.int64:
            values = cast(values, dtypes.int64)
        if self._num_oov_buckets == 0:
            ids = self._table.lookup(values, name=name)
        else:
            with name_scope(name, f"{self.name}_Lookup"):
                ids = self._ids(values)
        return SparseTensor(keys.indices, ids, keys.dense_shape) if isinstance(keys, SparseTensor) else ids

    def _ids(self, values: Any) -> Tensor:
        text = values if values.dtype.base_dtype == dtypes.string else as_string(values)
        buckets: Any = _hasher(self._hasher_spec)(text, num_buckets=self._num_oov_buckets, name="hash_bucket")
        if self._table is None:
            return buckets  # type: ignore[no-any-return]
        ids = self._table.lookup(values)
        buckets = elementwise_binary.add(buckets, self._table.size())
        known = comparison.not_equal(ids, self._table.default_value)
        return array_mask.where_v2(known, ids, buckets)


def _hasher(spec: Any) -> Callable[..., Any]:
    if spec.hasher == "fasthash":
        return string_to_hash_bucket_fast
    if spec.hasher == "stronghash":
        key = spec.key
        return lambda text, num_buckets, name: string_to_hash_bucket_strong(text, num_buckets, key=key, name=name)
    raise ValueError(f"Unknown hasher {spec.hasher}.")


class IdTableWithHashBuckets(_IdsOrBuckets):
    """A table from words to ids, and buckets beside it. Source: `tf.contrib.lookup.IdTableWithHashBuckets`.

    TypeError for a table with other types; ValueError when there is neither a table nor a bucket.
    """

    def __init__(
        self,
        table: Any,
        num_oov_buckets: int,
        hasher_spec: HasherSpec = FastHashSpec,
        name: str | None = None,
        key_dtype: Any = None,
    ):
        if table is not None:
            key_dtype = table.key_dtype if key_dtype is None else dtypes.as_dtype(key_dtype)
            if table.key_dtype.is_integer != key_dtype.is_integer:
                kind = "integer" if key_dtype.is_integer else "non-integer"
                raise TypeError(f"Invalid key dtype, expected {kind} but got {table.key_dtype}.")
            _check_types(table.key_dtype, table.value_dtype)
        else:
            if num_oov_buckets <= 0:
                raise ValueError("oov_buckets must be > 0 if no table is supplied.")
            key_dtype = dtypes.as_dtype(dtypes.string if key_dtype is None else key_dtype)
        if not key_dtype.is_integer and key_dtype != dtypes.string:
            raise TypeError(f"Invalid key_dtype, expected integer or string, got {key_dtype}.")
        if not isinstance(hasher_spec, HasherSpec):
            raise TypeError(f"hasher_spec must be of type HasherSpec, got {hasher_spec}")
        super().__init__(table, num_oov_buckets, hasher_spec, key_dtype, name)


class StaticVocabularyTable(_IdsOrBuckets):
    """Words to ids as `initializer` has them, and at least one bucket. Source: `tf.lookup.StaticVocabularyTable`.

    `lookup_key_dtype` is the type of the keys that are looked up, where integers are not of 64 bits.
    """

    def __init__(
        self,
        initializer: TableInitializerBase | None,
        num_oov_buckets: int,
        lookup_key_dtype: Any = None,
        name: str | None = None,
    ):
        if num_oov_buckets <= 0:
            raise ValueError("oov_buckets must be > 0.")
        key_dtype = None if lookup_key_dtype is None else dtypes.as_dtype(lookup_key_dtype)
        table = None
        if initializer is not None:
            _check_types(initializer.key_dtype, initializer.value_dtype)
            if key_dtype is None:
                key_dtype = initializer.key_dtype
            if key_dtype.is_integer != initializer.key_dtype.is_integer:
                kind = "integer" if key_dtype.is_integer else "non-integer"
                raise TypeError(f"Invalid key dtype, expected {kind} but got {initializer.key_dtype}.")
            table = StaticHashTable(initializer, default_value=-1)
        super().__init__(table, num_oov_buckets, FastHashSpec, key_dtype or dtypes.string, name)


def _check_types(key_dtype: DType, value_dtype: DType) -> None:
    if key_dtype not in (dtypes.int64, dtypes.string):
        raise TypeError(f"Invalid key dtype, expected one of {(dtypes.int64, dtypes.string)}, but got {key_dtype}.")
    if value_dtype != dtypes.int64:
        raise TypeError(f"Invalid value dtype, expected {dtypes.int64} but got {value_dtype}.")


# --- words to ids ------------------------------------------------------------------------------------------------------


def index_table_from_file(
    vocabulary_file: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    hasher_spec: HasherSpec = FastHashSpec,
    key_dtype: Any = dtypes.string,
    name: str | None = None,
    key_column_index: int = WHOLE_LINE,
    value_column_index: int = LINE_NUMBER,
    delimiter: str = "\t",
) -> LookupInterface:
    """From the lines of a file to their numbers. Source: `tf.contrib.lookup.index_table_from_file`.

    What is not there gets `default_value`, or with `num_oov_buckets` one of the ids after those of the file.
    ValueError for no file, less than no buckets or no lines; TypeError for keys that are not integers or strings.
    """
    if vocabulary_file is None or (isinstance(vocabulary_file, str) and not vocabulary_file):
        raise ValueError("vocabulary_file must be specified and must not be empty.")
    _check_buckets(num_oov_buckets)
    if vocab_size is not None and vocab_size < 1:
        raise ValueError(f"vocab_size must be greater than 0, got {vocab_size}. vocabulary_file: {vocabulary_file}")
    key_dtype = dtypes.as_dtype(key_dtype)
    _check_keys(key_dtype)
    with name_scope(name, "string_to_index"):
        with name_scope(None, "hash_table"):
            initializer = TextFileIdTableInitializer(
                vocabulary_file,
                key_column_index=key_column_index,
                value_column_index=value_column_index,
                vocab_size=vocab_size,
                delimiter=delimiter,
                name="table_init",
                key_dtype=dtypes.int64 if key_dtype.is_integer else key_dtype,
            )
            table = StaticHashTable(initializer, default_value)
        return _with_buckets(table, num_oov_buckets, hasher_spec, key_dtype)


def index_table_from_tensor(
    vocabulary_list: Any = None,
    num_oov_buckets: int = 0,
    default_value: int = -1,
    hasher_spec: HasherSpec = FastHashSpec,
    dtype: Any = dtypes.string,
    name: str | None = None,
) -> LookupInterface:
    """From the elements of a vector to their positions. Source: `tf.contrib.lookup.index_table_from_tensor`.

    Otherwise as `index_table_from_file`; ValueError also when the elements are not of the kind of `dtype`.
    """
    if vocabulary_list is None:
        raise ValueError("`vocabulary_list` must be specified.")
    _check_buckets(num_oov_buckets)
    dtype = dtypes.as_dtype(dtype)
    _check_keys(dtype)
    with name_scope(name, "string_to_index"):
        keys = convert_to_tensor(vocabulary_list)
        if keys.dtype.is_integer != dtype.is_integer:
            kind = "integer" if dtype.is_integer else "non-integer"
            raise ValueError(f"Expected {kind}, got {keys.dtype}.")
        if not dtype.is_integer and keys.dtype.base_dtype != dtype:
            raise ValueError(f"Expected {dtype}, got {keys.dtype}.")
        positions = _positions(keys)
        with name_scope(None, "hash_table"):
            words = cast(keys, dtypes.int64) if keys.dtype.is_integer else keys
            key_dtype = dtypes.int64 if keys.dtype.is_integer else dtypes.string
            initializer = KeyValueTensorInitializer(words, positions, key_dtype, dtypes.int64, name="table_init")
            table = StaticHashTable(initializer, default_value)
        return _with_buckets(table, num_oov_buckets, hasher_spec, dtype)


def _positions(words: Tensor) -> Tensor:
    return cast(array_fill.range(array.size(words)), dtypes.int64)


def _check_buckets(num_oov_buckets: int) -> None:
    if num_oov_buckets < 0:
        raise ValueError(f"num_oov_buckets must be greater or equal than 0, got {num_oov_buckets}.")


def _check_keys(dtype: DType) -> None:
    if not dtype.is_integer and dtype != dtypes.string:
        raise TypeError("Only integer and string keys are supported.")


def _with_buckets(table: StaticHashTable, buckets: int, spec: HasherSpec, key_dtype: DType) -> LookupInterface:
    return IdTableWithHashBuckets(table, buckets, hasher_spec=spec, key_dtype=key_dtype) if buckets else table


# --- ids to words ------------------------------------------------------------------------------------------------------


def index_to_string_table_from_file(
    vocabulary_file: Any,
    vocab_size: int | None = None,
    default_value: Any = "UNK",
    name: str | None = None,
    key_column_index: int = LINE_NUMBER,
    value_column_index: int = WHOLE_LINE,
    delimiter: str = "\t",
) -> LookupInterface:
    """From line numbers to the lines of a file. ValueError for no file. Source: `tf.contrib.lookup`."""
    if vocabulary_file is None or (isinstance(vocabulary_file, str) and not vocabulary_file):
        raise ValueError("vocabulary_file must be specified and must not be empty.")
    if vocab_size is not None and vocab_size < 1:
        raise ValueError(f"vocab_size must be greater than 0, got {vocab_size}.")
    with name_scope(name, "index_to_string"):
        initializer = TextFileStringTableInitializer(
            vocabulary_file, key_column_index, value_column_index, vocab_size, delimiter, name="table_init"
        )
        return StaticHashTable(initializer, default_value)


def index_to_string_table_from_tensor(
    vocabulary_list: Any, default_value: Any = "UNK", name: str | None = None
) -> LookupInterface:
    """From positions to the strings of a vector. ValueError for none. Source: `tf.contrib.lookup`."""
    if vocabulary_list is None:
        raise ValueError("`vocabulary_list` argument must be specified.")
    with name_scope(name, "index_to_string"):
        words = convert_to_tensor(vocabulary_list, dtypes.string)
        initializer = KeyValueTensorInitializer(_positions(words), words, dtypes.int64, dtypes.string, name="table_init")
        return StaticHashTable(initializer, default_value)
