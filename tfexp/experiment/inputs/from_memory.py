"""`input=dataset`: a `tf.data` pipeline over the rows in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import tfexp as tf
from tfexp.experiment.inputs.input import Batches, Input, Share
from tfexp.experiment.inputs.iterating import Iterated
from tfexp.experiment.inputs.preloaded import Preloaded
from tfexp.experiment.schema import bounded

__all__ = ["FromMemory"]

_ROWS_TO_A_CHUNK = 1 << 16
"""At least; and at least an epoch, because the data is copied for each chunk."""


@dataclass(frozen=True, kw_only=True)
class FromMemory(Input):
    """A thread has up to `prefetch` batches ready (0: each step makes its own)."""

    prefetch: int = bounded(
        least=0, says="batches that a thread has ready; 0: each step makes its own, faster while the rows are in memory"
    )

    def batches(self, share: Share) -> Batches:
        return _Pipeline(share, self.prefetch)


class _Pipeline(Iterated):
    def __init__(self, share: Share, prefetch: int):
        self._data = Preloaded(share)
        self._prefetch = prefetch
        self._chunk_batches = max(1, _ROWS_TO_A_CHUNK // share.batch_size, share.batches_per_epoch)
        super().__init__(share)

    def pipeline(self) -> tf.data.Dataset:
        share, data = self.share, self._data
        self._rows = tf.placeholder(tf.int64, [None, share.batch_size], name="rows")

        def gathered(rows: tf.Tensor) -> tf.data.Dataset:
            return tf.data.Dataset.from_tensor_slices((tf.gather(data.features, rows), tf.gather(data.labels, rows)))

        batches = tf.data.Dataset.from_tensor_slices(self._rows).skip(self.skipped).batch(self.at_once).flat_map(gathered)
        return batches.prefetch(self._prefetch) if self._prefetch else batches

    def load(self, session: tf.Session) -> None:
        self._data.load(session)

    def place(self, begin: int) -> tuple[int, int, int]:
        if self.share.workers > 1:
            return begin, 0, 0
        return 0, *divmod(begin, self._chunk_batches)

    def chunk(self, begin: int, number: int) -> tuple[dict[Any, Any], int]:
        share, count = self.share, self._chunk_batches
        return {self._rows: share.rows_of(share.numbers(begin, number * count, count))}, count
