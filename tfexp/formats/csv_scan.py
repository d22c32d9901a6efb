"""Fields of comma-separated records in which nothing is quoted, found and read many at once by operations on arrays.

Decimal numbers are read exactly: their digits are an integer below 2**53, which a power of ten below 10**23 divides with a
single rounding (Clinger 1990, "How to read floating point numbers accurately"). What is written in another way (exponents,
blanks, more digits) is left to whoever reads one text at a time.
"""

from __future__ import annotations

import numpy as np

_NEWLINE, _PLUS, _MINUS, _POINT, _ZERO = b"\n+-.0"
_EXACT_DIGITS = 15  # decimal digits that every float64 has room for
_LONGEST = 18  # decimal digits that every int64 has room for
_POWERS = 10.0 ** np.arange(_LONGEST + 1)
_INT_POWERS = 10 ** np.arange(_LONGEST + 1, dtype=np.int64)


class PlainFields:
    """The fields of records: where each begins and ends, a row for each record."""

    def __init__(self, blob: bytes, data: np.ndarray, delimiter: bytes, ends: np.ndarray):
        self._blob, self._data, self._delimiter = blob, data, delimiter
        self.ends = ends
        self.starts = np.empty_like(ends)
        self.starts.reshape(-1)[1:] = ends.reshape(-1)[:-1] + 1
        self.starts[0, 0] = 0
        self._all: list[bytes] | None = None

    @classmethod
    def split(cls, blob: bytes, delimiter: bytes, records: int | None = None) -> PlainFields | None:
        """The fields of `blob`, in which a newline ends each record. None unless all records have the same number of them.

        `records`: how many there must be.
        """
        data = np.frombuffer(blob, np.uint8)
        is_end = data == _NEWLINE
        places = np.flatnonzero(is_end | (data == delimiter[0]))
        lines = int(np.count_nonzero(is_end))
        if not lines or len(places) % lines or (records is not None and lines != records):
            return None
        ends = places.reshape(lines, -1)
        if not is_end[ends[:, -1]].all():
            return None
        return cls(blob, data, delimiter, ends)

    @property
    def count(self) -> int:
        """How many fields a record has."""
        return self.ends.shape[1]

    def texts(self, field: int) -> list[bytes]:
        """That field of all records."""
        if self._all is None:
            self._all = self._blob.replace(b"\n", self._delimiter).split(self._delimiter)
        return self._all[field : len(self.ends) * self.count : self.count]

    def equal(self, field: int, text: bytes) -> np.ndarray:
        """Of which records that field is `text`."""
        starts, ends = self.starts[:, field], self.ends[:, field]
        same: np.ndarray = ends - starts == len(text)
        for step, letter in enumerate(text):
            same &= self._data.take(starts + step, mode="clip") == letter
        return same

    def numbers(self, field: int, integer: bool) -> tuple[np.ndarray, np.ndarray]:
        """(int64s or float64s, which of them could be read here)."""
        ends = self.ends[:, field]
        first = self._data.take(self.starts[:, field], mode="clip")
        negative = first == _MINUS
        starts = self.starts[:, field] + (negative | (first == _PLUS))
        sizes = ends - starts
        longest = _LONGEST if integer else _EXACT_DIGITS + 1
        readable = (sizes > 0) & (sizes <= longest)
        width = int(min(sizes.max(initial=1), longest))
        letters = self._letters(ends, sizes, width)
        digits = letters - np.uint8(_ZERO)
        if integer:
            values, plain = _integers(digits)
        else:
            values, plain = _decimals(letters, digits, sizes)
        readable &= plain
        return np.where(negative, -values, values), readable

    def _letters(self, ends: np.ndarray, sizes: np.ndarray, width: int) -> np.ndarray:
        """The last `width` letters of each field; zeros before those that are shorter."""
        places = (ends - width)[:, None] + np.arange(width)
        letters = self._data.take(places, mode="clip")
        letters[np.arange(width) < (width - sizes)[:, None]] = _ZERO
        return letters


def _integers(digits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    width = digits.shape[1]
    plain = np.logical_and.reduce(digits < 10, axis=1)
    if width <= _EXACT_DIGITS:
        return (digits.astype(np.float64) @ _POWERS[:width][::-1]).astype(np.int64), plain
    return digits.astype(np.int64) @ _INT_POWERS[:width][::-1], plain


def _decimals(letters: np.ndarray, digits: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    width = digits.shape[1]
    point = letters == _POINT
    points = point.sum(axis=1)
    plain = ((digits < 10) | point).all(axis=1) & (points <= 1) & (sizes > points)
    numbers = np.where(point, np.uint8(0), digits).astype(np.float64)
    has_point = points > 0
    if not has_point.any():
        return numbers @ _POWERS[:width][::-1], plain & (sizes <= _EXACT_DIGITS)
    behind = np.where(has_point, width - 1 - point.argmax(axis=1), 0)
    # The digits before the point stand one place too far to the left.
    powers = _POWERS[:width][::-1]
    after = np.logical_or.accumulate(point, axis=1) | ~has_point[:, None]
    whole = (numbers * after) @ powers + ((numbers * ~after) @ powers) / 10
    return whole / _POWERS[behind], plain & (sizes - points <= _EXACT_DIGITS)
