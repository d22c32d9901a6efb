"""`RecordInput`: the records of TFRecord files, in random order, for ever."""

from __future__ import annotations

import glob
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from tfexp.core.errors import InvalidArgumentError, NotFoundError
from tfexp.core.op import define_op
from tfexp.core.shape import TensorShape
from tfexp.formats.tfrecord import tf_record_iterator

record_input = define_op(
    "RecordInput() -> (records: string) {file_pattern: string; file_random_seed: int = 301; file_shuffle_shift_ratio: float "
    "= 0.0; file_buffer_size: int = 10000; file_parallelism: int = 16; batch_size: int = 32; compression_type: string = ''} "
    "#stateful"
).not_differentiable()


@record_input.shape
def _() -> TensorShape:
    return TensorShape(None)


class _Records:
    """Records drawn from a buffer of `size`. An epoch has each record once, its files in another order than the last."""

    def __init__(self, pattern: str, seed: int, shift: float, size: int, compression: str):
        self._pattern, self._shift, self._size, self._compression = pattern, shift, size, compression
        self._random = np.random.default_rng(seed)
        self._lock = threading.Lock()
        self._coming = self._read()
        self._buffer: list[bytes] = []

    def _read(self) -> Iterator[bytes]:
        """The records of all files, epoch by epoch; the files begin elsewhere in each by a share of `shift`."""
        begin = 0.0
        while True:
            names = sorted(glob.glob(self._pattern))
            self._random.shuffle(names)
            first, read = int(begin * len(names)), 0
            for name in names[first:] + names[:first]:
                for record in tf_record_iterator(name, self._compression):
                    read += 1
                    yield record
            if not read:
                raise NotFoundError(None, None, f"Found no files at {self._pattern}, or no records in them")
            begin = (begin + self._shift) % 1.0

    def take(self, count: int) -> list[bytes]:
        """So many further records."""
        with self._lock:
            return [self._draw() for _ in range(count)]

    def _draw(self) -> bytes:
        while len(self._buffer) < self._size:
            self._buffer.append(next(self._coming))
        place = self._random.integers(len(self._buffer))
        drawn, self._buffer[place] = self._buffer[place], self._buffer[-1]
        self._buffer.pop()
        return drawn


@record_input.kernel("CPU")
def _(
    ctx: Any,
    *,
    file_pattern: str,
    file_random_seed: int,
    file_shuffle_shift_ratio: float,
    file_buffer_size: int,
    batch_size: int,
    compression_type: str,
) -> np.ndarray:
    if file_buffer_size < 1 or batch_size < 1:
        raise InvalidArgumentError(
            None, None, f"file_buffer_size and batch_size must be positive, not {file_buffer_size} and {batch_size}"
        )

    def begin() -> _Records:
        return _Records(file_pattern, file_random_seed, file_shuffle_shift_ratio, file_buffer_size, compression_type)

    found = ctx.resource("", ctx.node_name, begin, "records").take(batch_size)
    records = np.empty(len(found), object)
    records[:] = found
    return records
