"""CityHash's 128 bits (Google, 2011), which FarmHash's Fingerprint128 is, of byte strings of one length together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfexp.ops.string_bytes import lay_out
from tfexp.ops.string_hash import K0, K1, U64, Words, fingerprint64, pair_hash, right, shift_mix, weak_hash, word

_PAIR = U64(0x9DDFEA08EB382D69)


def fingerprints128(texts: Sequence[bytes]) -> np.ndarray:
    """[texts, 2]: the low and the high half of each text's hash."""
    results = np.empty((len(texts), 2), U64)
    with np.errstate(over="ignore"):
        for here, rows in lay_out(texts).by_size():
            results[here] = np.stack(_fingerprint128(rows), axis=1)
    return results


def _fingerprint128(data: np.ndarray) -> tuple[Words, Words]:
    if data.shape[1] < 16:
        return _seeded(data, 0, np.full(len(data), K0), np.full(len(data), K1))
    return _seeded(data, 16, word(data, 0), word(data, 8) + K0)


def _pair(u: Words, v: Words) -> Words:
    return pair_hash(u, v, _PAIR)


def _seeded(data: np.ndarray, at: int, low: Words, high: Words) -> tuple[Words, Words]:
    """Of the bytes from `at` on."""
    size = data.shape[1] - at
    if size < 128:
        return _short(data, at, low, high)
    x, y, z = low, high, np.full(len(data), U64(size) * K1)
    v0 = right(y ^ K1, 49) * K1 + word(data, at)
    v = (v0, right(v0, 42) * K1 + word(data, at + 8))
    w = (right(y + z, 35) * K1 + x, right(x + word(data, at + 88), 53) * K1)
    left = size
    while left >= 128:
        for _ in range(2):
            x = right(x + y + v[0] + word(data, at + 8), 37) * K1
            y = right(y + v[1] + word(data, at + 48), 42) * K1
            x = x ^ w[1]
            y = y + v[0] + word(data, at + 40)
            z = right(z + w[0], 33) * K1
            v = weak_hash(data, at, v[1] * K1, x + w[0])
            w = weak_hash(data, at + 32, z + w[1], y + word(data, at + 16))
            x, z = z, x
            at += 64
        left -= 128
    x = x + right(v[0] + z, 49) * K0
    y = y * K0 + right(w[1], 37)
    z = z * K0 + right(w[0], 27)
    w = (w[0] * U64(9), w[1])
    v = (v[0] * K0, v[1])
    for back in range(32, left + 32, 32):  # what is left, from the end, in pieces that may reach into what is done
        at = data.shape[1] - back
        y = right(x + y, 42) * K0 + v[1]
        w = (w[0] + word(data, at + 16), w[1])
        x = x * K0 + w[0]
        z = z + w[1] + word(data, at)
        w = (w[0], w[1] + v[0])
        v = weak_hash(data, at, v[0] + z, v[1])
        v = (v[0] * K0, v[1])
    x, y = _pair(x, v[0]), _pair(y + z, w[0])
    return _pair(x + v[1], w[1]) + y, _pair(x + w[1], y + v[1])


def _short(data: np.ndarray, at: int, a: Words, b: Words) -> tuple[Words, Words]:
    size = data.shape[1] - at
    if size <= 16:
        a = shift_mix(a * K1) * K1
        c = b * K1 + fingerprint64(np.ascontiguousarray(data[:, at:]))
        d = shift_mix(a + (word(data, at) if size >= 8 else c))
    else:
        end = data.shape[1]
        c = _pair(word(data, end - 8) + K1, a)
        d = _pair(b + U64(size), c + word(data, end - 16))
        a = a + d
        for place in range(at, end - 16, 16):
            a = (a ^ shift_mix(word(data, place) * K1) * K1) * K1
            b = b ^ a
            c = (c ^ shift_mix(word(data, place + 8) * K1) * K1) * K1
            d = d ^ c
    a, b = _pair(a, c), _pair(d, b)
    return a ^ b, _pair(b, a)
