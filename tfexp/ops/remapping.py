"""Rows and columns of a matrix that a checkpoint has, in the order of another vocabulary: what warm starts are made of."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.errors import FailedPreconditionError, InvalidArgumentError, UnimplementedError
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.formats.checkpoints import open_checkpoint
from tfexp.ops.array import Array
from tfexp.ops.lookup_file import LINE_NUMBER, WHOLE_LINE, read_entries
from tfexp.ops.shape_rules import with_rank

_NONE = -1  # where a new row, column or word has no old one

generate_vocab_remapping_op = define_op(
    "GenerateVocabRemapping(new_vocab_file: string, old_vocab_file: string) -> (remapping: int64, num_present: int32) "
    "{new_vocab_offset: int >= 0; num_new_vocab: int >= 0; old_vocab_size: int >= -1 = -1}"
).not_differentiable()
load_and_remap_matrix_op = define_op(
    "LoadAndRemapMatrix(ckpt_path: string, old_tensor_name: string, row_remapping: int64, col_remapping: int64, "
    "initializing_values: float) -> (output_matrix: float) {num_rows: int >= 0; num_cols: int >= 1; "
    "max_rows_in_memory: int = -1} #stateful"
).not_differentiable()


# --- vocabularies -----------------------------------------------------------------------------------------------------


@generate_vocab_remapping_op.shape
def _(new_vocab_file: InputShape, old_vocab_file: InputShape, *, num_new_vocab: int) -> list[TensorShape]:
    for file in (new_vocab_file, old_vocab_file):
        with_rank(file, 0)
    return [TensorShape([num_new_vocab]), TensorShape([])]


def _text(value: Any) -> str:
    """What a scalar says."""
    return str(value[()].decode(errors="replace"))


def _words(path: Any, size: int) -> list[bytes]:
    """The first `size` lines of a file, or all (-1)."""
    words, _ = read_entries(path[()], (dtypes.string, dtypes.int64), (WHOLE_LINE, LINE_NUMBER), size, b"\t")
    return list(words)


@generate_vocab_remapping_op.kernel("CPU")
def _(
    ctx: Any,
    new_vocab_file: Array,
    old_vocab_file: Array,
    *,
    new_vocab_offset: int,
    num_new_vocab: int,
    old_vocab_size: int,
) -> list[Array]:
    """For each of some new words the old one's number, -1 for none; and how many there are."""
    new, old = _words(new_vocab_file, -1), _words(old_vocab_file, old_vocab_size)
    end = new_vocab_offset + num_new_vocab
    if end > len(new):
        raise InvalidArgumentError(
            None,
            None,
            f"new_vocab_offset + num_new_vocab is {end}, and {_text(new_vocab_file)} has {len(new)} lines: lookup table "
            "size must be larger than last new vocab entry's line",
        )
    places = dict(zip(old, range(len(old)), strict=True))
    if len(places) != len(old):
        twice = max(old, key=collections.Counter(old).__getitem__)
        raise FailedPreconditionError(
            None, None, f"{_text(old_vocab_file)} has the line {twice.decode(errors='replace')!r} more than once"
        )
    remapping = np.array([places.get(word, _NONE) for word in new[new_vocab_offset:end]], np.int64)
    return [remapping, np.array(np.count_nonzero(remapping != _NONE), np.int32)]


# --- matrices ---------------------------------------------------------------------------------------------------------


@load_and_remap_matrix_op.shape
def _(
    ckpt_path: InputShape,
    old_tensor_name: InputShape,
    row_remapping: InputShape,
    col_remapping: InputShape,
    initializing_values: InputShape,
    *,
    num_rows: int,
    num_cols: int,
) -> TensorShape:
    with_rank(old_tensor_name, 0)
    for vector in (row_remapping, col_remapping):  # initializing values may have any shape
        with_rank(vector, 1)
    return TensorShape([num_rows, num_cols])


def _checked(what: str, remapping: Array, size: int) -> Array:
    """Which are known of the new rows or columns. An OpError for an old one that is taken twice, or is not there."""
    known: Array = remapping >= 0
    old, counts = np.unique(remapping[known], return_counts=True)
    if np.any(counts > 1):
        one = old[counts > 1][0]
        ids = np.flatnonzero(remapping == one)
        raise UnimplementedError(
            None, None, f"{what}: old ID {one} is mapped to both new ID {ids[0]} and {ids[1]}, which is not supported."
        )
    if old.size and old[-1] >= size:
        raise InvalidArgumentError(
            None, None, f"{what}: old ID {old[-1]} is out of bounds: the old matrix has {size} in this dimension"
        )
    return known


@load_and_remap_matrix_op.kernel("CPU")
def _(
    ctx: Any,
    ckpt_path: Array,
    old_tensor_name: Array,
    row_remapping: Array,
    col_remapping: Array,
    initializing_values: Array,
    *,
    num_rows: int,
    num_cols: int,
) -> Array:
    """Without column remapping, columns keep their places. What has no old value takes the next initializing one."""
    name, initializing_values = _text(old_tensor_name), np.ravel(initializing_values)
    if len(row_remapping) != num_rows:
        raise InvalidArgumentError(
            None, None, f"Size of row_remapping is {len(row_remapping)} instead of being equal to num_rows={num_rows}"
        )
    if len(col_remapping) not in (0, num_cols):
        raise InvalidArgumentError(
            None,
            None,
            f"Provided col_remapping, but its size is {len(col_remapping)} instead of being equal to num_cols={num_cols}",
        )
    with open_checkpoint(np.ravel(ckpt_path)[0].decode()) as reader:
        if reader.dtype(name) is not dtypes.float32:
            raise InvalidArgumentError(
                None, None, f"Tensor {name} has invalid type {reader.dtype(name).name} instead of expected type float"
            )
        shape = reader.shape(name)
        if len(shape) != 2:
            raise InvalidArgumentError(
                None, None, f"Tensor {name} has shape {dims_text(shape)} of invalid rank {len(shape)} instead of rank 2"
            )
        if not len(col_remapping) and shape[1] != num_cols:
            raise InvalidArgumentError(
                None,
                None,
                f"Tensor {name} has shape {dims_text(shape)}, where the size of its 2nd dimension is {shape[1]} instead of "
                f"being equal to num_cols={num_cols}",
            )
        columns = col_remapping if len(col_remapping) else np.arange(num_cols)
        known = np.outer(_checked("row_remapping", row_remapping, shape[0]), _checked("col_remapping", columns, shape[1]))
        old = reader.read(name)
    if len(initializing_values) != known.size - known.sum():
        raise InvalidArgumentError(
            None,
            None,
            f"initializing_values contained {len(initializing_values)} elements, but {known.size - known.sum()} values are "
            "missing.",
        )
    result = np.empty((num_rows, num_cols), np.float32)
    places = np.ix_(np.maximum(row_remapping, 0), np.maximum(columns, 0))
    if old.size:
        result[...] = old[places]
    result[~known] = initializing_values
    return result
