"""Lookup tables as programs hold them: those that are filled once, and those whose entries come and go.

Source: `tf.lookup`, `tf.contrib.lookup`, TF 1.15.
"""

from __future__ import annotations

import uuid
from typing import Any, ClassVar

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.shape import TensorShape
from tfexp.graph.collections import GraphKeys
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import collect, get_collection, get_default_graph, name_scope
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.graph.tensor import Tensor
from tfexp.ops import lookup_ops
from tfexp.ops.lookup_initializers import TableInitializerBase
from tfexp.ops.saveable_object import SaveableObject, SaveSpec
from tfexp.ops.trackable import SavedState, Trackable


class LookupInterface(Trackable):
    """What every table can do: be asked for keys (`lookup`) and for its `size`."""

    def __init__(self, key_dtype: Any, value_dtype: Any):
        self._key_dtype = dtypes.as_dtype(key_dtype)
        self._value_dtype = dtypes.as_dtype(value_dtype)

    @property
    def key_dtype(self) -> DType:
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        return self._value_dtype

    @property
    def name(self) -> str:
        raise NotImplementedError

    def size(self, name: str | None = None) -> Tensor:
        """The number of entries, int64."""
        raise NotImplementedError

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The value of each key, the table's default where it has none; of a SparseTensor of keys, one of values."""
        raise NotImplementedError

    def _check_keys(self, keys: Any) -> None:
        if keys.dtype.base_dtype != self._key_dtype:
            raise TypeError(f"Signature mismatch. Keys must be dtype {self._key_dtype}, got {keys.dtype}.")


# --- tables that are filled once ---------------------------------------------------------------------------------------


class InitializableLookupTableBase(LookupInterface):
    """A table that `initializer` fills when the program runs that operation (`tf.tables_initializer` runs all)."""

    def __init__(self, default_value: Any, initializer: TableInitializerBase):
        super().__init__(initializer.key_dtype, initializer.value_dtype)
        self._default_value = convert_to_tensor(default_value, dtype=self._value_dtype)
        self._default_value.get_shape().merge_with(TensorShape([]))
        self._resource_handle = self._create_resource()
        self._initializer = initializer
        self._init_op = initializer.initialize(self)

    def _create_resource(self) -> Tensor:
        raise NotImplementedError

    @property
    def default_value(self) -> Tensor:
        return self._default_value

    @property
    def resource_handle(self) -> Tensor:
        return self._resource_handle

    table_ref = resource_handle

    @property
    def initializer(self) -> Operation:
        return self._init_op

    @property
    def init(self) -> Operation:
        return self._init_op

    def size(self, name: str | None = None) -> Tensor:
        with name_scope(name, f"{self.name}_Size", [self.resource_handle]):
            return lookup_ops.lookup_table_size(self.resource_handle)  # type: ignore[no-any-return]

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        key_tensor = keys.values if isinstance(keys, SparseTensor) else convert_to_tensor(keys, dtype_hint=self._key_dtype)
        self._check_keys(key_tensor)
        with name_scope(name, f"{self.name}_Lookup", [self.resource_handle, key_tensor, self._default_value]):
            values = lookup_ops.lookup_table_find(self.resource_handle, key_tensor, self._default_value)
        values.set_shape(key_tensor.get_shape())
        return SparseTensor(keys.indices, values, keys.dense_shape) if isinstance(keys, SparseTensor) else values

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """(all keys, their values)."""
        with name_scope(name, f"{self.name}_Export", [self.resource_handle]):
            keys, values = lookup_ops.lookup_table_export(
                self.resource_handle, Tkeys=self._key_dtype, Tvalues=self._value_dtype
            )
        keys.set_shape([None])
        values.set_shape([None])
        return keys, values


class StaticHashTable(InitializableLookupTableBase):
    """`default_value` is what keys get that the initializer does not have. Source: `tf.lookup.StaticHashTable`."""

    def __init__(self, initializer: TableInitializerBase, default_value: Any, name: str | None = None):
        # Nodes of one shared name are one table; without contents to tell it by, a table has a name of its own.
        self._shared_name = initializer.shared_name or f"hash_table_{uuid.uuid4()}"
        self._name = name or "hash_table"
        super().__init__(default_value, initializer)

    @property
    def name(self) -> str:
        return self._name

    def _create_resource(self) -> Tensor:
        return lookup_ops.hash_table(  # type: ignore[no-any-return]
            shared_name=self._shared_name, key_dtype=self._key_dtype, value_dtype=self._value_dtype, name=self._name
        )


class HashTable(StaticHashTable):
    """As StaticHashTable, with a shared name of the program's choice. Source: `tf.contrib.lookup.HashTable`."""

    def __init__(
        self, initializer: TableInitializerBase, default_value: Any, shared_name: str | None = None, name: str | None = None
    ):
        self._given_name = shared_name
        super().__init__(initializer, default_value, name)

    def _create_resource(self) -> Tensor:
        self._shared_name = self._given_name or self._shared_name
        return super()._create_resource()


# --- tables whose entries come and go ----------------------------------------------------------------------------------


class MutableHashTable(LookupInterface, SavedState):
    """Entries are inserted and removed by operations. Values have the shape of `default_value`, at most a vector.

    With `checkpoint`, what it holds is saved and restored with the variables; a `tf.train.Checkpoint` has the entries of the
    tables among its parts in any case. Source: `tf.contrib.lookup.MutableHashTable`.
    """

    _attribute: ClassVar = "table"

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        name: str = "MutableHashTable",
        checkpoint: bool = True,
        *,
        shared_name: str | None = None,
    ):
        super().__init__(key_dtype, value_dtype)
        self._default_value = convert_to_tensor(default_value, dtype=self._value_dtype)
        self._value_shape = self._default_value.get_shape()
        self._shared_name = shared_name or ""
        # What is saved has to be the same in every session: it is known by the node's name.
        self._sharing = checkpoint and shared_name is None
        self._resource_handle = self._create_resource(name)
        self._name = self._resource_handle._op.name.rsplit("/", 1)[-1]
        if checkpoint:
            # Without its scopes, unless that would hide another table of the graph from the saver.
            taken = any(known.name == name for known in get_collection(GraphKeys.SAVEABLE_OBJECTS))
            key = self._resource_handle._op.name if taken else name
            collect(GraphKeys.SAVEABLE_OBJECTS, SaveableTable(self, key))

    def _create_resource(self, name: str) -> Tensor:
        settings = {"key_dtype": self._key_dtype, "value_dtype": self._value_dtype, "name": name}
        settings |= {"shared_name": self._shared_name, "use_node_name_sharing": self._sharing}
        if self._value_shape.ndims == 0:
            return lookup_ops.mutable_hash_table(**settings)  # type: ignore[no-any-return]
        return lookup_ops.mutable_hash_table_of_tensors(value_shape=self._value_shape, **settings)  # type: ignore[no-any-return]

    @property
    def name(self) -> str:
        return self._name

    @property
    def resource_handle(self) -> Tensor:
        return self._resource_handle

    def saveable(self, key: str) -> SaveableObject:
        return SaveableTable(self, key)

    def _key_shape(self) -> TensorShape:
        return TensorShape([])

    def _scope(self, name: str | None, what: str, *tensors: Any) -> Any:
        return name_scope(name, f"{self.name}_{what}", [self._resource_handle, *tensors])

    def _near(self) -> Any:
        return get_default_graph().colocate_with(self._resource_handle)

    def size(self, name: str | None = None) -> Tensor:
        with self._scope(name, "Size"), self._near():
            return lookup_ops.lookup_table_size(self._resource_handle)  # type: ignore[no-any-return]

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        with self._scope(name, "lookup_table_find", keys, self._default_value):
            if isinstance(keys, SparseTensor):
                found = self._find(keys.values)
                return SparseTensor(keys.indices, found, keys.dense_shape)
            return self._find(convert_to_tensor(keys, dtype=self._key_dtype, name="keys"))

    def _find(self, keys: Tensor) -> Tensor:
        self._check_keys(keys)
        with self._near():
            found: Tensor = lookup_ops.lookup_table_find(self._resource_handle, keys, self._default_value)
        outer = keys.get_shape()
        rank = self._key_shape().ndims
        if outer.ndims is not None and rank is not None:
            found.set_shape(outer[: outer.ndims - rank].concatenate(self._value_shape))
        return found

    def insert(self, keys: Any, values: Any, name: str | None = None) -> Operation:
        """The operation that sets the values of these keys. TypeError for other types."""
        with self._scope(name, "lookup_table_insert", keys, values):
            keys = convert_to_tensor(keys, self._key_dtype, name="keys")
            values = convert_to_tensor(values, self._value_dtype, name="values")
            with self._near():
                done: Operation = lookup_ops.lookup_table_insert(self._resource_handle, keys, values)
        return done

    def remove(self, keys: Any, name: str | None = None) -> Operation:
        """The operation that takes these keys out; those that are not there do not matter. TypeError for other types."""
        keys = convert_to_tensor(keys, dtype_hint=self._key_dtype)
        self._check_keys(keys)
        with self._scope(name, "lookup_table_remove", keys, self._default_value):
            done: Operation = lookup_ops.lookup_table_remove(self._resource_handle, keys)
        return done

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """(all keys, their values), in the same order."""
        with self._scope(name, "lookup_table_export_values"), self._near():
            keys, values = lookup_ops.lookup_table_export(
                self._resource_handle, Tkeys=self._key_dtype, Tvalues=self._value_dtype
            )
        return keys, values


class MutableDenseHashTable(MutableHashTable):
    """A mutable table in which no key is `empty_key` or `deleted_key`; keys and values may be vectors.

    Source: `tf.contrib.lookup.MutableDenseHashTable`.
    """

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        empty_key: Any,
        deleted_key: Any,
        initial_num_buckets: int | None = None,
        name: str = "MutableDenseHashTable",
        checkpoint: bool = True,
    ):
        self._buckets = {} if initial_num_buckets is None else {"initial_num_buckets": initial_num_buckets}
        default_value = convert_to_tensor(default_value, dtype=value_dtype, name="default_value")
        self._empty_key = convert_to_tensor(empty_key, dtype=key_dtype, name="empty_key")
        self._deleted_key = convert_to_tensor(deleted_key, dtype=key_dtype, name="deleted_key")
        super().__init__(key_dtype, value_dtype, default_value, name, checkpoint)

    def _key_shape(self) -> TensorShape:
        return self._empty_key.get_shape()

    def _create_resource(self, name: str) -> Tensor:
        return lookup_ops.mutable_dense_hash_table(  # type: ignore[no-any-return]
            self._empty_key,
            self._deleted_key,
            shared_name=self._shared_name,
            use_node_name_sharing=self._sharing,
            value_dtype=self._value_dtype,
            value_shape=self._value_shape,
            name=name,
            **self._buckets,
        )


class DenseHashTable(MutableDenseHashTable):
    """The same under its name in `tf.lookup.experimental`."""

    def erase(self, keys: Any, name: str | None = None) -> Operation:
        """`remove` by the name that it has in `tf.lookup.experimental`."""
        return self.remove(keys, name)

    def insert_or_assign(self, keys: Any, values: Any, name: str | None = None) -> Operation:
        """`insert` by the name that it has in `tf.lookup.experimental`."""
        return self.insert(keys, values, name)


class SaveableTable(SaveableObject):
    """Two tensors of a checkpoint: `NAME-keys` and `NAME-values`."""

    def __init__(self, table: MutableHashTable, name: str):
        keys, values = table.export()
        super().__init__(table, [SaveSpec(keys, "", f"{name}-keys"), SaveSpec(values, "", f"{name}-values")], name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Operation:
        handle = self.op.resource_handle
        with name_scope(f"{self.op.name}_table_restore"), get_default_graph().colocate_with(handle):
            restored: Operation = lookup_ops.lookup_table_import(handle, *restored_tensors)
        return restored
