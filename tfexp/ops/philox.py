"""Philox 4x32-10, the counter-based generator behind TensorFlow's random ops, and its simplest uses.

Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3" (SC 2011). Block number c under key k is a
pure function of (k, c), so any stretch of the stream is computed at once, in any order, by array arithmetic.

TensorFlow's conventions, found by experiment and pinned in tests/golden/random:

- `seed` is the 64-bit key, `seed2` the upper half of the 128-bit counter; the lower half starts at zero.
- A stateful kernel that fills n values moves its counter on by 256 n blocks, however few of them it reads.
- Values are taken from blocks in order, one 32-bit word each (two for float64 and int64).
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Words = npt.NDArray[np.uint32]

_WORD = (1 << 32) - 1
_HALF = (1 << 64) - 1
_COUNTER = (1 << 128) - 1
_ROUNDS = 10
_FACTORS = (0xD2511F53, 0xCD9E8D57)
_MULTIPLIERS = np.array(_FACTORS, np.uint64)[:, np.newaxis]
_WEYL = (0x9E3779B9, 0xBB67AE85)

# Blocks computed together: their six working rows stay in a second-level cache.
CHUNK = 8192

# So many blocks cost less without NumPy.
_FEW_BLOCKS = 4

# Blocks that a stateful kernel sets aside for each value it returns.
RESERVED_PER_VALUE = 256


@dataclass(frozen=True, slots=True)
class Philox:
    """A place in the stream of 128-bit blocks that a 64-bit key defines."""

    key: int
    counter: int

    @classmethod
    def from_seeds(cls, seed: int, seed2: int) -> Philox:
        """The stream of a TensorFlow op whose attributes are `seed` and `seed2`."""
        return cls(seed & _HALF, (seed2 & _HALF) << 64)

    def skip(self, blocks: int) -> Philox:
        return Philox(self.key, (self.counter + blocks) & _COUNTER)

    def blocks(self, count: int) -> Words:
        """The next `count` blocks, shape [count, 4]."""
        out = np.empty((count, 4), np.uint32)
        for start, words in self.chunks(count):
            out[start : start + len(words)] = words
        return out

    def words(self, count: int) -> Words:
        """The next `count` 32-bit words, shape [count]."""
        return self.blocks(-(-count // 4)).reshape(-1)[:count]

    def chunks(self, count: int) -> Iterator[tuple[int, Words]]:
        """The next `count` blocks as (number of the first, words of shape [m, 4]), a cache's worth at a time."""
        if 0 < count <= _FEW_BLOCKS:
            yield 0, np.array([_block(self.key, self.counter + number & _COUNTER) for number in range(count)], np.uint32)
            return
        for start in range(0, count, CHUNK):
            offsets = np.arange(start, min(start + CHUNK, count), dtype=np.uint64)
            yield start, self.blocks_at(offsets)

    def blocks_at(self, offsets: npt.NDArray[np.uint64]) -> Words:
        """The blocks at these distances from here, shape [len(offsets), 4]."""
        shape = (2, len(offsets))
        low = offsets + np.uint64(self.counter & _HALF)
        high = np.uint64(self.counter >> 64) + (low < offsets)
        # The counter's words 0 and 2 are `even`, 1 and 3 are `odd`, each in a 64-bit lane so that products fit.
        even, odd, product = np.empty(shape, np.uint64), np.empty(shape, np.uint64), np.empty(shape, np.uint64)
        mask, half = np.uint64(_WORD), np.uint64(32)
        np.bitwise_and(low, mask, out=even[0])
        np.right_shift(low, half, out=odd[0])
        np.bitwise_and(high, mask, out=even[1])
        np.right_shift(high, half, out=odd[1])
        crossed = product[::-1]
        for round_key in _round_keys(self.key):
            np.multiply(even, _MULTIPLIERS, out=product)
            np.right_shift(crossed, half, out=even)
            np.bitwise_xor(even, odd, out=even)
            np.bitwise_xor(even, round_key, out=even)
            np.bitwise_and(crossed, mask, out=odd)
        out = np.empty((len(offsets), 4), np.uint32)
        out[:, 0::2] = even.T
        out[:, 1::2] = odd.T
        return out


def _block(key: int, counter: int) -> tuple[int, int, int, int]:
    """The words of one block."""
    a, b, c, d = counter & _WORD, counter >> 32 & _WORD, counter >> 64 & _WORD, counter >> 96
    low, high = key & _WORD, key >> 32
    for _ in range(_ROUNDS):
        p, q = a * _FACTORS[0], c * _FACTORS[1]
        a, b, c, d = q >> 32 ^ b ^ low, q & _WORD, p >> 32 ^ d ^ high, p & _WORD
        low, high = low + _WEYL[0] & _WORD, high + _WEYL[1] & _WORD
    return a, b, c, d


@functools.lru_cache(256)
def _round_keys(key: int) -> npt.NDArray[np.uint64]:
    """The keys of the ten rounds, [10, 2, 1]: each word grows by its Weyl constant from round to round."""
    low, high = key & _WORD, key >> 32
    keys = [((low + i * _WEYL[0]) & _WORD, (high + i * _WEYL[1]) & _WORD) for i in range(_ROUNDS)]
    return np.array(keys, np.uint64).reshape(_ROUNDS, 2, 1)


# A node that draws few values again and again gets those of so many runs at once: a block alone costs as much as hundreds.
_RUNS_AHEAD = 64
_FEW_VALUES = 64


@dataclass(frozen=True, slots=True)
class _Prepared(Philox):
    """A place in a stream whose next blocks have been computed."""

    ready: Words

    def chunks(self, count: int) -> Iterator[tuple[int, Words]]:
        if count <= len(self.ready):
            yield 0, self.ready[:count].copy()
        else:
            yield from Philox(self.key, self.counter).chunks(count)


@dataclass(frozen=True, slots=True)
class _Apart(Philox):
    """Of a stream the first `each` blocks of every `stride`, as if there were no others."""

    each: int
    stride: int

    def chunks(self, count: int) -> Iterator[tuple[int, Words]]:
        for start in range(0, count, CHUNK):
            run, block = np.divmod(np.arange(start, min(start + CHUNK, count), dtype=np.uint64), np.uint64(self.each))
            yield start, self.blocks_at(run * np.uint64(self.stride) + block)


def system_bytes(count: int) -> bytes:
    """`count` bytes that nobody foretells; with these begins all that has no seed."""
    return os.urandom(count)


def drawn_seeds(seed: int, seed2: int) -> tuple[int, int]:
    """The two seeds, or two that the system draws where both are 0: so nodes say that they have none."""
    if (seed, seed2) != (0, 0):
        return seed, seed2
    return int.from_bytes(system_bytes(8), "little"), int.from_bytes(system_bytes(8), "little")


class PhiloxState:
    """The stream that one stateful node draws from in one session, from run to run. Safe to share by threads.

    When both seeds are zero the stream is not reproducible: TensorFlow seeds it from the system, and so does this.
    """

    def __init__(self, seed: int, seed2: int) -> None:
        self._next = Philox.from_seeds(*drawn_seeds(seed, seed2))
        self._lock = threading.Lock()
        self._last = 0  # how many values the last run took
        self._ahead: dict[int, Words] = {}  # blocks of the coming runs by the counter at which they begin

    def take(self, blocks: int) -> Philox:
        """The stream as it stands; the next caller's starts `blocks` further on."""
        with self._lock:
            here = self._next
            self._next = here.skip(blocks)
            return here

    def take_for(self, values: int) -> Philox:
        """What a kernel takes that fills a tensor of so many values."""
        with self._lock:
            here = self._next
            stride = values * RESERVED_PER_VALUE
            self._next = here.skip(stride)
            again, self._last = values == self._last, values
            if not (again and 0 < values <= _FEW_VALUES):
                self._ahead.clear()
                return here
            if here.counter not in self._ahead:
                self._look_ahead(here, values, stride)
            return _Prepared(here.key, here.counter, self._ahead.pop(here.counter))

    def take_for_each(self, runs: int, values: int, blocks: int) -> Philox:
        """What so many runs take that fill a tensor of so many values each: of every one's, the first `blocks`."""
        stride = values * RESERVED_PER_VALUE
        here = self.take(runs * stride)
        return _Apart(here.key, here.counter, blocks, stride)

    @property
    def here(self) -> Philox:
        """Where the next run begins; set to an earlier place, runs draw again what they drew from there."""
        with self._lock:
            return self._next

    @here.setter
    def here(self, place: Philox) -> None:
        with self._lock:
            self._next = place

    def _look_ahead(self, here: Philox, values: int, stride: int) -> None:
        """Compute the first blocks of the coming runs: enough for a word, or two, for each value."""
        blocks = -(-values // 2)
        starts = np.arange(0, _RUNS_AHEAD * stride, stride, dtype=np.uint64)
        offsets: npt.NDArray[np.uint64] = np.add.outer(starts, np.arange(blocks, dtype=np.uint64)).reshape(-1)
        words = here.blocks_at(offsets).reshape(_RUNS_AHEAD, blocks, 4)
        self._ahead = {here.skip(run * stride).counter: words[run] for run in range(_RUNS_AHEAD)}


def uniform_from_words(words: Words, dtype: npt.DTypeLike) -> Array:
    """Numbers in [0, 1) with the word's low bits as mantissa; float64 uses two words, whose first is the upper.

    words: [..., k], k even for float64. Returns [..., k] or, for float64, [..., k / 2].
    """
    dtype = np.dtype(dtype)
    if dtype == np.float32:
        bits = words & np.uint32(0x7FFFFF)
        bits |= np.uint32(0x3F800000)
        values = bits.view(np.float32)
        values -= np.float32(1)
        return values
    if dtype == np.float64:
        wide = (words[..., 0::2] & np.uint32(0xFFFFF)).astype(np.uint64)
        wide <<= np.uint64(32)
        wide |= words[..., 1::2]
        wide |= np.uint64(0x3FF0000000000000)
        doubles = wide.view(np.float64)
        doubles -= 1.0
        return doubles
    if dtype == np.float16:
        halves = (words & np.uint32(0x3FF)).astype(np.uint16) | np.uint16(0x3C00)
        return halves.view(np.float16) - np.float16(1)
    if dtype.name == "bfloat16":
        # All of these fit in bfloat16 exactly, so the subtraction may as well be float32's.
        shifted = (words & np.uint32(0x7F)) << np.uint32(16) | np.uint32(0x3F800000)
        return (shifted.view(np.float32) - np.float32(1)).astype(dtype)
    raise TypeError(f"no uniform distribution for dtype {dtype.name}; choose half, bfloat16, float or double")


def words_per_value(dtype: npt.DTypeLike) -> int:
    """How many 32-bit words one value is made of."""
    return 2 if np.dtype(dtype).itemsize == 8 else 1


def uniform(stream: Philox, size: int, dtype: npt.DTypeLike) -> Array:
    """`size` numbers in [0, 1). TF: RandomUniform."""
    out = np.empty(size, dtype)
    per_block = 4 // words_per_value(dtype)
    for start, words in stream.chunks(-(-size // per_block)):
        at = start * per_block
        out[at : at + len(words) * per_block] = uniform_from_words(words, dtype).reshape(-1)[: size - at]
    return out


def uniform_int(stream: Philox, size: int, low: int, high: int, dtype: npt.DTypeLike) -> Array:
    """`size` integers in [low, high), low < high: a word (int64: two, the lower first) modulo the range, plus low.

    dtype: int32, int64, uint32 or uint64. TF: RandomUniformInt.
    """
    if not low < high:
        raise ValueError(f"need low < high, got {low} >= {high}")
    unsigned, raw = integer_words(stream, size, dtype)
    span = high - low
    if span & (span - 1):
        raw %= unsigned(span)
    else:
        raw &= unsigned(span - 1)
    raw += unsigned(low & int(np.iinfo(unsigned).max))
    return raw.view(dtype)


def uniform_full_int(stream: Philox, size: int, dtype: npt.DTypeLike) -> Array:
    """`size` integers over all that the dtype holds. TF: StatelessRandomUniformFullInt."""
    return integer_words(stream, size, dtype)[1].view(dtype)


def integer_words(stream: Philox, size: int, dtype: npt.DTypeLike) -> tuple[type, npt.NDArray[np.unsignedinteger]]:
    """The unsigned type as wide as dtype, and `size` of it straight from the stream."""
    if words_per_value(dtype) == 1:
        return np.uint32, stream.words(size)
    pairs = stream.words(2 * size).reshape(size, 2)
    return np.uint64, pairs[:, 0] | pairs[:, 1].astype(np.uint64) << np.uint64(32)
