"""`tensorflow.python.lib.io.file_io`: files read, written and compared as a whole. Source: TF 1.15."""

from __future__ import annotations

import filecmp as _filecmp
import os
from typing import Any

from tfexp.core.errors import AlreadyExistsError
from tfexp.formats.atomic_file import replace_file
from tfexp.formats.crc import crc32c
from tfexp.formats.file_io import GFile


def read_file_to_string(filename: Any, binary_mode: bool = False) -> Any:
    """The contents: a text, or bytes. NotFoundError where there is no such file."""
    with GFile(filename, "rb" if binary_mode else "r") as file:
        return file.read()


def write_string_to_file(filename: Any, file_content: Any) -> None:
    with GFile(filename, "w") as file:
        file.write(file_content)


def atomic_write_string_to_file(filename: Any, contents: Any, overwrite: bool = True) -> None:
    """The file has either its old contents or these. AlreadyExistsError unless `overwrite`."""
    if not overwrite and os.path.exists(filename):
        raise AlreadyExistsError(None, None, f"file already exists: {os.fspath(filename)!r}")
    replace_file(os.fspath(filename), contents if isinstance(contents, bytes) else contents.encode())


def has_atomic_move(path: Any) -> bool:
    """Whether renaming replaces a file at once, as on every local file system."""
    return True


def filecmp(filename_a: Any, filename_b: Any) -> bool:
    """Whether two files have the same contents."""
    return _filecmp.cmp(filename_a, filename_b, shallow=False)


def file_crc32(filename: Any, block_size: int = 0) -> str:
    """A checksum of the contents, in hexadecimal digits."""
    with open(filename, "rb") as file:
        return hex(crc32c(file.read()))
