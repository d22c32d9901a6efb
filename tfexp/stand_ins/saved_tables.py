"""`tensorflow.python.training.saver_test_utils`: something to save that is no variable. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core.op import get_op
from tfexp.ops.lookup import MutableHashTable, SaveableTable


class CheckpointedOp:
    """A table from strings to floats, and in `saveable` what a Saver takes of it."""

    def __init__(self, name: str):
        # The session keeps tables by name: another object of that name is the same table.
        self._table = MutableHashTable("string", "float32", 0.0, shared_name=name, name=name, checkpoint=False)
        self.saveable = SaveableTable(self._table, name)

    @property
    def name(self) -> str:
        return self.saveable.name

    def insert(self, keys: Any, values: Any) -> Any:
        return self._table.insert(keys, values)

    def lookup(self, keys: Any, default: Any) -> Any:
        return get_op("LookupTableFindV2")(self._table.resource_handle, keys, default)

    def keys(self) -> Any:
        return self._table.export()[0]

    def values(self) -> Any:
        return self._table.export()[1]
