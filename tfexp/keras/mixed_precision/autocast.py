"""Variables that read as halves while a layer computes in halves. Source: mixed precision of `tf.keras`, TF 1.15."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Iterator
from typing import Any

from tfexp.core import dtypes
from tfexp.ops.cast import cast


class _Reading(threading.local):
    dtype: Any = None


_reading = _Reading()


@contextlib.contextmanager
def reading_as(dtype: Any) -> Iterator[None]:
    """Inside, variables of layers with a mixed policy read as this type; None: as what they are."""
    before, _reading.dtype = _reading.dtype, None if dtype is None else dtypes.as_dtype(dtype)
    try:
        yield
    finally:
        _reading.dtype = before


class AutoCastVariable:
    """What `cast_when_read` puts before a variable's own class. Its value, handle and assignments stay what they are."""

    @property
    def dtype(self) -> Any:
        """The type that it reads as here."""
        return _reading.dtype or super().dtype  # type: ignore[misc]

    @property
    def true_dtype(self) -> Any:
        """The type that it has."""
        return super().dtype  # type: ignore[misc]

    def value(self) -> Any:
        return self._read_here(super().value())  # type: ignore[misc]

    def read_value(self) -> Any:
        return self._read_here(super().read_value())  # type: ignore[misc]

    def sparse_read(self, indices: Any, name: str | None = None) -> Any:
        return self._read_here(super().sparse_read(indices, name=name))  # type: ignore[misc]

    def gather_nd(self, indices: Any, name: str | None = None) -> Any:
        return self._read_here(super().gather_nd(indices, name=name))  # type: ignore[misc]

    def _read_here(self, value: Any) -> Any:
        return value if _reading.dtype is None else cast(value, _reading.dtype)


@functools.cache
def _class_for(own: type) -> type:
    return type("AutoCastVariable", (AutoCastVariable, own), {})


def cast_when_read(variable: Any) -> None:
    """Have a floating variable read as `reading_as` says. It stays the same object, so that all who know it see the same."""
    own: type = type(variable)
    variable.__class__ = _class_for(own)
