"""Names that NumPy had in TensorFlow 1.15's days and has no longer; programs of that time use them (`np.float`).

Only `tfexp.script` puts them back, into NumPy itself, for the program that it runs. Methods of arrays that are gone
(`ndarray.tostring`) cannot come back.
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

_BUILTINS = ("bool", "int", "float", "complex", "object", "str")
_ALIASES = {
    "Inf": "inf",
    "Infinity": "inf",
    "NaN": "nan",
    "infty": "inf",
    "float_": "float64",
    "complex_": "complex128",
    "string_": "bytes_",
    "unicode_": "str_",
    "product": "prod",
    "cumproduct": "cumprod",
    "sometrue": "any",
    "alltrue": "all",
    "round_": "round",
    "row_stack": "vstack",
    "in1d": "isin",
    "trapz": "trapezoid",
    "mat": "asmatrix",
}


def _asscalar(a: Any) -> Any:
    return np.asarray(a).item()


def put_back() -> None:
    """Give NumPy those of the names that it lacks."""
    lost: dict[str, Any] = {name: getattr(builtins, name) for name in _BUILTINS}
    lost |= {old: getattr(np, new) for old, new in _ALIASES.items()}
    lost |= {"unicode": str, "long": int, "asscalar": _asscalar}
    for name, value in lost.items():
        if name not in vars(np):
            setattr(np, name, value)
