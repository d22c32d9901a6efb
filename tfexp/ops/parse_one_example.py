"""Parsing one `tf.Example`: what many at once gain by NumPy, one loses by it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfexp.core.dtypes import DType
from tfexp.core.shape import TensorShape
from tfexp.formats.example_wire import BYTES, FLOATS, INTS, Span, payloads, scan
from tfexp.formats.varint import decode_varint

_ABSENT: Span = (0, 0, 0)
_LONG = 64  # bytes of a list of integers above which NumPy reads them faster


def parse_one(
    record: bytes,
    sparse: Sequence[tuple[bytes, int]],
    dense: Sequence[tuple[bytes, int]],
    ragged: Sequence[tuple[bytes, int, DType]],
    defaults: Sequence[Any],
    shapes: Sequence[TensorShape],
) -> list[Any] | None:
    """The outputs of ParseExampleV2 for a scalar; None where something is not as it is asked for, or lists are long.

    `sparse`, `dense`: (key, kind); `ragged`: (key, kind, dtype of the splits).
    """
    try:
        spans = scan(record)
        listed = [*sparse, *((key, kind) for key, kind, _ in ragged)]
        lists = [_values(record, spans.get(key, _ABSENT), kind) for key, kind in listed]
        values = [
            _dense(record, spans.get(key, _ABSENT), kind, default, shape.as_list())
            for (key, kind), default, shape in zip(dense, defaults, shapes, strict=True)
        ]
    except (ValueError, OverflowError):
        return None
    found, rows = lists[: len(sparse)], lists[len(sparse) :]
    return [
        *[np.arange(len(one))[:, np.newaxis] for one in found],
        *found,
        *[np.array([len(one)], np.int64) for one in found],
        *values,
        *rows,
        *[np.array([0, len(one)], splits.as_numpy_dtype) for one, (*_, splits) in zip(rows, ragged, strict=True)],
    ]


def _values(record: bytes, span: Span, kind: int) -> np.ndarray:
    """The values of a feature, none where the record does not have it; ValueError where they are of another kind."""
    if span[0] != kind:
        if span[0]:
            raise ValueError(f"a feature of kind {span[0]}")
        return _READ[kind](record, [])
    return _READ[kind](record, payloads(record, span))


def _dense(record: bytes, span: Span, kind: int, default: Any, shape: list[int | None]) -> np.ndarray:
    """The values of a feature, or the default where the record has none; ValueError where they do not fill `shape`."""
    values = _values(record, span, kind) if span[0] else np.array(default)
    if not values.size or (not span[0] and None in shape):
        raise ValueError("nothing that has a shape")
    if None in shape[1:]:
        raise ValueError("sizes that only NumPy's way tells")
    return values.reshape([-1 if size is None else size for size in shape])


def _texts(record: bytes, places: list[tuple[int, int]]) -> np.ndarray:
    array = np.empty(len(places), object)
    array[:] = [record[begin:end] for begin, end in places]
    return array


def _floats(record: bytes, places: list[tuple[int, int]]) -> np.ndarray:
    data = bytearray().join([record[begin:end] for begin, end in places])
    return np.frombuffer(data, "<f4").astype(np.float32, copy=False)


def _integers(record: bytes, places: list[tuple[int, int]]) -> np.ndarray:
    numbers: list[int] = []
    for begin, end in places:
        if end - begin > _LONG:
            raise ValueError("a long list")
        while begin < end:
            number, begin = decode_varint(record, begin)
            numbers.append(number)
        if begin > end:
            raise ValueError("a number that does not end")
    return np.array(numbers, np.uint64).view(np.int64)


_READ: dict[int, Callable[[bytes, list[tuple[int, int]]], np.ndarray]] = {
    BYTES: _texts,
    FLOATS: _floats,
    INTS: _integers,
}
