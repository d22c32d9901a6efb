"""Buckets for strings: `tf.string_to_hash_bucket_fast` (FarmHash's Fingerprint64).

The hashes are those of their publications, in 64-bit arithmetic on arrays: strings of one length are hashed together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfexp.core.op import define_op
from tfexp.graph.tensor import Tensor
from tfexp.ops.shape_rules import shape_preserving
from tfexp.ops.string_arrays import texts_of
from tfexp.ops.string_bytes import lay_out

U64 = np.uint64
Words = Any  # an array of uint64, one for each string
Hash = Callable[[np.ndarray], Words]


def hashes(texts: Sequence[bytes], function: Hash) -> np.ndarray:
    """The hash of each text; `function` takes the texts of one length as a matrix of bytes."""
    results = np.empty(len(texts), U64)
    with np.errstate(over="ignore"):
        for here, rows in lay_out(texts).by_size():
            results[here] = function(rows)
    return results


def _buckets(input: Any, function: Hash, num_buckets: int) -> Any:
    return (hashes(texts_of(input), function) % U64(num_buckets)).astype(np.int64).reshape(np.shape(input))


def word(data: np.ndarray, start: int, size: int = 8) -> Words:
    """The little-endian number in `size` bytes of each row of a matrix in one piece of memory."""
    return np.ndarray((len(data),), f"<u{size}", data, start, (data.shape[1],)).astype(U64)


def _tail(data: np.ndarray, start: int) -> Words:
    """The up to 8 bytes from `start` on as a number."""
    padded = np.zeros((len(data), 8), np.uint8)
    padded[:, : data.shape[1] - start] = data[:, start:]
    return padded.view("<u8")[:, 0].astype(U64)


def _left(x: Words, bits: int) -> Words:
    return (x << U64(bits)) | (x >> U64(64 - bits))


def right(x: Words, bits: int) -> Words:
    return _left(x, 64 - bits)


# --- FarmHash (Google, 2014): Fingerprint64 ----------------------------------------------------------------------------

K0, K1, _K2 = U64(0xC3A5C85C97CB3127), U64(0xB492B66FBE98F273), U64(0x9AE16A3B2F90404F)


def shift_mix(x: Words) -> Words:
    return x ^ (x >> U64(47))


def pair_hash(u: Words, v: Words, multiplier: Words) -> Words:
    a = shift_mix((u ^ v) * multiplier)
    return shift_mix((v ^ a) * multiplier) * multiplier


def fingerprint64(data: np.ndarray) -> Words:
    """FarmHash's fingerprint of each row of bytes."""
    size = data.shape[1]
    if size > 64:
        return _farm_long(data)
    multiplier = _K2 + U64(size * 2)
    if size > 32:
        return _farm_to_64(data, multiplier)
    if size > 16:
        a, b = word(data, 0) * K1, word(data, 8)
        c, d = word(data, size - 8) * multiplier, word(data, size - 16) * _K2
        return pair_hash(right(a + b, 43) + right(c, 30) + d, a + right(b + _K2, 18) + c, multiplier)
    if size >= 8:
        a, b = word(data, 0) + _K2, word(data, size - 8)
        return pair_hash(right(b, 37) * multiplier + a, (right(a, 25) + b) * multiplier, multiplier)
    if size >= 4:
        return pair_hash(U64(size) + (word(data, 0, 4) << U64(3)), word(data, size - 4, 4), multiplier)
    if size:
        first, middle, last = (data[:, i].astype(U64) for i in (0, size >> 1, size - 1))
        return shift_mix((first + (middle << U64(8))) * _K2 ^ (U64(size) + (last << U64(2))) * K0) * _K2
    return np.full(len(data), _K2)


def _farm_to_64(data: np.ndarray, multiplier: Words) -> Words:
    size = data.shape[1]
    a, b = word(data, 0) * _K2, word(data, 8)
    c, d = word(data, size - 8) * multiplier, word(data, size - 16) * _K2
    y = right(a + b, 43) + right(c, 30) + d
    z = pair_hash(y, a + right(b + _K2, 18) + c, multiplier)
    e, f = word(data, 16) * multiplier, word(data, 24)
    g = (y + word(data, size - 32)) * multiplier
    h = (z + word(data, size - 24)) * multiplier
    return pair_hash(right(e + f, 43) + right(g, 30) + h, e + right(f + a, 18) + g, multiplier)


def weak_hash(data: np.ndarray, at: int, a: Words, b: Words) -> tuple[Words, Words]:
    w, x, y, z = (word(data, at + 8 * i) for i in range(4))
    a = a + w
    b = right(b + a + z, 21)
    start = a
    a = a + x + y
    return a + z, b + right(a, 44) + start


def _farm_long(data: np.ndarray) -> Words:
    size, count = data.shape[1], len(data)
    seed = U64(81)
    x = np.full(count, seed * _K2) + word(data, 0)
    y = np.full(count, seed * K1 + U64(113))
    z = shift_mix(y * _K2 + U64(113)) * _K2
    v = w = (np.zeros(count, U64), np.zeros(count, U64))
    last = (size - 1) // 64 * 64
    for at in range(0, last, 64):
        x = right(x + y + v[0] + word(data, at + 8), 37) * K1
        y = right(y + v[1] + word(data, at + 48), 42) * K1
        x = x ^ w[1]
        y = y + v[0] + word(data, at + 40)
        z = right(z + w[0], 33) * K1
        v = weak_hash(data, at, v[1] * K1, x + w[0])
        w = weak_hash(data, at + 32, z + w[1], y + word(data, at + 16))
        x, z = z, x
    multiplier = K1 + ((z & U64(0xFF)) << U64(1))
    at = size - 64
    w = (w[0] + U64((size - 1) & 63), w[1])
    v = (v[0] + w[0], v[1])
    w = (w[0] + v[0], w[1])
    x = right(x + y + v[0] + word(data, at + 8), 37) * multiplier
    y = right(y + v[1] + word(data, at + 48), 42) * multiplier
    x = x ^ w[1] * U64(9)
    y = y + v[0] * U64(9) + word(data, at + 40)
    z = right(z + w[0], 33) * multiplier
    v = weak_hash(data, at, v[1] * multiplier, x + w[0])
    w = weak_hash(data, at + 32, z + w[1], y + word(data, at + 16))
    x, z = z, x
    return pair_hash(
        pair_hash(v[0], w[0], multiplier) + shift_mix(y) * K0 + z, pair_hash(v[1], w[1], multiplier) + x, multiplier
    )


# --- MurmurHash64A (Appleby, 2008), with TensorFlow's seed -------------------------------------------------------------

_MURMUR = U64(0xC6A4A7935BD1E995)
_SEED = U64(0xDECAFCAFFE)


# --- ops ---------------------------------------------------------------------------------------------------------------

to_bucket_fast_op = define_op("StringToHashBucketFast(input: string) -> (output: int64) {num_buckets: int >= 1}")
shape_preserving(to_bucket_fast_op).not_differentiable()


@to_bucket_fast_op.kernel("CPU")
def _(ctx: Any, input: np.ndarray, *, num_buckets: int) -> Any:
    return _buckets(input, fingerprint64, num_buckets)


def string_to_hash_bucket_fast(input: Any, num_buckets: int, name: str | None = None) -> Tensor:
    """FarmHash's 64-bit fingerprint of each string, modulo `num_buckets`. Source: `tf.string_to_hash_bucket_fast`."""
    bucket: Tensor = to_bucket_fast_op(input, num_buckets=num_buckets, name=name)
    return bucket
