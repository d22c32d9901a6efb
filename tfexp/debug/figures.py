"""What the elements of an array are like: how many there are of each kind, and their least, largest and mean value.

Source: `tensor_format.numeric_summary` of TF 1.15's debugger.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def figures(array: np.ndarray) -> list[str]:
    """Two lines of counts and, where there are finite numbers, two lines about these; else why there are none."""
    if array.size == 0:
        return ["No numeric summary available due to empty tensor."]
    if array.dtype.kind == "b":
        return _counts({"False": array.size - np.count_nonzero(array), "True": np.count_nonzero(array)}, array.size)
    if array.dtype.kind not in "iuf":
        return [f"No numeric summary available due to tensor dtype: {array.dtype}."]
    finite = array[np.isfinite(array)]
    counts = {
        "nan": np.isnan(array).sum(),
        "-inf": (array == -np.inf).sum(),
        "-": (finite < 0).sum(),
        "0": (finite == 0).sum(),
        "+": (finite > 0).sum(),
        "+inf": (array == np.inf).sum(),
    }
    about = {"min": finite.min, "max": finite.max, "mean": finite.mean, "std": finite.std}
    return _counts(counts, array.size) + (_table({name: str(of()) for name, of in about.items()}) if finite.size else [])


def _counts(counts: dict[str, Any], total: int) -> list[str]:
    """Those that are not zero, and their sum."""
    kinds = _table({kind: str(count) for kind, count in counts.items() if count})
    return [line + more[1:] for line, more in zip(kinds, _table({"total": str(total)}), strict=True)]


def _table(cells: dict[str, str]) -> list[str]:
    """Names above values, in columns of one width."""
    width = max(map(len, [*cells, *cells.values()]))
    return [f"| {' '.join(cell.rjust(width) for cell in row)} |" for row in (cells, cells.values())]
