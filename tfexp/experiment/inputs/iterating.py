"""What `input=dataset` and `input=tfrecord` share: an initializable iterator that gets a chunk of batches at a time.

Which rows make which batch, and in which order files are read, is fed when the iterator is initialised, for as many
batches as make a chunk. The position within the chunk is the iterator's, and is saved and restored with the variables.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import tfexp as tf
from tfexp.experiment.inputs.input import Batches, Share, feedable

__all__ = ["Iterated"]


_BYTES_AT_ONCE = 1 << 20
"""Of features."""
_BATCHES_AT_ONCE = 64


class Iterated(Batches):
    """The batches of a `tf.data.Dataset` that begins anew with each chunk.

    `at_once` is how many batches a pipeline best makes at once: several small ones cost little more than one.
    """

    def __init__(self, share: Share):
        self.share = share
        self.at_once = min(_BATCHES_AT_ONCE, max(1, _BYTES_AT_ONCE // (4 * share.spec.width * share.batch_size)))
        self.skipped = tf.placeholder_with_default(tf.constant(0, tf.int64), [], name="skipped")
        size, spec = share.batch_size, share.spec
        iterator = tf.data.make_initializable_iterator(self.pipeline())
        features, labels = iterator.get_next()
        # They do not come out otherwise; known shapes let the planner specialise the step.
        features.set_shape([size, spec.width])
        labels.set_shape([size, 1] if spec.classes is None else [size])
        self._iterator = iterator
        self.features, self.labels = feedable(features, labels, spec)
        if share.workers == 1:
            self.saved = (tf.data.experimental.make_saveable_from_iterator(iterator),)

    @abstractmethod
    def pipeline(self) -> tf.data.Dataset:
        """The batches of one chunk without the first `skipped`: (features, labels)."""

    @abstractmethod
    def chunk(self, begin: int, number: int) -> tuple[dict[Any, Any], int]:
        """What the iterator is fed for the worker's chunk `number` since batch `begin`, and its batches."""

    @abstractmethod
    def place(self, begin: int) -> tuple[int, int, int]:
        """Where batch `begin` is: the batch from which chunks are counted, the chunk, and the batches before it there."""

    def load(self, session: tf.Session) -> None:
        """Put what the pipeline reads into the session."""

    def start(self, session: tf.Session, begin: int) -> None:
        self._session = session
        self.load(session)
        self._base, self._chunk, skipped = self.place(begin)
        if self.saved and self._chunk and not skipped:
            # A checkpoint of this step holds a position: the end of the chunk before.
            self._chunk -= 1
            skipped = self.chunk(self._base, self._chunk)[1]
        self._begin_chunk(skipped)

    def next_feeds(self) -> dict[Any, Any]:
        while not self._left:
            self._chunk += 1
            self._begin_chunk(0)
        self._left -= 1
        return {}

    def _begin_chunk(self, skipped: int) -> None:
        feeds, batches = self.chunk(self._base, self._chunk)
        self._session.run(self._iterator.initializer, {**feeds, self.skipped: skipped})
        self._left = max(0, batches - skipped)
