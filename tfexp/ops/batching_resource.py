"""What gathers the rows of concurrent steps into batches, and hands out the parts of a batch again.

Every batch has a thread: it waits until the batch is full or old enough, and for one of the queue's slots. Rows are taken
in until then. Source: `tensorflow.python.ops.batch_ops`, TF 1.15.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tfexp.core.errors import DeadlineExceededError, InternalError, OpError, UnavailableError, invalid
from tfexp.core.waiting import Promise

Arrays = Sequence[np.ndarray]


class Task(Promise):
    """The rows of one node on their way through a batch, and what the node promises to make of them."""

    __slots__ = ("captured", "inputs", "number", "rows")

    def __init__(self, number: int, inputs: Arrays, captured: Arrays, withdraw: Callable[[Any, OpError], None]):
        super().__init__(lambda: "the other rows of its batch", withdraw)
        self.number, self.inputs, self.captured = number, inputs, captured
        self.rows = inputs[0].shape[0]


class _Batch:
    """Tasks that are processed together; no more come once it is full."""

    def __init__(self) -> None:
        self.tasks: list[Task] = []
        self.full = threading.Event()

    @property
    def rows(self) -> int:
        return sum(task.rows for task in self.tasks)


class BatchQueue:
    """Batches of up to `most_rows` rows, processed by `process(tasks, joined inputs)` once full or `seconds` old.

    `slots` batches are processed at a time, and `most_batches` wait for that. Where there are `sizes`, a batch is filled up
    to the next of them with copies of its first row.
    """

    def __init__(
        self,
        process: Callable[[list[Task], list[np.ndarray]], None],
        slots: int,
        most_rows: int,
        most_batches: int,
        seconds: float,
        sizes: Sequence[int] = (),
    ):
        if any(after <= before for before, after in itertools.pairwise(sizes)):
            raise invalid("allowed_batch_sizes entries must be monotonically increasing")
        if sizes and sizes[-1] != most_rows:
            raise invalid("final entry in allowed_batch_sizes must equal max_batch_size")
        self._process = process
        self._slots = threading.Semaphore(slots)
        self._most_rows, self._most_batches, self._seconds, self._sizes = most_rows, most_batches, seconds, sizes
        self._lock = threading.Lock()
        self._waiting: list[_Batch] = []  # those that are not processed yet, the last one may be open
        self._count = 0

    def put(self, inputs: Arrays, captured: Arrays = ()) -> Task:
        """Rows to be processed. InvalidArgumentError for what does not fit, UnavailableError while too many wait."""
        if any(array.ndim == 0 for array in inputs):
            raise invalid("Batching input tensors must have at least one dimension")
        if len({array.shape[0] for array in inputs}) > 1:
            raise invalid("Batching input tensors supplied in a given op invocation must have equal 0th-dimension size")
        with self._lock:
            task = Task(self._count, inputs, captured, self._withdraw)
            self._count += 1
            batch = self._batch_for(task)
            batch.tasks.append(task)
            if batch.rows == self._most_rows:
                batch.full.set()
        return task

    def _batch_for(self, task: Task) -> _Batch:
        if task.rows > self._most_rows:
            raise invalid(f"Task size {task.rows} is larger than maximum batch size {self._most_rows}")
        batch = self._waiting[-1] if self._waiting else None
        if batch is not None and not batch.full.is_set() and batch.rows + task.rows <= self._most_rows:
            return batch
        if len(self._waiting) >= self._most_batches:
            raise UnavailableError(None, None, "The batch scheduling queue to which this task was submitted is full")
        if batch is not None:
            batch.full.set()
        batch = _Batch()
        self._waiting.append(batch)
        threading.Thread(target=self._serve, args=[batch], name="tfexp-batch", daemon=True).start()
        return batch

    def _serve(self, batch: _Batch) -> None:
        batch.full.wait(self._seconds)
        with self._slots:
            with self._lock:
                self._waiting.remove(batch)
                tasks = list(batch.tasks)
            try:
                if tasks:
                    self._process(tasks, self._joined(tasks))
            except Exception as error:  # every step that waits here is told of it
                kind = type(error) if isinstance(error, OpError) else InternalError
                for task in tasks:
                    task.fail(kind(None, None, str(getattr(error, "message", error))))

    def _joined(self, tasks: Sequence[Task]) -> list[np.ndarray]:
        rows = sum(task.rows for task in tasks)
        more = next((size for size in self._sizes if size >= rows), rows) - rows
        columns = zip(*(task.inputs for task in tasks), strict=True)
        return [_concatenated([*parts, *[parts[0][:1]] * more]) for parts in columns]

    def _withdraw(self, task: Any, reason: OpError) -> None:
        with self._lock:
            for batch in self._waiting:
                if task in batch.tasks:
                    batch.tasks.remove(task)
        task.fail(reason)


class Parcels:
    """Arrays by number that some nodes leave here and others take; who takes waits until all of its numbers are there."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._arrays: dict[int, np.ndarray] = {}
        self._takers: dict[_Taker, tuple[int, ...]] = {}

    def leave(self, arrays: Mapping[int, np.ndarray]) -> None:
        with self._lock:
            self._arrays.update(arrays)
            ready = [(taker, self._taken(numbers)) for taker, numbers in self._takers.items() if self._has(numbers)]
            for taker, _ in ready:
                del self._takers[taker]
        for taker, taken in ready:
            taker.keep(taken)

    def take(self, numbers: Sequence[int], then: Callable[[list[np.ndarray]], Any], seconds: float | None = None) -> Any:
        """What `then` makes of the arrays, or a promise of it that is broken after so long: DeadlineExceededError."""
        wanted = tuple(numbers)
        with self._lock:
            if self._has(wanted):
                return then(self._taken(wanted))
            taker = _Taker(wanted, self._withdraw, then)
            self._takers[taker] = wanted
        if seconds is not None:
            taker.expire_after(seconds)
        return taker

    def _has(self, numbers: Sequence[int]) -> bool:
        return all(number in self._arrays for number in numbers)

    def _taken(self, numbers: Sequence[int]) -> list[np.ndarray]:
        return [self._arrays.pop(number) for number in numbers]

    def _withdraw(self, taker: Any, reason: OpError) -> None:
        with self._lock:
            self._takers.pop(taker, None)
        taker.fail(reason)


class _Taker(Promise):
    __slots__ = ("_timer",)

    def __init__(self, numbers: Sequence[int], withdraw: Callable[[Any, OpError], None], then: Callable[[Any], Any]):
        super().__init__(lambda: f"the parts {list(numbers)} of a batch", withdraw, then)
        self._timer: threading.Timer | None = None

    def expire_after(self, seconds: float) -> None:
        error = DeadlineExceededError(None, None, "Batched data did not arrive within timeout window.")
        timer = self._timer = threading.Timer(seconds, self.give_up, [error])
        timer.daemon = True
        timer.start()

    def result(self) -> Any:
        if self._timer is not None:
            self._timer.cancel()
        return super().result()


def _concatenated(parts: Sequence[np.ndarray]) -> np.ndarray:
    if len({part.shape[1:] for part in parts}) > 1:
        shapes = " and ".join(str(list(shape)) for shape in sorted({part.shape for part in parts}))
        raise invalid(f"Rows that are batched must have one shape; there are tensors of shapes {shapes}")
    return np.concatenate(parts)
