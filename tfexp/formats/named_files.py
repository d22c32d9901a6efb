"""`tf.io.gfile`: the functions of `tf.gfile`, with the names that TensorFlow 1.15 gives their arguments there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from tfexp.core.text import as_str_any, path_to_str
from tfexp.formats import file_io


def copy(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Copy a file; AlreadyExistsError unless `overwrite`."""
    file_io.copy(src, dst, overwrite)


def rename(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Move a file; AlreadyExistsError unless `overwrite`."""
    file_io.rename(src, dst, overwrite)


def exists(path: Any) -> bool:
    """Whether there is a file or folder."""
    return file_io.exists(path)


def glob(pattern: Any) -> list[str]:
    """The paths that match a pattern, or any pattern of a list."""
    return file_io.glob_files(pattern)


def isdir(path: Any) -> bool:
    """Whether there is a folder."""
    return file_io.is_directory(path)


def listdir(path: Any) -> list[str]:
    """The names in a folder; NotFoundError without one."""
    return file_io.list_directory(path)


def mkdir(path: Any) -> None:
    """Make one folder; AlreadyExistsError, or NotFoundError without its parent."""
    file_io.make_directory(path)


def makedirs(path: Any) -> None:
    """Make a folder and its parents; it may be there already."""
    file_io.make_directories(path)


def remove(path: Any) -> None:
    """Delete a file."""
    file_io.remove(path)


def rmtree(path: Any) -> None:
    """Delete a folder with all that is in it, or a file."""
    file_io.delete_recursively(path)


def stat(path: Any) -> file_io.FileStatistics:
    """Length in bytes, time of the last change in nanoseconds and kind of a file."""
    return file_io.stat(path)


def walk(
    top: Any, topdown: bool = True, onerror: Callable[[OSError], Any] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """(folder, folders in it, files in it), from `top` down, or from the leaves up; `onerror` gets what went wrong."""
    yield from os.walk(as_str_any(path_to_str(top)), topdown, onerror)
