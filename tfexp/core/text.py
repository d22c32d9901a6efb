"""Strings of bytes and of characters, and the kinds of numbers, for code that takes either. Source: `tf.compat`."""

from __future__ import annotations

import os
import re
from typing import Any


def as_bytes(bytes_or_text: Any, encoding: str = "utf-8") -> bytes:
    """The argument as bytes; TypeError unless it is bytes, a bytearray or a str. `tf.compat.as_bytes`."""
    if isinstance(bytes_or_text, bytearray):
        return bytes(bytes_or_text)
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_text(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """The argument as a str; TypeError unless it is bytes or a str. `tf.compat.as_text`, `tf.compat.as_str`."""
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_str_any(value: Any) -> str:
    """Bytes decoded, anything else as `str()` gives it. `tf.compat.as_str_any`."""
    return as_text(value) if isinstance(value, bytes) else str(value)


def path_to_str(path: Any) -> Any:
    """A path object as a str; anything else itself. `tf.compat.path_to_str`."""
    return as_str_any(os.fspath(path)) if hasattr(path, "__fspath__") else path


def snake_case(name: str) -> str:
    """`BasicLSTMCell` -> `basic_lstm_cell`, as TensorFlow names layers after their classes."""
    words = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    spelled = re.sub(r"([a-z])([A-Z])", r"\1_\2", words).lower()
    return f"private{spelled}" if spelled.startswith("_") else spelled
