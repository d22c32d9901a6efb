"""What fills a lookup table: two tensors, or two columns of a text file. `tf.lookup`, `tf.contrib.lookup`, TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.graph.collections import GraphKeys
from tfexp.graph.constant_value import constant_value
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import collect, device, executing_eagerly, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import lookup_ops
from tfexp.ops.lookup_file import LINE_NUMBER, WHOLE_LINE
from tfexp.ops.trackable import Trackable


class TableInitializerBase(Trackable):
    """Keys and values of these types, to fill a table with."""

    # What tables of the same contents are shared by; "" for contents that are not known to be the same.
    shared_name = ""

    def __init__(self, key_dtype: Any, value_dtype: Any):
        self._key_dtype = dtypes.as_dtype(key_dtype)
        self._value_dtype = dtypes.as_dtype(value_dtype)

    @property
    def key_dtype(self) -> DType:
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        return self._value_dtype

    def initialize(self, table: Any) -> Operation:
        """The operation that fills `table`, added to TABLE_INITIALIZERS. TypeError for a table of other types."""
        raise NotImplementedError

    def _check_table(self, table: Any) -> None:
        for what, ours, theirs in (
            ("key", self._key_dtype, table.key_dtype),
            ("value", self._value_dtype, table.value_dtype),
        ):
            if ours != theirs:
                raise TypeError(f"Invalid {what} dtype for table, expected {ours!r} but got {theirs!r}.")


class KeyValueTensorInitializer(TableInitializerBase):
    """`keys` and `values`, one-dimensional and of one length. Source: `tf.lookup.KeyValueTensorInitializer`."""

    def __init__(self, keys: Any, values: Any, key_dtype: Any = None, value_dtype: Any = None, name: str | None = None):
        self._keys = convert_to_tensor(keys, dtype=key_dtype, name="keys")
        self._values = convert_to_tensor(values, dtype=value_dtype, name="values")
        self._name = name if name is not None else "key_value_init"
        super().__init__(self._keys.dtype, self._values.dtype)

    def initialize(self, table: Any) -> Operation:
        self._check_table(table)
        with name_scope(self._name, values=[table.resource_handle, self._keys, self._values]):
            # Importing takes any shapes; that they agree is said here, where it is known.
            self._keys.get_shape().assert_is_compatible_with(self._values.get_shape())
            filled: Operation = lookup_ops.lookup_table_import(table.resource_handle, self._keys, self._values)
        collect(GraphKeys.TABLE_INITIALIZERS, filled)
        return filled


class TextFileIndex:
    """Columns of a text file that are none of its cells. Source: `tf.lookup.TextFileIndex`."""

    WHOLE_LINE = WHOLE_LINE
    LINE_NUMBER = LINE_NUMBER


class TextFileInitializer(TableInitializerBase):
    """Keys and values from the lines of a file: two columns of it, each a number or of TextFileIndex.

    `vocab_size` is how many lines to take (all by default). ValueError for columns and types that do not fit.
    Source: `tf.lookup.TextFileInitializer`.
    """

    def __init__(
        self,
        filename: Any,
        key_dtype: Any,
        key_index: int,
        value_dtype: Any,
        value_index: int,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str | None = None,
    ):
        if not isinstance(filename, Tensor) and not filename:
            raise ValueError("Filename required for text file initializer.")
        super().__init__(key_dtype, value_dtype)
        for what, index, dtype in (("key", key_index, self.key_dtype), ("value", value_index, self.value_dtype)):
            if index < -2:
                raise ValueError(f"Invalid {what} index {index}.")
            if index == LINE_NUMBER and dtype != dtypes.int64:
                raise ValueError(f"Signature mismatch. {what.title()}s must be dtype {dtypes.int64}, got {dtype}.")
            if index == WHOLE_LINE and not (dtype.is_integer if what == "key" else False) and dtype != dtypes.string:
                allowed = "integer or string" if what == "key" else f"dtype {dtypes.string}"
                raise ValueError(f"Signature mismatch. {what.title()}s must be {allowed}, got {dtype}.")
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError(f"`vocab_size` should be > 0, received: {vocab_size}")
        self._columns = (key_index, value_index)
        self._vocab_size = vocab_size
        self._delimiter = delimiter
        self._name = name if name is not None else "text_file_init"
        self._is_node = isinstance(filename, Tensor) and not executing_eagerly()
        with device("CPU"):
            self._filename = convert_to_tensor(filename, dtype=dtypes.string, name="asset_path")

    @property
    def shared_name(self) -> str:  # type: ignore[override]  # here it depends on what was given
        if self._is_node:
            path = str(self._filename)
        else:
            path = constant_value(self._filename).item().decode()  # type: ignore[union-attr]
        parts = [path, *([] if self._vocab_size is None else [self._vocab_size]), *self._columns]
        return "hash_table_" + "_".join(map(str, parts))

    def initialize(self, table: Any) -> Operation:
        self._check_table(table)
        with name_scope(self._name, "text_file_init", [table.resource_handle]):
            filled: Operation = lookup_ops.initialize_table_from_text_file(
                table.resource_handle,
                self._filename,
                key_index=self._columns[0],
                value_index=self._columns[1],
                vocab_size=-1 if self._vocab_size is None else self._vocab_size,
                delimiter=self._delimiter,
            )
        collect(GraphKeys.TABLE_INITIALIZERS, filled)
        # What a saved model has to bring along: a name that is known only in the run cannot be.
        if constant_value(self._filename) is not None:
            collect(GraphKeys.ASSET_FILEPATHS, self._filename)
        return filled


class TextFileStringTableInitializer(TextFileInitializer):
    """From ids, the line numbers, to the strings of a column. Source: `tf.contrib.lookup`."""

    def __init__(
        self,
        filename: Any,
        key_column_index: int = LINE_NUMBER,
        value_column_index: int = WHOLE_LINE,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str | None = "text_file_string_table_init",
    ):
        types = (dtypes.int64, key_column_index, dtypes.string, value_column_index)
        super().__init__(filename, *types, vocab_size=vocab_size, delimiter=delimiter, name=name)


class TextFileIdTableInitializer(TextFileInitializer):
    """From the strings (or integers) of a column to ids, the line numbers. Source: `tf.contrib.lookup`."""

    def __init__(
        self,
        filename: Any,
        key_column_index: int = WHOLE_LINE,
        value_column_index: int = LINE_NUMBER,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str | None = "text_file_id_table_init",
        key_dtype: Any = dtypes.string,
    ):
        types = (key_dtype, key_column_index, dtypes.int64, value_column_index)
        super().__init__(filename, *types, vocab_size=vocab_size, delimiter=delimiter, name=name)
