"""What pandas' tables have, as arrays. Source: `tf.contrib.learn.extract_pandas_data` and its kin, TF 1.15.

Anything else is given back as it is. Pandas is not imported: who has no pandas has no tables.
"""

from __future__ import annotations

import sys
from typing import Any


def extract_pandas_data(data: Any) -> Any:
    """A table as float64 [rows, columns]; ValueError for columns that are no numbers or booleans."""
    if not _is_table(data):
        return data
    _check(data, "Data types for extracting pandas data must be int, float, or bool. Found: ")
    return data.values.astype("float")


def extract_pandas_matrix(data: Any) -> Any:
    """A table as an array [rows, columns], of whatever it has."""
    return data.values if _is_table(data) else data


def extract_pandas_labels(labels: Any) -> Any:
    """A table of one column as an array [rows, 1]; ValueError for more of them, and as above."""
    if not _is_table(labels):
        return labels
    if len(labels.columns) > 1:
        raise ValueError("Only one column for labels is allowed.")
    _check(labels, "Data types for extracting labels must be int, float, or bool. Found: ")
    return labels.values


def _is_table(data: Any) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(data, pandas.DataFrame)


def _check(table: Any, message: str) -> None:
    strange = {name: kind.name for name, kind in table.dtypes.items() if kind.kind not in "iufb"}
    if strange:
        raise ValueError(message + ", ".join(f"'{name}' type='{kind}'" for name, kind in strange.items()))
