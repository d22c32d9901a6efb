"""`float32_ref` and the like: the dtypes of references to values. Source: `tensorflow.python.framework.dtypes`, TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes


def __getattr__(name: str) -> Any:
    base = getattr(dtypes, name.removesuffix("_ref"), None) if name.endswith("_ref") else None
    if not isinstance(base, dtypes.DType):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return base._as_ref
