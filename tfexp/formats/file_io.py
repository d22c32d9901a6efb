"""Files by path, with TensorFlow's exceptions: `tf.gfile`.

A file is opened when it is first read or written, so a missing one is a NotFoundError of `read`, not of `GFile`.
"""

from __future__ import annotations

import contextlib
import glob
import os
import shutil
import stat as kinds
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import IO, Any

from tfexp.core import errors
from tfexp.core.text import as_bytes, as_str_any, as_text, path_to_str
from tfexp.formats.file_errors import file_error
from tfexp.formats.paths import local_path, split_scheme

_MODES = ("r", "w", "a", "r+", "w+", "a+")


@contextlib.contextmanager
def _reported(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise file_error(path, error) from None


class GFile:
    """A file, of which text is read, or bytes with a `b` in `mode` (r, w, a, r+, w+, a+). `tf.gfile.GFile`, `tf.gfile.Open`.

    Numbers and places are of bytes in every mode, and both text and bytes are written.
    """

    def __init__(self, name: Any, mode: str = "r"):
        if mode.replace("b", "") not in _MODES:
            raise errors.InvalidArgumentError(None, None, f"mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+': {mode!r}")
        self._name, self._mode = as_str_any(path_to_str(name)), mode
        self._file: IO[Any] | None = None

    @property
    def name(self) -> str:
        return self._name

    @property
    def mode(self) -> str:
        return self._mode

    def _opened(self, purpose: str) -> IO[Any]:
        if purpose == "read" and "r" not in self._mode and "+" not in self._mode:
            raise errors.PermissionDeniedError(None, None, "File isn't open for reading")
        if purpose == "write" and self._mode in ("r", "rb"):
            raise errors.PermissionDeniedError(None, None, "File isn't open for writing")
        if self._file is None:
            with _reported(self._name):
                self._file = open(local_path(self._name), self._mode.replace("b", "") + "b")  # noqa: SIM115
        return self._file

    def _as_asked(self, content: bytes) -> Any:
        return content if "b" in self._mode else as_text(content)

    def size(self) -> int:
        """Bytes in the file."""
        with _reported(self._name):
            return os.stat(local_path(self._name)).st_size

    def read(self, n: int = -1) -> Any:
        with _reported(self._name):
            return self._as_asked(self._opened("read").read(n))

    def readline(self) -> Any:
        """The line from here on, without carriage returns; nothing at the end of the file."""
        with _reported(self._name):
            return self._as_asked(self._opened("read").readline().replace(b"\r", b""))

    def readlines(self) -> list[Any]:
        return list(self)

    def __iter__(self) -> GFile:
        return self

    def __next__(self) -> Any:
        if line := self.readline():
            return line
        raise StopIteration

    next = __next__

    def write(self, file_content: Any) -> None:
        file = self._opened("write")
        with _reported(self._name):
            file.write(as_bytes(file_content))

    def seek(self, offset: int | None = None, whence: int = 0, position: int | None = None) -> None:
        """Go to `offset` from the beginning (`whence` 0), from here (1) or from the end (2); `position` is its old name.

        TypeError without either of them.
        """
        offset = position if offset is None else offset
        if offset is None:
            raise TypeError("seek(): offset argument required")
        file = self._opened("any")
        if whence not in (os.SEEK_SET, os.SEEK_CUR, os.SEEK_END):
            raise errors.InvalidArgumentError(None, None, f"Invalid whence argument: {whence}. Valid values are 0, 1, or 2.")
        place = offset + (0, file.tell(), self.size())[whence]
        if place < 0:
            raise errors.InvalidArgumentError(None, None, f"{self._name} has no position {place}")
        with _reported(self._name):
            file.seek(place)

    def tell(self) -> int:
        with _reported(self._name):
            return self._opened("any").tell()

    def seekable(self) -> bool:
        return True

    def flush(self) -> None:
        if self._file is not None:
            with _reported(self._name):
                self._file.flush()

    def close(self) -> None:
        if self._file is not None:
            file, self._file = self._file, None
            with _reported(self._name):
                file.close()

    def __enter__(self) -> GFile:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def exists(filename: Any) -> bool:
    """Whether there is a file or folder. `tf.gfile.Exists`."""
    return os.path.exists(local_path(filename))


def is_directory(dirname: Any) -> bool:
    """Whether there is a folder. `tf.gfile.IsDirectory`."""
    return os.path.isdir(local_path(dirname))


def list_directory(dirname: Any) -> list[str]:
    """The names in a folder; NotFoundError without one. `tf.gfile.ListDirectory`."""
    if not is_directory(dirname):
        raise errors.NotFoundError(None, None, "Could not find directory " + as_str_any(dirname))
    with _reported(dirname):
        return os.listdir(local_path(dirname))


def glob_files(filename: Any) -> list[str]:
    """The paths that match a pattern, or any pattern of a list. `tf.gfile.Glob`."""
    patterns: Iterable[Any] = filename if isinstance(filename, (list, tuple)) else [filename]
    places = [split_scheme(pattern) for pattern in patterns]
    return [scheme + path for scheme, pattern in places for path in sorted(glob.glob(pattern))]


def make_directory(dirname: Any) -> None:
    """Make one folder, unless there is one; NotFoundError without its parent. `tf.gfile.MkDir`."""
    with _reported(dirname), contextlib.suppress(FileExistsError):
        os.mkdir(local_path(dirname))


def make_directories(dirname: Any) -> None:
    """Make a folder and its parents; it may be there already. `tf.gfile.MakeDirs`."""
    with _reported(dirname):
        os.makedirs(local_path(dirname), exist_ok=True)


def remove(filename: Any) -> None:
    """Delete a file. `tf.gfile.Remove`."""
    with _reported(filename):
        os.remove(local_path(filename))


def delete_recursively(dirname: Any) -> None:
    """Delete a folder with all that is in it, or a file. `tf.gfile.DeleteRecursively`."""
    with _reported(dirname):
        if os.path.isdir(local_path(dirname)):
            shutil.rmtree(local_path(dirname))
        else:
            os.remove(local_path(dirname))


def _to_new_path(act: Callable[[Any, Any], Any], old: Any, new: Any, overwrite: bool) -> None:
    if not overwrite and os.path.exists(local_path(new)):
        raise errors.AlreadyExistsError(None, None, "file already exists")
    with _reported(old):
        act(local_path(old), local_path(new))


def copy(oldpath: Any, newpath: Any, overwrite: bool = False) -> None:
    """Copy a file; AlreadyExistsError unless `overwrite`. `tf.gfile.Copy`."""
    _to_new_path(shutil.copyfile, oldpath, newpath, overwrite)


def rename(oldname: Any, newname: Any, overwrite: bool = False) -> None:
    """Move a file; AlreadyExistsError unless `overwrite`. `tf.gfile.Rename`."""
    _to_new_path(os.replace, oldname, newname, overwrite)


def walk(top: Any, in_order: bool = True) -> Iterator[tuple[str, list[str], list[str]]]:
    """(folder, folders in it, files in it), from `top` down, or from the leaves up. `tf.gfile.Walk`."""
    scheme, folder = split_scheme(top)
    for path, folders, files in os.walk(folder, topdown=in_order):
        yield scheme + path, folders, files


@dataclass(frozen=True)
class FileStatistics:
    """Length, when it was written and kind of a file. TF: `FileStatistics`."""

    length: int
    mtime_nsec: int
    is_directory: bool


def stat(filename: Any) -> FileStatistics:
    """Length in bytes, time of the last change in nanoseconds and kind of a file. `tf.gfile.Stat`."""
    with _reported(filename):
        found = os.stat(local_path(filename))
    return FileStatistics(found.st_size, found.st_mtime_ns, kinds.S_ISDIR(found.st_mode))
