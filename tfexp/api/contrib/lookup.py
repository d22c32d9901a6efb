"""`tf.contrib.lookup`: tables under the names and with the arguments that contrib gives them."""

from typing import Any

from tfexp.core import dtypes as _dtypes
from tfexp.core.gone import missing_from
from tfexp.ops import lookup_vocabulary as _vocabulary
from tfexp.ops.lookup import HashTable as HashTable
from tfexp.ops.lookup import InitializableLookupTableBase as InitializableLookupTableBase
from tfexp.ops.lookup import LookupInterface as LookupInterface
from tfexp.ops.lookup import MutableDenseHashTable as MutableDenseHashTable
from tfexp.ops.lookup import MutableHashTable as MutableHashTable
from tfexp.ops.lookup_initializers import KeyValueTensorInitializer as KeyValueTensorInitializer
from tfexp.ops.lookup_initializers import TableInitializerBase as TableInitializerBase
from tfexp.ops.lookup_initializers import TextFileIdTableInitializer as TextFileIdTableInitializer
from tfexp.ops.lookup_initializers import TextFileIndex as TextFileIndex
from tfexp.ops.lookup_initializers import TextFileInitializer as TextFileInitializer
from tfexp.ops.lookup_initializers import TextFileStringTableInitializer as TextFileStringTableInitializer
from tfexp.ops.lookup_vocabulary import FastHashSpec as FastHashSpec
from tfexp.ops.lookup_vocabulary import HasherSpec as HasherSpec
from tfexp.ops.lookup_vocabulary import IdTableWithHashBuckets as IdTableWithHashBuckets
from tfexp.ops.lookup_vocabulary import StrongHashSpec as StrongHashSpec
from tfexp.ops.lookup_vocabulary import index_table_from_file as index_table_from_file
from tfexp.ops.lookup_vocabulary import index_to_string_table_from_file as index_to_string_table_from_file
from tfexp.ops.variable_lists import tables_initializer as initialize_all_tables


def index_table_from_tensor(
    mapping: Any,
    num_oov_buckets: int = 0,
    default_value: int = -1,
    hasher_spec: HasherSpec = FastHashSpec,
    dtype: Any = _dtypes.string,
    name: str | None = None,
) -> LookupInterface:
    """From the elements of `mapping` to their positions. ValueError without one."""
    if mapping is None:
        raise ValueError("mapping must be specified.")
    return _vocabulary.index_table_from_tensor(mapping, num_oov_buckets, default_value, hasher_spec, dtype, name)


def string_to_index_table_from_tensor(
    mapping: Any,
    num_oov_buckets: int = 0,
    default_value: int = -1,
    hasher_spec: HasherSpec = FastHashSpec,
    name: str | None = None,
) -> LookupInterface:
    """As `index_table_from_tensor`, of strings."""
    return index_table_from_tensor(mapping, num_oov_buckets, default_value, hasher_spec, name=name)


def string_to_index_table_from_file(
    vocabulary_file: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    hasher_spec: HasherSpec = FastHashSpec,
    name: str | None = None,
) -> LookupInterface:
    """As `index_table_from_file`, of strings that are whole lines."""
    return index_table_from_file(vocabulary_file, num_oov_buckets, vocab_size, default_value, hasher_spec, name=name)


def index_to_string_table_from_tensor(mapping: Any, default_value: Any = "UNK", name: str | None = None) -> LookupInterface:
    """From positions to the strings of `mapping`. ValueError without one."""
    if mapping is None:
        raise ValueError("mapping must be specified.")
    return _vocabulary.index_to_string_table_from_tensor(mapping, default_value, name)


def string_to_index(tensor: Any, mapping: Any, default_value: int = -1, name: str | None = None) -> Any:
    """The positions in `mapping` of the strings of `tensor`, by a table that `tf.tables_initializer` fills."""
    return index_table_from_tensor(mapping, default_value=default_value, name=name).lookup(tensor)


def index_to_string(tensor: Any, mapping: Any, default_value: Any = "UNK", name: str | None = None) -> Any:
    """The strings of `mapping` at the positions `tensor`, by a table that `tf.tables_initializer` fills."""
    return index_to_string_table_from_tensor(mapping, default_value, name).lookup(tensor)


__getattr__ = missing_from("tf.contrib.lookup")
