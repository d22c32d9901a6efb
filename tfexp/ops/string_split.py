"""Splitting strings: `tf.string_split`. Results are sparse matrices, a row for each string."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.deprecation import deprecated_argument_lookup
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import define_op
from tfexp.core.shape import TensorShape, dims_text
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.ops.array import require_scalar
from tfexp.ops.shape_rules import with_rank
from tfexp.ops.string_arrays import string_array, texts_of
from tfexp.ops.string_bytes import lay_out

string_split_op = define_op(
    "StringSplit(input: string, delimiter: string) -> (indices: int64, values: string, shape: int64) "
    "{skip_empty: bool = true}"
)


def _shapes(input: TensorShape, separator: TensorShape) -> list[TensorShape]:
    with_rank(input, 1)
    with_rank(separator, 0)
    return [TensorShape([None, 2]), TensorShape([None]), TensorShape([2])]


string_split_op.shape(_shapes)
string_split_op.not_differentiable()


def _require_texts(texts: np.ndarray, name: str, separator: Any) -> None:
    if np.ndim(texts) != 1:
        raise InvalidArgumentError(None, None, f"input must be a vector, got shape: {dims_text(np.shape(texts))}")
    require_scalar(name, separator)


def _divided(
    texts: Any, delimiters: bytes, skip_empty: bool, skip_empty_texts: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The parts of each text between any of these bytes, all of them found at once."""
    listed = texts_of(texts)
    laid = lay_out(listed)
    is_delimiter = _is_any_of(laid.data, delimiters)
    is_last = np.zeros(len(laid.data), np.bool_)  # the byte after a text
    is_last[laid.starts + laid.sizes] = True
    ends = np.flatnonzero(is_delimiter | is_last) if listed else laid.starts
    starts = np.zeros_like(ends)
    np.add(ends[:-1], 1, starts[1:])
    sizes, lasts = ends - starts, is_last[ends]
    rows = np.cumsum(lasts) - lasts
    if (skip_empty or skip_empty_texts) and not sizes.all():
        kept = np.flatnonzero(sizes if skip_empty else laid.sizes[rows])
        starts, sizes, rows = starts[kept], sizes[kept], rows[kept]
    return _matrix(rows, np.bincount(rows, minlength=len(listed)), laid.cut(starts, sizes))


def _is_any_of(data: np.ndarray, delimiters: bytes) -> np.ndarray:
    if len(delimiters) == 1:
        return data == delimiters[0]
    table = bytes(byte in delimiters for byte in range(256))
    return np.frombuffer(data.tobytes().translate(table), np.bool_)


def _matrix(rows: np.ndarray, counts: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """indices, values and shape of a sparse matrix with the values of each row side by side, so many of each."""
    indices = np.empty((len(values), 2), np.int64)
    indices[:, 0] = rows
    indices[:, 1] = np.arange(len(values)) - (counts.cumsum() - counts)[rows]
    return indices, values, np.array([len(counts), counts.max(initial=0)], np.int64)


def _one_by_one(texts: Any, split: Callable[[bytes], list[bytes]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    parts = [split(text) for text in texts_of(texts)]
    counts = np.fromiter(map(len, parts), np.int64, len(parts))
    values = list(itertools.chain.from_iterable(parts))
    return _matrix(np.arange(len(parts)).repeat(counts), counts, string_array(values, (len(values),)))


@string_split_op.kernel("CPU")
def _(ctx: Any, input: np.ndarray, delimiter: Any, *, skip_empty: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each byte of the delimiter divides; none: every byte is a part of its own."""
    _require_texts(input, "delimiter", delimiter)
    separators = np.asarray(delimiter).item()
    if not separators:
        return _one_by_one(input, lambda text: [text[i : i + 1] for i in range(len(text))])
    return _divided(input, separators, skip_empty, skip_empty_texts=True)


def string_split(
    source: Any,
    sep: Any = None,
    skip_empty: bool = True,
    delimiter: Any = None,
    name: str | None = None,
) -> Any:
    """The parts of each string of a vector between the bytes of the delimiter (a blank), as a SparseTensor.

    An empty delimiter gives the single bytes. Empty parts are left out if `skip_empty`. Source: `tf.string_split`.
    """
    delimiter = deprecated_argument_lookup("sep", sep, "delimiter", delimiter)
    delimiter = " " if delimiter is None else delimiter
    with name_scope(name, "StringSplit", [source]):
        strings = convert_to_tensor(source, dtypes.string)
        return SparseTensor(*string_split_op(strings, convert_to_tensor(delimiter, dtypes.string), skip_empty=skip_empty))
