"""`input=queue`: threads gather the batches and put them into a queue, from which the steps take them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import tfexp as tf
from tfexp.experiment.errors import ExperimentError
from tfexp.experiment.inputs.input import Batches, Input, Share, feedable
from tfexp.experiment.inputs.preloaded import Preloaded
from tfexp.experiment.schema import bounded

__all__ = ["Queue"]

_AT_ONCE = 64
"""Batches whose row numbers are handed to the session in one step."""


@dataclass(frozen=True, kw_only=True)
class Queue(Input):
    """`threads` gather batches, of which up to `capacity` wait in the queue. With one thread they come in order."""

    capacity: int = bounded(least=1, says="batches that wait in the queue")
    threads: int = bounded(
        least=1, says="threads that put batches together; with more than one their order is not the same in every run"
    )

    @property
    def repeatable(self) -> bool:
        return self.threads == 1

    def batches(self, share: Share) -> Batches:
        return _Queued(share, self)


class _Queued(Batches):
    """The numbers of the rows of each batch go into one queue, the batches come out of another one.

    What is in the queues is not saved. It need not be: `start` fills them from the batch at which the run goes on.
    """

    def __init__(self, share: Share, settings: Queue):
        self._share, spec, size = share, share.spec, share.batch_size
        self._threads: list[threading.Thread] = []
        self._data = Preloaded(share)
        numbers = tf.FIFOQueue(2 * _AT_ONCE, tf.int64, [size], name="row_numbers")
        self._numbers = tf.placeholder(tf.int64, [None, size], name="numbers")
        self._fill = numbers.enqueue_many(self._numbers)
        self._close = numbers.close(cancel_pending_enqueues=True)
        rows = numbers.dequeue()
        batch = [tf.gather(self._data.features, rows), tf.gather(self._data.labels, rows)]
        queue = tf.FIFOQueue(
            settings.capacity,
            [part.dtype for part in batch],
            [[size, spec.width], [size, 1] if spec.classes is None else [size]],
            name="batches",
        )
        self._runner = tf.train.QueueRunner(queue, [queue.enqueue(batch)] * settings.threads)
        features, labels = queue.dequeue()
        self.features, self.labels = feedable(features, labels, spec)

    def start(self, session: tf.Session, begin: int) -> None:
        self._data.load(session)
        self._session, self._coordinator = session, tf.train.Coordinator()
        threads = self._runner.create_threads(session, self._coordinator, daemon=True, start=True)
        feeder = threading.Thread(target=self._feed, args=(begin,), name="input-rows", daemon=True)
        feeder.start()
        self._threads = [*threads, feeder]

    def next_feeds(self) -> dict[Any, Any]:
        return {}

    def _feed(self, begin: int) -> None:
        """What the thread does that says which rows are next."""
        with self._coordinator.stop_on_exception():
            for numbers in self._numbers_from(begin):
                if self._coordinator.should_stop():
                    return
                try:
                    self._session.run(self._fill, {self._numbers: numbers})
                except tf.errors.CancelledError:
                    if not self._coordinator.should_stop():
                        raise
                    return

    def _numbers_from(self, begin: int) -> Iterator[np.ndarray]:
        share, made = self._share, 0
        while True:
            yield share.rows_of(share.numbers(begin, made, _AT_ONCE))
            made += _AT_ONCE

    def explain(self, error: tf.errors.OpError) -> ExperimentError | None:
        """A queue that was closed tells that a thread failed; the thread's own error tells why."""
        if not self._coordinator.should_stop():
            return None
        try:
            self.stop()
        except tf.errors.OpError as cause:
            return ExperimentError(f"input=queue: {cause.message}")
        return None

    def stop(self) -> None:
        if not self._threads:
            return
        threads, self._threads = self._threads, []
        self._coordinator.request_stop()
        self._session.run(self._close)
        self._coordinator.join(threads, stop_grace_period_secs=10)
