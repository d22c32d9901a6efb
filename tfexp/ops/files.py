"""Files as a whole: `tf.read_file`, `tf.write_file`, `tf.matching_files`."""

from __future__ import annotations

import glob
import os
from typing import Any

import numpy as np

from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.formats.file_errors import file_error
from tfexp.formats.paths import local_path, split_scheme
from tfexp.ops.array import Array
from tfexp.ops.shape_rules import with_rank


def _path(value: Any) -> str:
    return os.fsdecode(value)


def _one(array: Array, name: str) -> Any:
    if array.ndim:
        raise InvalidArgumentError(
            None, None, f"Input {name} tensor must be scalar, but had shape: {dims_text(array.shape)}"
        )
    return array.item()


# A file may differ from one run to the next: nothing of these is ever folded into a constant.
read_file = define_op("ReadFile(filename: string) -> (contents: string) {} #stateful")


@read_file.shape
def _(filename: InputShape) -> TensorShape:
    return with_rank(filename, 0)


@read_file.kernel("CPU")
def _(ctx: Any, filename: Array) -> Array:
    path = _path(_one(filename, "filename"))
    contents = np.empty((), object)
    try:
        with open(local_path(path), "rb") as file:
            contents[()] = file.read()
    except OSError as error:
        raise file_error(path, error) from error
    return contents


write_file = define_op("WriteFile(filename: string, contents: string) -> () {} #stateful")


@write_file.shape
def _(filename: InputShape, contents: InputShape) -> None:
    with_rank(filename, 0)
    with_rank(contents, 0)


@write_file.kernel("CPU")
def _(ctx: Any, filename: Array, contents: Array) -> None:
    """Folders that are not there are made."""
    path = _path(_one(filename, "filename"))
    try:
        os.makedirs(os.path.dirname(local_path(path)) or ".", exist_ok=True)
        with open(local_path(path), "wb") as file:
            file.write(_one(contents, "contents"))
    except OSError as error:
        raise file_error(path, error) from error


matching_files = define_op("MatchingFiles(pattern: string) -> (filenames: string) {} #stateful")


@matching_files.shape
def _(pattern: InputShape) -> TensorShape:
    if pattern.rank is not None and pattern.rank > 1:
        raise ValueError(f"Shape must be at most rank 1 but is rank {pattern.rank}")
    return TensorShape([None])


@matching_files.kernel("CPU")
def _(ctx: Any, pattern: Array) -> Array:
    return matching_names(pattern)


def matching_names(pattern: Array) -> Array:
    """All matches of all patterns, sorted; a pattern without a folder gives names that begin with `./`."""
    found: list[bytes] = []
    for each in pattern.ravel():
        scheme, text = split_scheme(_path(each))
        names = glob.glob(text if os.path.dirname(text) else os.path.join(".", text))
        found.extend(os.fsencode(scheme + name) for name in names)
    result = np.empty(len(found), object)
    result[:] = sorted(found)
    return result
