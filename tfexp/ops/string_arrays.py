"""Arrays of texts: how string kernels make them, read them, and speak of them."""

from __future__ import annotations

import re
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


_SPECIAL = re.compile(rb"[\x00-\x1f\x7f\"'\\]")
_SPECIAL_OR_WIDE = re.compile(rb"[\x00-\x1f\x7f-\xff\"'\\]")
_NAMED = {b"\n": rb"\n", b"\r": rb"\r", b"\t": rb"\t", b'"': rb"\"", b"'": rb"\'", b"\\": rb"\\"}


def _escape(match: re.Match[bytes]) -> bytes:
    return _NAMED.get(match[0]) or b"\\%03o" % match[0][0]


def escaped(text: bytes, ascii_only: bool = False) -> bytes:
    """A text as C writes it between quotes; with `ascii_only` letters beyond ASCII as numbers, too."""
    return (_SPECIAL_OR_WIDE if ascii_only else _SPECIAL).sub(_escape, text)
