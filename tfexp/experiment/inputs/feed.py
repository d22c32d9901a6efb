"""`input=feed`: the rows are picked with NumPy and fed to placeholders, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import tfexp as tf
from tfexp.experiment.inputs.input import Batches, Input, Share

__all__ = ["Feed"]


@dataclass(frozen=True, kw_only=True)
class Feed(Input):
    def batches(self, share: Share) -> Batches:
        return _Fed(share)


class _Fed(Batches):
    def __init__(self, share: Share):
        spec = share.spec
        self.features = tf.placeholder(tf.float32, [None, spec.width], name="features")
        self.labels = (
            tf.placeholder(tf.float32, [None, 1], name="labels")
            if spec.classes is None
            else tf.placeholder(tf.int64, [None], name="labels")
        )
        self._share, self._begin, self._made = share, 0, 0

    def start(self, session: tf.Session, begin: int) -> None:
        self._begin, self._made = begin, 0

    def next_feeds(self) -> dict[Any, Any]:
        rows = self._share.rows(self._share.number(self._begin, self._made))
        self._made += 1
        train = self._share.dataset.train
        return {self.features: train.features[rows], self.labels: train.labels[rows]}
