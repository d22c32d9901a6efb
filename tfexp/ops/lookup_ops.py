"""The ops of lookup tables; the tables are `ops.lookup_resource`, what programs hold is `ops.lookup`. TF 1.15."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.merged_shape import merged
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.ops.array import variant_array
from tfexp.ops.handle_ops import define_handle, define_twins, shared_or_own
from tfexp.ops.lookup_buckets import FEWEST_BUCKETS
from tfexp.ops.lookup_file import read_entries
from tfexp.ops.lookup_resource import DenseTable, MutableTable, StaticTable, Table
from tfexp.ops.shape_rules import with_rank

Array = np.ndarray

# --- handles -----------------------------------------------------------------------------------------------------------

_TYPES = "; use_node_name_sharing: bool = false; key_dtype: type; value_dtype: type"
_VALUE_SHAPE = "; value_shape: shape = []"
_BUCKETS = "; initial_num_buckets: int = 131072; max_load_factor: float = 0.800000011920929"

hash_table = define_handle("HashTable", "table_handle", after=_TYPES)
mutable_hash_table = define_handle("MutableHashTable", "table_handle", after=_TYPES)
mutable_hash_table_of_tensors = define_handle("MutableHashTableOfTensors", "table_handle", after=_TYPES + _VALUE_SHAPE)
_DENSE = f"container: string = ''; shared_name: string = ''{_TYPES}{_VALUE_SHAPE}{_BUCKETS}"
mutable_dense_hash_table = define_op(
    "MutableDenseHashTableV2(empty_key: key_dtype, deleted_key: key_dtype) -> (table_handle: resource) "
    f"{{{_DENSE}}} #stateful"
).not_differentiable()
_older_dense_hash_table = define_op(
    f"MutableDenseHashTable(empty_key: key_dtype) -> (table_handle: ref string) {{{_DENSE}}} #stateful"
).not_differentiable()


def _table(ctx: Any, container: Any, shared_name: Any, node_name_sharing: bool, kind: type[Table], *settings: Any) -> Table:
    if node_name_sharing and not shared_name:
        shared_name = ctx.node_name
    found: Table = shared_or_own(ctx, "table", container, shared_name, lambda name: kind(name, *settings))
    if shared_name:
        found.check_same(*settings[:2])
    return found


@hash_table.kernel(handle=True)
def _(
    ctx: Any, *, container: str, shared_name: str, use_node_name_sharing: bool, key_dtype: DType, value_dtype: DType
) -> Table:
    return _table(ctx, container, shared_name, use_node_name_sharing, StaticTable, key_dtype, value_dtype)


@mutable_hash_table.kernel(handle=True)
def _(
    ctx: Any, *, container: str, shared_name: str, use_node_name_sharing: bool, key_dtype: DType, value_dtype: DType
) -> Table:
    return _table(ctx, container, shared_name, use_node_name_sharing, MutableTable, key_dtype, value_dtype)


@mutable_hash_table_of_tensors.kernel(handle=True)
def _(
    ctx: Any,
    *,
    container: str,
    shared_name: str,
    use_node_name_sharing: bool,
    key_dtype: DType,
    value_dtype: DType,
    value_shape: TensorShape,
) -> Table:
    if len(value_shape.as_list()) > 1:
        raise InvalidArgumentError(None, None, f"Default value must be a vector, got shape {value_shape.as_list()}")
    dims = tuple(value_shape.as_list())
    return _table(ctx, container, shared_name, use_node_name_sharing, MutableTable, key_dtype, value_dtype, (), dims)


@mutable_dense_hash_table.shape
def _(empty_key: InputShape, deleted_key: InputShape) -> TensorShape:
    return TensorShape([])


@_older_dense_hash_table.shape
def _(empty_key: InputShape) -> TensorShape:
    return TensorShape([2])


def _dense_table(
    ctx: Any,
    empty_key: Array,
    deleted_key: Array | None = None,
    *,
    container: str,
    shared_name: str,
    use_node_name_sharing: bool,
    key_dtype: DType,
    value_dtype: DType,
    value_shape: TensorShape,
    initial_num_buckets: int,
    max_load_factor: float,
) -> Table:
    if initial_num_buckets < FEWEST_BUCKETS or initial_num_buckets & (initial_num_buckets - 1):
        text = f"Number of buckets must be at least {FEWEST_BUCKETS} and a power of 2, got: {initial_num_buckets}"
        raise InvalidArgumentError(None, None, text)
    if not 0 < max_load_factor < 1:
        raise InvalidArgumentError(None, None, f"max_load_factor must be between 0 and 1, got: {max_load_factor}")
    dims = tuple(value_shape.as_list())
    # The arrays are the step's; the table's own outlive it.
    keys = [None if key is None else np.array(key) for key in (empty_key, deleted_key)]
    settings = (key_dtype, value_dtype, dims, *keys, initial_num_buckets, max_load_factor)
    return _table(ctx, container, shared_name, use_node_name_sharing, DenseTable, *settings)


mutable_dense_hash_table.kernel("CPU")(_dense_table)
_older_dense_hash_table.kernel("CPU")(_dense_table)


def _check_types(table: Table, key: DType, value: DType | None, found: DType | None = None) -> None:
    """InvalidArgumentError unless the op has the table's types. `found`: the type of its result."""

    def signature(k: DType, v: DType | None, out: DType | None) -> str:
        return f"resource, {k.name}, {'int64' if v is None else v.name}->{'' if out is None else out.name}"

    theirs = table.value_dtype
    if key != table.key_dtype or (value is not None and value != theirs):
        have = signature(key, value, found)
        wanted = signature(table.key_dtype, None if value is None else theirs, None if found is None else theirs)
        raise InvalidArgumentError(None, None, f"Signature mismatch, have: {have} expected: {wanted}")


# --- finding -----------------------------------------------------------------------------------------------------------

lookup_table_find = define_twins(
    "LookupTableFind(table_handle: HANDLE, keys: Tin, default_value: Tout) -> (values: Tout) {Tin: type; Tout: type}"
)
lookup_table_find.not_differentiable()


@lookup_table_find.shape
def _(table: InputShape, keys: InputShape, default: InputShape) -> TensorShape:
    return TensorShape(None)


@lookup_table_find.kernel()
def _(ctx: Any, table_handle: Table, keys: Array, default_value: Array, *, Tin: DType, Tout: DType) -> Array:
    _check_types(table_handle, Tin, Tout, Tout)
    found = table_handle.find(keys, variant_array(default_value))
    return found[()] if Tout is dtypes.variant else found


lookup_table_size = define_twins("LookupTableSize(table_handle: HANDLE) -> (size: int64) {}")
lookup_table_size.not_differentiable()


@lookup_table_size.shape
def _(table: InputShape) -> TensorShape:
    return TensorShape([])


@lookup_table_size.kernel()
def _(ctx: Any, table_handle: Table) -> Array:
    return np.array(table_handle.size(), np.int64)


lookup_table_export = define_twins(
    "LookupTableExport(table_handle: HANDLE) -> (keys: Tkeys, values: Tvalues) {Tkeys: type; Tvalues: type}"
)


@lookup_table_export.shape
def _(table: InputShape) -> list[TensorShape]:
    return [TensorShape(None), TensorShape(None)]


@lookup_table_export.kernel()
def _(ctx: Any, table_handle: Table, *, Tkeys: DType, Tvalues: DType) -> list[Array]:
    _check_types(table_handle, Tkeys, Tvalues)
    return list(table_handle.export())


# --- changing ----------------------------------------------------------------------------------------------------------

lookup_table_insert = define_twins(
    "LookupTableInsert(table_handle: HANDLE, keys: Tin, values: Tout) -> () {Tin: type; Tout: type}"
)
lookup_table_import = define_twins(
    "LookupTableImport(table_handle: HANDLE, keys: Tin, values: Tout) -> () {Tin: type; Tout: type}"
)
lookup_table_insert.not_differentiable()
for _op in (lookup_table_insert, lookup_table_import):

    @_op.shape
    def _(table: InputShape, keys: InputShape, values: InputShape) -> None:
        return None


@lookup_table_insert.kernel()
def _(ctx: Any, table_handle: Table, keys: Array, values: Array, *, Tin: DType, Tout: DType) -> None:
    _check_types(table_handle, Tin, Tout)
    table_handle.insert(keys, variant_array(values))


@lookup_table_import.kernel()
def _(ctx: Any, table_handle: Table, keys: Array, values: Array, *, Tin: DType, Tout: DType) -> None:
    _check_types(table_handle, Tin, Tout)
    table_handle.replace(keys, values)


lookup_table_remove = define_op("LookupTableRemoveV2(table_handle: resource, keys: Tin) -> () {Tin: type} #stateful")


@lookup_table_remove.shape
def _(table: InputShape, keys: InputShape) -> None:
    return None


@lookup_table_remove.kernel("CPU")
def _(ctx: Any, table_handle: Table, keys: Array, *, Tin: DType) -> None:
    _check_types(table_handle, Tin, None)
    table_handle.remove(keys)


# --- filling -----------------------------------------------------------------------------------------------------------

initialize_table = define_twins(
    "InitializeTable(table_handle: HANDLE, keys: Tkey, values: Tval) -> () {Tkey: type; Tval: type}"
)
initialize_table.not_differentiable()


@initialize_table.shape
def _(table: InputShape, keys: InputShape, values: InputShape) -> None:
    merged(with_rank(keys, 1), with_rank(values, 1))


@initialize_table.kernel()
def _(ctx: Any, table_handle: Table, keys: Array, values: Array, *, Tkey: DType, Tval: DType) -> None:
    _check_types(table_handle, Tkey, Tval)
    table_handle.initialize(keys, values)


initialize_table_from_text_file = define_twins(
    "InitializeTableFromTextFile(table_handle: HANDLE, filename: string) -> () {key_index: int >= -2; "
    "value_index: int >= -2; vocab_size: int >= -1 = -1; delimiter: string = '\\t'}"
)
initialize_table_from_text_file.not_differentiable()


@initialize_table_from_text_file.shape
def _(table: InputShape, filename: InputShape) -> None:
    with_rank(filename, 0)


@initialize_table_from_text_file.kernel()
def _(
    ctx: Any,
    table_handle: Table,
    filename: Array,
    *,
    key_index: int,
    value_index: int,
    vocab_size: int,
    delimiter: str | bytes,
) -> None:
    path = filename.item()
    separator = delimiter.encode() if isinstance(delimiter, str) else delimiter
    types = (table_handle.key_dtype, table_handle.value_dtype)
    table_handle.initialize(*read_entries(path, types, (key_index, value_index), vocab_size, separator))
