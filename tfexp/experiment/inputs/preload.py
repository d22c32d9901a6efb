"""`input=preload`: the rows are in the session, and a step is fed the numbers of those that it trains on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import tfexp as tf
from tfexp.experiment.inputs.input import Batches, Input, Share, feedable
from tfexp.experiment.inputs.preloaded import Preloaded

__all__ = ["Preload"]


@dataclass(frozen=True, kw_only=True)
class Preload(Input):
    def batches(self, share: Share) -> Batches:
        return _Gathered(share)


class _Gathered(Batches):
    def __init__(self, share: Share):
        self._share, self._begin, self._made = share, 0, 0
        self._data = Preloaded(share)
        self._rows = tf.placeholder(tf.int64, [share.batch_size], name="rows")
        features, labels = tf.gather(self._data.features, self._rows), tf.gather(self._data.labels, self._rows)
        self.features, self.labels = feedable(features, labels, share.spec)

    def start(self, session: tf.Session, begin: int) -> None:
        self._begin, self._made = begin, 0
        self._data.load(session)

    def next_feeds(self) -> dict[Any, Any]:
        rows = self._share.rows(self._share.number(self._begin, self._made))
        self._made += 1
        return {self._rows: rows}
