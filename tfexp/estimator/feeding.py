"""Arrays in memory as the input of a graph: threads feed their rows to a queue. What `tf.estimator.inputs` is made of.

Nodes are TensorFlow's: the queue and what fills it below `enqueue_input`, then the dequeue. Source: TF 1.15.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tfexp.core import dtypes, errors
from tfexp.graph.scopes import get_default_graph, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_identity import placeholder
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_binary import maximum
from tfexp.ops.queue import FIFOQueue, QueueBase, RandomShuffleQueue
from tfexp.ops.summary import scalar
from tfexp.train.queue_runner import QueueRunner, add_queue_runner


class RowFeed:
    """Batches of rows of arrays of one length, in order, with the rows' numbers before them, for `tensors` to be fed with;
    callable from any thread.

    Begins at row `start` and goes round; the epochs are counted in rows, so a batch may span two. OutOfRangeError when
    `num_epochs` (None: no end) have been given; the last batch may be smaller.
    """

    def __init__(
        self,
        tensors: Sequence[Tensor],
        arrays: Sequence[np.ndarray],
        batch_size: int,
        num_epochs: int | None,
        start: int = 0,
    ):
        self._tensors, self._arrays = tensors, arrays
        self._rows = len(arrays[0])
        self._lock = threading.Lock()
        self._spans = self._cut(batch_size, num_epochs)
        self._start = start

    def _cut(self, size: int, num_epochs: int | None) -> Iterator[tuple[int, int]]:
        """(first, end) of each batch, counted from the beginning of the first epoch."""
        end = None if num_epochs is None else self._rows * num_epochs
        first = 0
        while end is None or first < end:
            last = first + size if end is None else min(first + size, end)
            yield first, last
            first = last

    def __call__(self) -> dict[Tensor, np.ndarray]:
        with self._lock:
            span = next(self._spans, None)
        if span is None:
            raise errors.OutOfRangeError(None, None, "All epochs of the arrays have been given.")
        rows = (np.arange(*span) + self._start) % self._rows
        return dict(zip(self._tensors, [rows, *(array[rows] for array in self._arrays)], strict=True))


class FeedingQueueRunner(QueueRunner):
    """A queue runner whose thread for `enqueue_ops[i]` feeds what `feed_fns[i]()` gives: values by tensors.

    ValueError for as many functions as there are not ops.
    """

    def __init__(
        self,
        queue: Any = None,
        enqueue_ops: Sequence[Any] | None = None,
        close_op: Any = None,
        cancel_op: Any = None,
        feed_fns: Sequence[Callable[[], Mapping[Any, Any]]] | None = None,
        queue_closed_exception_types: tuple[type[BaseException], ...] | None = None,
    ):
        closed = queue_closed_exception_types
        if closed is None:
            closed = (errors.OutOfRangeError, errors.CancelledError)
        super().__init__(queue, enqueue_ops, close_op, cancel_op, closed)
        if feed_fns is not None and len(feed_fns) != len(self.enqueue_ops):
            raise ValueError("If feed_fns is not None, it must have the same length as enqueue_ops.")
        self._feed_fns = dict(zip(self.enqueue_ops, feed_fns or [], strict=False))

    def _enqueuer(self, sess: Any, enqueue_op: Any) -> Callable[[], Any]:
        feed = self._feed_fns.get(enqueue_op)
        if feed is None:
            return super()._enqueuer(sess, enqueue_op)
        return lambda: sess.run(enqueue_op, feed_dict=feed())

    def to_proto(self, export_scope: str | None = None) -> None:
        """Nothing: arrays of a program have no place in a graph's description."""


def batches(
    arrays: Sequence[np.ndarray],
    batch_size: int,
    num_epochs: int | None,
    shuffle: bool,
    capacity: int,
    num_threads: int = 1,
) -> list[Tensor]:
    """[the rows' numbers, *rows of each array]: `batch_size` rows a step, the last maybe fewer.

    With `shuffle`, every thread begins at a random row, and the queue mixes rows. `num_threads` each give all epochs.
    """
    with name_scope("enqueue_input"):
        types = [dtypes.int64, *(dtypes.as_dtype(array.dtype) for array in arrays)]
        shapes: list[Any] = [(), *(array.shape[1:] for array in arrays)]
        least = max(1, capacity // 4) if shuffle else 0
        queue: QueueBase = (
            RandomShuffleQueue(capacity, least, dtypes=types, shapes=shapes)
            if shuffle
            else FIFOQueue(capacity, dtypes=types, shapes=shapes)
        )
        enqueues, feeds = [], []
        random = np.random.default_rng(get_default_graph().seed)
        for _ in range(num_threads):
            tensors = [placeholder(dtype) for dtype in types]
            start = int(random.integers(len(arrays[0]))) if shuffle else 0
            enqueues.append(queue.enqueue_many(tensors))
            feeds.append(RowFeed(tensors, arrays, batch_size, num_epochs, start))
        add_queue_runner(FeedingQueueRunner(queue, enqueues, feed_fns=feeds))
        spare = capacity - least
        full = cast(maximum(0, queue.size() - least), dtypes.float32) * (1.0 / spare)
        scalar(f"queue/{queue.name}fraction_over_{least}_of_{spare}_full", full)
    taken: list[Tensor] = queue.dequeue_many(batch_size) if num_epochs is None else queue.dequeue_up_to(batch_size)
    return taken
