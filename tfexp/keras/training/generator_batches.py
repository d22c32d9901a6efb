"""Batches that a Python generator or a `tf.keras.utils.Sequence` makes, ahead of time in threads or processes.

Source: `fit_generator`, TF 1.15.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from tfexp.core import log, nest
from tfexp.data.eager_iterator import EagerIterator
from tfexp.keras.training.batches import Batch, OutOfBatchesError
from tfexp.keras.training.dataset_batches import Arranged
from tfexp.keras.utils.data import GeneratorEnqueuer, OrderedEnqueuer, Sequence


def is_generator(data: Any) -> bool:
    """Whether it gives batches by `next`, or is a Sequence of them."""
    return isinstance(data, Sequence) or (hasattr(data, "__next__") and not hasattr(data, "get_next"))


def as_generator(data: Any) -> Any:
    """An iterator over a dataset, in eager execution, as a generator of its elements; other data as it is."""
    return (element for element in data) if isinstance(data, EagerIterator) else data


class GeneratorBatches:
    """steps: by default the length of a Sequence; a generator's has to be told, ValueError otherwise.

    workers: how many threads (or processes) make batches ahead, up to `max_queue_size` of them; 0 for none. shuffle: whether
    the batches of a Sequence come in a new order each epoch.
    """

    by_sample = False
    mean_over_samples = False
    announced: str | None = None
    batch_size: int | None = None

    def __init__(
        self,
        data: Any,
        steps: int | None,
        arrange: Arranged,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        shuffle: bool = False,
        argument: str = "steps_per_epoch",
    ):
        if steps is None:
            if not isinstance(data, Sequence):
                what = "" if argument == "validation_steps" else "number of steps via the "
                raise ValueError(f"Please specify the {what}`{argument}` argument.")
            steps = len(data)
        if not isinstance(data, Sequence) and use_multiprocessing and workers > 1:
            log.warn(
                "Using a generator with `use_multiprocessing=True` and multiple workers may duplicate your data. Please "
                "consider using the `tf.data.Dataset`."
            )
        self.steps: int | None = steps
        self.samples: int | None = steps
        self._arrange = arrange
        self._enqueuer: Any = None
        if workers > 0:
            if isinstance(data, Sequence):
                self._enqueuer = OrderedEnqueuer(data, use_multiprocessing=use_multiprocessing, shuffle=shuffle)
            else:
                self._enqueuer = GeneratorEnqueuer(data, use_multiprocessing=use_multiprocessing)
            self._enqueuer.start(workers=workers, max_queue_size=max_queue_size)
            self._made = self._enqueuer.get()
        else:
            self._made = _over_and_over(data) if isinstance(data, Sequence) else data
        self._ahead: list[Batch] = []
        self.last_size = 0

    def look_ahead(self) -> None:
        try:
            with contextlib.suppress(StopIteration):  # that there is none is for the epoch to say
                self._ahead = [self._batch()]
        except BaseException:
            self.close()
            raise

    def epoch(self) -> Iterator[Batch]:
        for _ in range(self.steps or 0):
            try:
                batch = self._ahead.pop() if self._ahead else self._batch()
            except StopIteration:
                raise OutOfBatchesError("iterator") from None
            self.last_size = batch.size
            yield batch

    def _batch(self) -> Batch:
        made = next(self._made)
        return Batch(*self._arrange(_as_tuple(made)), _size(made))

    def restart(self) -> None:
        """Nothing: who knows where a generator began? It goes on."""

    def close(self) -> None:
        if self._enqueuer is not None:
            self._enqueuer.stop()


def _over_and_over(sequence: Any) -> Iterator[Any]:
    """Nobody tells the sequence of an epoch's end: those who make batches ahead do. So it is in TF 1.15."""
    while True:
        for place in range(len(sequence)):
            yield sequence[place]


def _as_tuple(made: Any) -> tuple[Any, ...]:
    """(inputs,), (inputs, targets) or (inputs, targets, weights). ValueError for a tuple of another length."""
    if not isinstance(made, tuple):
        return (made,)
    if not 1 <= len(made) <= 3:
        raise ValueError(
            "Output of generator should be a tuple of 1 or 2 or 3 elements: (input,) or (input, target) or (input, target, "
            f"sample_weights). Received {made}"
        )
    return made


def _size(made: Any) -> int:
    """How many samples a batch has."""
    first = nest.flatten(made)[0]
    return int(first.shape[0]) if getattr(first, "shape", ()) else 1
