"""Texts next to each other in one array of bytes, so that NumPy finds and cuts parts of all of them at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from operator import getitem

import numpy as np

_FEW = 32  # texts of one length: below, finding them costs more than cutting them one by one
_SHORT = 1 << 16  # lengths that may be counted in a table


@dataclass(frozen=True, slots=True)
class Bytes:
    """`data`: uint8, in which all texts are; int64: where each begins, and its length."""

    data: np.ndarray
    starts: np.ndarray
    sizes: np.ndarray

    def text(self, number: int) -> bytes:
        """One of the texts."""
        start = self.starts[number]
        return self.data[start : start + self.sizes[number]].tobytes()

    def rows(self, at: np.ndarray, size: int) -> np.ndarray:
        """The `size` > 0 bytes from each of these positions on: a new matrix of uint8."""
        return self._windows(size)[at].view(np.uint8).reshape(len(at), size)

    def texts(self) -> np.ndarray:
        """All of them."""
        return self.cut(self.starts, self.sizes)

    def cut(self, starts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """The parts of so many bytes from these positions on, as texts."""
        result = np.empty(len(starts), object)
        lengths = distinct(sizes)
        if len(lengths) * _FEW > max(len(starts), _FEW):
            slices = map(slice, starts.tolist(), (starts + sizes).tolist())
            result[:] = list(map(getitem, repeat(self.data.tobytes()), slices))
            return result
        for length, here in _alike(sizes, lengths):
            result[here] = self._windows(length)[starts[here]].astype(object) if length else b""
        return result

    def by_size(self) -> Iterator[tuple[np.ndarray | slice, np.ndarray]]:
        """For each length that texts have: which ones, and their bytes, a row for each."""
        for length, here in _alike(self.sizes, distinct(self.sizes)):
            at = self.starts[here]
            yield here, self.rows(at, length) if length else np.empty((len(at), 0), np.uint8)

    def _windows(self, size: int) -> np.ndarray:
        """The `size` bytes from each position on, as one element each."""
        return np.ndarray((len(self.data) - size + 1,), f"V{size}", self.data, strides=(1,))


def lay_out(texts: Sequence[bytes]) -> Bytes:
    """The texts in order, a byte 0 after each."""
    data = np.frombuffer(b"\0".join(texts) + b"\0", np.uint8)
    ends = np.flatnonzero(data == 0)
    starts = np.zeros(len(texts), np.int64)
    if len(ends) != len(texts):  # there are such bytes in the texts too, or no texts
        sizes = np.fromiter(map(len, texts), np.int64, len(texts))
        np.cumsum(sizes[:-1] + 1, out=starts[1:])
        return Bytes(data, starts, sizes)
    np.add(ends[:-1], 1, starts[1:])
    return Bytes(data, starts, ends - starts)


def decimals(numbers: np.ndarray) -> Bytes:
    """Integers of any type as texts in decimal notation."""
    negative = numbers < 0
    left = numbers.astype(np.uint64)
    np.negative(left, left, where=negative)  # of the smallest number too, whose magnitude its own type has not
    width = 1 + len(str(left.max(initial=0)))
    rows = np.empty((width, len(numbers)), np.uint8)  # one for each place, the sign's first
    sizes = negative + np.ones(len(numbers), np.int64)
    for place in range(width - 1, 0, -1):
        tenth = left // np.uint64(10)
        rows[place] = left - tenth * np.uint64(10) + np.uint64(ord("0"))
        left = tenth
        sizes += left > 0
    ends = np.arange(1, len(numbers) + 1) * width
    data = rows.T.ravel()
    data[(ends - sizes)[negative]] = ord("-")
    return Bytes(data, ends - sizes, sizes)


def distinct(sizes: np.ndarray) -> np.ndarray:
    """The lengths that there are, each once."""
    if len(sizes) and sizes.max() < _SHORT:
        return np.flatnonzero(np.bincount(sizes))
    return np.unique(sizes)


def _alike(sizes: np.ndarray, lengths: np.ndarray) -> Iterator[tuple[int, np.ndarray | slice]]:
    """Each length, and where it is."""
    for length in lengths.tolist():
        yield length, slice(None) if len(lengths) == 1 else np.flatnonzero(sizes == length)
