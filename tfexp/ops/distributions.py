"""What TensorFlow's random kernels make of a Philox stream: normal, truncated normal, shuffles, categories.

Which words a value is made of, and in which order, is TensorFlow's, found by experiment and pinned in
tests/golden/random; the mathematics is cited where it is used. `rejection.py` has the gamma and Poisson samplers.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tfexp.ops.philox import RESERVED_PER_VALUE, Array, Philox, Words, uniform_from_words, words_per_value
from tfexp.ops.row_search import places_in_rows

# Box-Muller takes the logarithm of a uniform number that may be zero; TensorFlow never lets it be less than this.
_SMALLEST_UNIFORM = 1e-7

# TruncatedNormal throws away what lies further out.
_TRUNCATED_AT = 2.0


def normal_from_words(words: Words, dtype: npt.DTypeLike) -> Array:
    """Box and Muller's transform of blocks [n, 4] to normals: [n, 4], for float64 [n, 2].

    Of uniform u1, u2: r sin(2 pi u2), r cos(2 pi u2) with r = sqrt(-2 log u1).

    half and bfloat16 are rounded from float. A float has its logarithm and sines from float64: that is what rounds to
    TensorFlow's float in 98 of 100 numbers, and within 3 ulp in the others.
    """
    if np.dtype(dtype) == np.float64:
        return _doubles_from_words(words)
    u = uniform_from_words(words, np.float32)
    clipped = np.maximum(u[:, 0::2], np.float32(_SMALLEST_UNIFORM))
    radius = np.sqrt(np.float32(-2) * _rounded(np.log, clipped))
    angle = (2.0 * np.pi * u[:, 1::2].astype(np.float64)).astype(np.float32)
    out = np.empty(words.shape, np.float32)
    np.multiply(_rounded(np.sin, angle), radius, out=out[:, 0::2])
    np.multiply(_rounded(np.cos, angle), radius, out=out[:, 1::2])
    return out.astype(dtype, copy=False)


def _doubles_from_words(words: Words) -> npt.NDArray[np.float64]:
    u = uniform_from_words(words, np.float64)
    radius = np.sqrt(-2.0 * np.log(np.maximum(u[:, 0::2], _SMALLEST_UNIFORM)))
    angle = 2.0 * np.pi * u[:, 1::2]
    out = np.empty((len(words), 2))
    out[:, 0::2] = np.sin(angle) * radius
    out[:, 1::2] = np.cos(angle) * radius
    return out


def _rounded(function: np.ufunc, x: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """function(x), correctly rounded but for the rarest x."""
    wide = x.astype(np.float64)
    function(wide, out=wide)
    return wide.astype(np.float32)


def standard_normal(stream: Philox, size: int, dtype: npt.DTypeLike) -> Array:
    """`size` numbers from N(0, 1). TF: RandomStandardNormal."""
    out = np.empty(size, dtype)
    per_block = 4 // words_per_value(dtype)
    for start, words in stream.chunks(-(-size // per_block)):
        at = start * per_block
        out[at : at + len(words) * per_block] = normal_from_words(words, dtype).reshape(-1)[: size - at]
    return out


def truncated_normal(stream: Philox, size: int, dtype: npt.DTypeLike) -> Array:
    """`size` numbers from N(0, 1), those beyond two standard deviations drawn again. TF: TruncatedNormal.

    As many values as a block can give (four, of float64 two) form a group. A group takes what it accepts from a
    stretch of the stream that is its own, long enough for it in all practice.
    """
    per_group = 4 // words_per_value(dtype)
    groups = -(-size // per_group)
    stretch = np.uint64(RESERVED_PER_VALUE * per_group // 4)
    starts = np.arange(groups, dtype=np.uint64) * stretch
    values = np.empty((groups, per_group), np.float64 if np.dtype(dtype) == np.float64 else np.float32)
    filled = np.zeros(groups, np.intp)
    unfilled = np.arange(groups)
    block = 0
    while len(unfilled):
        for start in range(0, len(unfilled), 4 * 8192):
            rows = unfilled[start : start + 4 * 8192]
            words = stream.blocks_at(starts[rows] + np.uint64(block))
            candidates = normal_from_words(words, values.dtype)
            accepted = np.abs(candidates) < _TRUNCATED_AT
            places = filled[rows, None] + np.cumsum(accepted, axis=1) - 1
            row, column = np.nonzero(accepted & (places < per_group))
            values[rows[row], places[row, column]] = candidates[row, column]
            filled[rows] += accepted.sum(axis=1)
        unfilled = unfilled[filled[unfilled] < per_group]
        block += 1
    return values.reshape(-1)[:size].astype(dtype, copy=False)


def shuffle_blocks(length: int) -> int:
    """How many blocks shuffling so many things takes: one word for each but the last."""
    return -(-max(length - 1, 0) // 4)


def shuffled_indices(stream: Philox, length: int) -> npt.NDArray[np.intp]:
    """A random order of range(length): Fisher and Yates's exchanges, from the front. TF: RandomShuffle."""
    if length < 2:
        return np.arange(length)
    remaining = np.arange(length, 1, -1, dtype=np.uint32)
    partners = np.arange(length - 1) + stream.words(length - 1) % remaining
    order = list(range(length))
    for i, j in enumerate(partners.tolist()):
        order[i], order[j] = order[j], order[i]
    return np.array(order, np.intp)


def multinomial_blocks(rows: int, samples: int) -> int:
    """How many blocks a Multinomial kernel takes from its stream for so many draws from so many rows."""
    return rows * (-(-samples // 4) * 4) * 2 * RESERVED_PER_VALUE


def multinomial(stream: Philox, logits: Array, samples: int, dtype: npt.DTypeLike) -> Array:
    """`samples` categories for each row of unnormalised log probabilities. TF: Multinomial.

    logits: [rows, classes], any real dtype; classes whose logit is not finite are never drawn. Returns [rows, samples].

    A draw inverts the cumulative sum at one float64 uniform number. TensorFlow cuts large batches into as many parts as it
    has threads and places each part's stream by a formula that leaves gaps and overlaps, so that its own draws depend
    on the machine; these are the ones of a single thread (intra_op_parallelism_threads=1).
    """
    rows = len(logits)
    if rows * samples == 0:
        return np.empty((rows, samples), dtype)
    wide = logits.astype(np.float64)
    finite = np.isfinite(wide)
    peak = np.max(wide, axis=1, keepdims=True, where=finite, initial=-np.inf)
    weights = np.exp(wide - peak, where=finite, out=np.zeros_like(wide))
    cumulative = np.cumsum(weights, axis=1)
    words = stream.words(4 * -(-rows * samples // 2)).reshape(-1, 4)
    points = uniform_from_words(words, np.float64).reshape(-1)[: rows * samples].reshape(rows, samples)
    return places_in_rows(cumulative, points * cumulative[:, -1:], "right").astype(dtype)
