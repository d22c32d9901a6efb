"""Fields of comma-separated records in which nothing is quoted, found and read many at once by operations on arrays.

Decimal numbers are read exactly: their digits are an integer below 2**53, which a power of ten below 10**23 divides with a
single rounding (Clinger 1990, "How to read floating point numbers accurately"). What is written in another way (exponents,
blanks, more digits) is left to whoever reads one text at a time.
"""

from __future__ import annotations

import functools

import numpy as np

_NEWLINE, _PLUS, _MINUS, _POINT = b"\n+-."
_EXACT_DIGITS = 15  # decimal digits that every float64 has room for
_LONGEST = 18  # decimal digits that every int64 has room for
_LONGEST_IN_WORDS = 24  # their bytes, in words of eight
_POWERS = 10.0 ** np.arange(_LONGEST + 1)
_INT_POWERS = 10 ** np.arange(_LONGEST + 1, dtype=np.int64)

# Of words of eight bytes: the digits 0, what takes all above 9 to the highest bit, and that bit.
_ZEROS, _UP_TO_NINE, _HIGHEST_BITS = (np.uint64(0x0101010101010101 * byte) for byte in (ord("0"), 0x80 - 10, 0x80))
# How many digits have been added up, and where the sums of twice as many are.
_NEIGHBOURS = ((1, 0x00FF00FF00FF00FF), (2, 0x0000FFFF0000FFFF), (4, 0x00000000FFFFFFFF))


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
        if integer:
            values, readable = self._digits(starts, ends)
            return np.where(negative, -values, values), readable & (ends > starts) & (ends - starts <= _LONGEST)
        points = self._points.take(self._points.searchsorted(starts), mode="clip")
        has_point = (points >= starts) & (points < ends)
        points = np.where(has_point, points, ends)
        behind = ends - points - has_point
        sizes = points - starts + behind
        readable = (sizes > 0) & (sizes <= _EXACT_DIGITS)
        behind[~readable] = 0
        (whole, plain), (fraction, also_plain) = self._digits(starts, points), self._digits(ends - behind, ends)
        decimals = (whole * _INT_POWERS[behind] + fraction) / _POWERS[behind]
        return np.where(negative, -decimals, decimals), readable & plain & also_plain

    @functools.cached_property
    def _points(self) -> np.ndarray:
        """Where points are, and one that is in no field."""
        return np.append(np.flatnonzero(self._data == _POINT), len(self._data))

    @functools.cached_property
    def _words(self) -> np.ndarray:
        """The eight bytes from each position on as a number, the first the lowest; before the text there is some room."""
        padded = np.concatenate([np.zeros(_LONGEST_IN_WORDS, np.uint8), self._data])
        return np.ndarray((len(padded) - 7,), "<u8", padded, strides=(1,))

    def _digits(self, starts: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The integers that the last digits from `starts` to `ends` make, all up to `_LONGEST`, and where they are digits.

        Eight digits at a time are the bytes of a word, in which neighbours are added up: by two, by four, and all.
        """
        values = np.zeros(len(starts), np.uint64)
        plain = np.ones(len(starts), np.bool_)
        sizes = np.minimum(ends - starts, _LONGEST)
        for behind in range(0, int(sizes.max(initial=0)), 8):
            words = self._words[ends + (_LONGEST_IN_WORDS - 8 - behind)] ^ _ZEROS
            others = (8 * (8 - np.clip(sizes - behind, 0, 8))).astype(np.uint64)  # bits of what is no part of it
            words = words >> others << others
            plain &= ((words + _UP_TO_NINE) | words) & _HIGHEST_BITS == 0
            for digits, mask in _NEIGHBOURS:
                words = (words * np.uint64(10**digits) + (words >> np.uint64(8 * digits))) & np.uint64(mask)
            values += words * np.uint64(10**behind)
        return values.view(np.int64), plain
