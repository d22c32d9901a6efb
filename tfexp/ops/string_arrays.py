"""Arrays of texts: how string kernels make them, read them, and speak of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def string_array(values: Sequence[bytes], shape: tuple[int, ...]) -> np.ndarray:
    """An object array of that shape that holds the texts in order."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array.reshape(shape)


def texts_of(array: Any) -> list[bytes]:
    """The elements of a string array, in order."""
    elements: list[bytes] = np.asarray(array, dtype=object).ravel().tolist()
    return elements


def attr_bytes(value: bytes | str) -> bytes:
    """The bytes of a string attribute, which is text where Python gave it."""
    return value.encode() if isinstance(value, str) else value


def shown(text: bytes) -> str:
    """A text in an error message."""
    return text.decode(errors="replace")
