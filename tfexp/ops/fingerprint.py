"""`tf.fingerprint`: eight bytes for each row of a tensor. TF 1.15."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array
from tfexp.ops.shape_rules import with_rank, with_rank_at_least
from tfexp.ops.string_arrays import texts_of
from tfexp.ops.string_hash import fingerprint64, hashes

fingerprint_op = define_op("Fingerprint(data: T, method: string) -> (fingerprint: uint8) {T: type}")

_METHOD = b"farmhash64"


@fingerprint_op.shape
def _(data: InputShape, method: InputShape) -> TensorShape:
    with_rank_at_least(data, 1)
    with_rank(method, 0)
    if method.value is not None and texts_of(method.value)[0] != _METHOD:
        raise ValueError(f"Unsupported method: {texts_of(method.value)[0].decode(errors='replace')}")
    return TensorShape([None if data.known_dims is None else data.known_dims[0], None if method.value is None else 8])


@fingerprint_op.kernel("CPU")
def _(ctx: Any, data: Array, method: Array) -> Array:
    name = texts_of(method)[0]
    if name != _METHOD:
        raise InvalidArgumentError(None, None, f"Unsupported fingerprint method: {name.decode(errors='replace')}")
    if not np.ndim(data):
        raise InvalidArgumentError(None, None, "`data` should have at least one dimension.")
    if data.dtype == object:
        words = np.asarray(hashes(texts_of(data), fingerprint64), np.uint64)
        if data.ndim == 1:
            return _bytes_of(words)
        # Of a row of texts, the fingerprint is that of its texts' fingerprints.
        data = words.reshape(data.shape)
    size = int(np.prod(data.shape[1:], dtype=np.int64)) * data.dtype.itemsize
    rows = np.ascontiguousarray(data).reshape(len(data), -1).view(np.uint8).reshape(len(data), size)
    return _bytes_of(np.asarray(fingerprint64(rows), np.uint64))


def _bytes_of(words: Array) -> Array:
    return words.astype("<u8").view(np.uint8).reshape(-1, 8)


def fingerprint(data: Any, method: str = "farmhash64", name: str | None = None) -> Tensor:
    """[rows, 8] bytes, the hash of what a row of `data` holds. ValueError for another method. `tf.fingerprint`."""
    result: Tensor = fingerprint_op(data, method, name=name)
    return result
