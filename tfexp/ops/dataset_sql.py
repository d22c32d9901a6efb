"""A data set of the rows that a query gives: SqlDataset, of SQLite files.

SQLite itself makes of each value what the column is to be: it has a rule for every pair of types, and NULL becomes 0 or "".
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.errors import InvalidArgumentError, UnknownError
from tfexp.ops.dataset import Dataset, DatasetIterator, Element, FromRecipe, State, define_dataset, row

sql_dataset = define_dataset(
    "SqlDataset(driver_name: string, data_source_name: string, query: string) -> (handle: variant) "
    "{output_types: list(type) >= 1; output_shapes: list(shape) >= 1} #stateful"
)

_WHOLE = (dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.uint16, dtypes.bool)
# What becomes of a value, and of none.
_AS: dict[DType, tuple[str, str]] = {
    **dict.fromkeys(_WHOLE, ("INTEGER", "0")),
    dtypes.float64: ("REAL", "0.0"),
    dtypes.string: ("TEXT", "''"),
}


class _Rows(DatasetIterator):
    blocks = True

    def __init__(self, path: str, query: str, types: Sequence[DType]):
        self._path, self._query, self._types = path, query, types
        self._position = 0
        self._cursor: sqlite3.Cursor | None = None

    def _open(self) -> sqlite3.Cursor:
        try:
            # Iterators go from thread to thread, but are used by one at a time.
            connection = sqlite3.connect(f"file:{quote(self._path)}?mode=ro", uri=True, check_same_thread=False)
        except sqlite3.Error as error:
            raise InvalidArgumentError(None, None, f"Sqlite::Open({self._path}) failed: {error}") from None
        connection.text_factory = bytes
        try:
            found = len(connection.execute(self._query).description or ())
            if found != len(self._types):
                raise InvalidArgumentError(
                    None,
                    None,
                    f"The number of columns in query ({found}) must match the number of elements in output_types "
                    f"({len(self._types)}).",
                )
            cursor = connection.execute(self._converting())
            for _ in range(self._position):
                cursor.fetchone()
        except sqlite3.Error as error:
            connection.close()
            raise UnknownError(None, None, f"Prepare() failed: {error}: {self._query}") from None
        except InvalidArgumentError:
            connection.close()
            raise
        return cursor

    def _converting(self) -> str:
        """The query, with each column converted to what it is to be."""
        names = [f"column{i}" for i in range(len(self._types))]
        columns = [
            f"coalesce(cast({name} as {kind}), {none})"
            for name, (kind, none) in zip(names, (_AS[dtype] for dtype in self._types), strict=True)
        ]
        query = self._query.strip().rstrip(";")
        return f"with rows({', '.join(names)}) as ({query}\n) select {', '.join(columns)} from rows"

    def block(self, count: int) -> list[np.ndarray] | None:
        if self._cursor is None:
            self._cursor = self._open()
        try:
            rows = self._cursor.fetchmany(count)
        except sqlite3.Error as error:
            raise UnknownError(None, None, f"Step() failed: {error}: {self._query}") from None
        if not rows:
            return None
        self._position += len(rows)
        return [_column(values, dtype) for values, dtype in zip(zip(*rows, strict=True), self._types, strict=True)]

    def next(self) -> Element | None:
        found = self.block(1)
        return None if found is None else [row(column, 0) for column in found]

    def save(self) -> State:
        return self._position

    def restore(self, state: State) -> None:
        self._position = state

    def close(self) -> None:
        if self._cursor is not None:
            self._cursor.connection.close()

    def __del__(self) -> None:
        self.close()


def _column(values: Sequence[Any], dtype: DType) -> np.ndarray:
    """Whole numbers beyond the type are cut to its bits."""
    wide: np.ndarray = np.array(values, np.int64 if dtype in _WHOLE else dtype.as_numpy_dtype)
    return wide.astype(dtype.as_numpy_dtype)


@sql_dataset.kernel("CPU")
def _(
    ctx: Any, driver_name: Any, data_source_name: Any, query: Any, *, output_types: list[DType], output_shapes: list[Any]
) -> Dataset:
    driver, path, text = (value[()].decode() for value in (driver_name, data_source_name, query))
    if driver != "sqlite":
        raise InvalidArgumentError(
            None,
            None,
            f"The database type, {driver}, is not supported by SqlDataset. The set of supported databases is: {{'sqlite'}}.",
        )
    for i, (dtype, shape) in enumerate(zip(output_types, output_shapes, strict=True)):
        if dtype not in _AS:
            allowed = ", ".join(one.name for one in _AS)
            raise InvalidArgumentError(
                None, None, f"Each element of `output_types_` must be one of: {allowed}; element {i} is {dtype.name}"
            )
        if shape.rank != 0:
            raise InvalidArgumentError(
                None, None, f"Each element of `output_shapes_` must be a scalar; element {i} is {shape}"
            )
    return FromRecipe(lambda: _Rows(path, text, output_types))
