"""`tf.resource_loader`: files that lie beside the program's."""

from __future__ import annotations

import inspect as _inspect
import os as _os
import sys as _sys

from tfexp.core.gone import missing_from


def _callers_folder() -> str:
    """The folder of the file that asks."""
    return _os.path.dirname(_os.path.abspath(_inspect.getfile(_sys._getframe(2))))


def get_data_files_path() -> str:
    """The folder of the calling file."""
    return _callers_folder()


def get_root_dir_with_all_resources() -> str:
    """The calling file's folder."""
    return _callers_folder()


def get_path_to_datafile(path: str) -> str:
    """A path relative to the calling file's folder."""
    return _os.path.join(_callers_folder(), path)


def load_resource(path: str) -> bytes:
    """The content of a file relative to the calling file's folder."""
    with open(_os.path.join(_callers_folder(), path), "rb") as file:
        return file.read()


def readahead_file_path(path: str, readahead: str = "128M") -> str:
    """The path itself: nothing is read ahead."""
    return path


__getattr__ = missing_from("tf.resource_loader")
