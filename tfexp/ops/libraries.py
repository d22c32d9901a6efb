"""Shared libraries of ops, kernels and file systems in C++: there is no runtime in C++ that they could register with.

A library for TensorFlow needs TensorFlow's own, so that loading one says, in the dynamic loader's words, what is missing.
"""

from __future__ import annotations

import ctypes
import errno
import os
from typing import Any, NoReturn

from tfexp.core import errors
from tfexp.core.deprecation import deprecated
from tfexp.formats import file_io

INSTEAD = "write them in Python: tf.py_func, or tfexp.core.op.define_op for ops with shapes, kernels and gradients"


def load_op_library(library_filename: str) -> NoReturn:
    """A library of compiled ops cannot be loaded. Source: `tf.load_op_library`, TF 1.15.

    NotFoundError, in the words of the dynamic loader, for what it does not load: there is no such file, it is no library, or
    it needs one that is missing. UnimplementedError for what it does load. TypeError unless the name is a string.
    """
    _refuse(library_filename)


@deprecated(None, "Use `tf.load_library` instead.")
def load_file_system_library(library_filename: str) -> NoReturn:
    """A compiled file system cannot be loaded: errors as of `load_op_library`. `tf.load_file_system_library`, TF 1.15."""
    _refuse(library_filename)


def load_library(library_location: Any) -> None:
    """The libraries of kernels in a folder, or one of them, cannot be loaded: errors as of `load_op_library`.

    Nothing is done for a folder without libraries (`*.so`). FileNotFoundError for a path where nothing is. Source:
    `tf.load_library`, TF 1.15.
    """
    if not file_io.exists(library_location):
        text = "The file or folder to load kernel libraries from does not exist."
        raise FileNotFoundError(errno.ENOENT, text, library_location)
    if not file_io.is_directory(library_location):
        _refuse(library_location)
    for name in sorted(file_io.list_directory(library_location)):
        if name.endswith(".so"):
            _refuse(os.path.join(library_location, name))


def _refuse(filename: str) -> NoReturn:
    if not isinstance(filename, str):
        raise TypeError(f"The name of a library is a string, got {filename!r}")
    try:
        ctypes.CDLL(filename)
    except OSError as error:
        raise errors.NotFoundError(None, None, str(error)) from error
    raise errors.UnimplementedError(None, None, f"{filename}: ops and kernels in C++ cannot be loaded; {INSTEAD}")
