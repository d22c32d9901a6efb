"""Keys and values from the lines of a text file: what `InitializeTableFromTextFile` fills a table with. TF 1.15."""

from __future__ import annotations

import itertools
from operator import itemgetter

import numpy as np

from tfexp.core.dtypes import DType
from tfexp.core.errors import InvalidArgumentError
from tfexp.formats.file_errors import file_error

WHOLE_LINE = -2
LINE_NUMBER = -1


def read_entries(
    path: bytes, types: tuple[DType, DType], columns: tuple[int, int], vocab_size: int, delimiter: bytes
) -> tuple[np.ndarray, np.ndarray]:
    """(keys, values) of the first `vocab_size` lines (all if -1).

    Each is a column of the lines cut at `delimiter`, the line itself (WHOLE_LINE) or its number (LINE_NUMBER).
    InvalidArgumentError for empty lines, too few lines or columns, text that is no number; NotFoundError without the file.
    """
    if len(delimiter) != 1:
        raise _refuse("delimiter should be only 1 char")
    text = path.decode()
    try:
        with open(text, "rb") as file:
            content = file.read()
    except OSError as error:
        raise file_error(text, error) from error
    lines = content.replace(b"\r", b"").split(b"\n")
    if not lines[-1]:
        lines.pop()
    if vocab_size != -1:
        if len(lines) < vocab_size:
            raise _refuse(f"Invalid vocab_size in {text}: expected {vocab_size} but got {len(lines)}")
        lines = lines[:vocab_size]
    if b"" in lines:
        place = sum(map(len, lines[: lines.index(b"")])) + lines.index(b"") + 1
        raise _refuse(f"Invalid content in {text}: empty line found at position {place}.")
    cells: list[list[bytes]] = []
    if max(columns) >= 0:
        cells = list(map(bytes.split, lines, itertools.repeat(delimiter)))
        counts = np.fromiter(map(len, cells), np.int64, len(cells))
        short = np.flatnonzero(counts <= max(columns))
        if len(short):
            i = int(short[0])
            raise _refuse(
                f"Invalid number of columns in {text} line {i} ({lines[i].decode(errors='replace')}) : expected at least "
                f"{max(columns) + 1} got {counts[i]}"
            )
    keys, values = (_column(lines, cells, c, t) for c, t in zip(columns, types, strict=True))
    return keys, values


def _column(lines: list[bytes], cells: list[list[bytes]], column: int, dtype: DType) -> np.ndarray:
    if column == LINE_NUMBER:
        return np.arange(len(lines), dtype=dtype.as_numpy_dtype)
    texts = lines if column == WHOLE_LINE else list(map(itemgetter(column), cells))
    if dtype.name == "string":
        result = np.empty(len(texts), object)
        result[:] = texts
        return result
    convert = int if dtype.is_integer else float
    try:
        numbers = list(map(convert, texts))
    except ValueError:
        raise _refuse(_first_bad(texts, convert, dtype)) from None
    return np.array(numbers, dtype.as_numpy_dtype)


def _first_bad(texts: list[bytes], convert: type[int] | type[float], dtype: DType) -> str:
    for i, text in enumerate(texts):
        try:
            convert(text)
        except ValueError:
            shown = "float" if dtype.name == "float32" else "double" if dtype.name == "float64" else dtype.name
            return f"Field {text.decode(errors='replace')} in line {i} is not a valid {shown}."
    raise AssertionError("every field is a number")


def _refuse(text: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, text)
