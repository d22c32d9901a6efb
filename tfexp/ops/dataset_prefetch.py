"""Data sets whose elements a thread has ready before they are asked for."""

from __future__ import annotations

import threading
from collections import deque
from typing import Any

from tfexp.core.errors import CancelledError, InvalidArgumentError
from tfexp.ops.dataset import Dataset, DatasetIterator, Element, FromRecipe, State, as_count, define_dataset

prefetch_dataset = define_dataset(
    "PrefetchDataset(input_dataset: variant, buffer_size: int64) -> (handle: variant) {output_types: list(type) >= 1; "
    "output_shapes: list(shape) >= 1; slack_period: int = 0; legacy_autotune: bool = true; buffer_size_min: int = 0; "
    "metadata: string = ''}"
)

# What `tf.data.experimental.AUTOTUNE` stands for.
_AUTOTUNED_SIZE = 4

_END = object()


class _Buffer:
    """What a thread has read ahead. The thread knows the buffer only, so that it ends when nobody reads any more."""

    def __init__(self, source: DatasetIterator, size: int):
        self.source = source
        self.size = size
        self.ready: deque[Any] = deque()  # elements, exceptions that reading raised, _END
        self.changed = threading.Condition()
        self.reading = threading.Lock()  # held while the source is asked for an element
        self.stopped = self.interrupted = False

    def fill(self) -> None:
        """Read until the end, or until it is told to stop."""
        while self._wait_for_room():
            with self.reading:
                if self.stopped:
                    return
                found = self._read()
                with self.changed:
                    self.ready.extend(found)
                    self.changed.notify_all()
            if found[-1] is _END:
                return

    def _read(self) -> list[Any]:
        """The next element, and those that are there with it: more than was asked for, but no more than are in memory."""
        try:
            found = [self.source.next()]
            found += [self.source.next() for _ in range(self.source.waiting())]
        except Exception as error:
            return [error]
        return found if found[0] is not None else [_END]

    def _wait_for_room(self) -> bool:
        """Wait until there is room for more, and then for half the buffer: waking up for each element costs too much."""
        with self.changed:
            if len(self.ready) >= self.size:
                self.changed.wait_for(lambda: self.stopped or len(self.ready) <= self.size // 2)
            return not self.stopped

    def take(self) -> Any:
        with self.changed:
            self.changed.wait_for(lambda: self.ready or self.interrupted or self.stopped)
            if self.interrupted or not self.ready:
                raise CancelledError(None, None, "Waiting for the next element was cancelled")
            if self.ready[0] is _END:
                return _END
            found = self.ready.popleft()
            if len(self.ready) == self.size // 2:
                self.changed.notify_all()
            return found

    def stop(self) -> None:
        with self.changed:
            self.stopped = True
            self.changed.notify_all()


class _Prefetch(DatasetIterator):
    def __init__(self, source: DatasetIterator, size: int):
        self._buffer = _Buffer(source, size)
        self._thread: threading.Thread | None = None

    def next(self) -> Element | None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._buffer.fill, name="tfexp-prefetch", daemon=True)
            self._thread.start()
        found = self._buffer.take()
        if found is _END:
            return None
        if isinstance(found, Exception):
            raise found
        element: Element = found
        return element

    def save(self) -> State:
        buffer = self._buffer
        with buffer.reading, buffer.changed:
            waiting = list(buffer.ready)
            ended = bool(waiting) and waiting[-1] is _END
            elements = [list(found) for found in waiting if found is not _END and not isinstance(found, Exception)]
            return {"source": buffer.source.save(), "ready": elements, "ended": ended}

    def restore(self, state: State) -> None:
        self._buffer.source.restore(state["source"])
        self._buffer.ready = deque([*state["ready"], _END] if state["ended"] else state["ready"])

    def interrupt(self, on: bool = True) -> None:
        # The source goes on: what the thread waits for is for whoever asks next.
        with self._buffer.changed:
            self._buffer.interrupted = on
            self._buffer.changed.notify_all()

    def close(self) -> None:
        self._buffer.stop()
        self._buffer.source.interrupt()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        self._buffer.source.close()

    def __del__(self) -> None:
        self._buffer.stop()


def prefetched(dataset: Dataset, size: int) -> Dataset:
    """`dataset`, read ahead by a thread; one whose elements come in blocks from memory has no use for that."""

    def iterator(recipe: Dataset) -> DatasetIterator:
        source = recipe.iterator()
        return source if source.blocks else _Prefetch(source, size)

    return FromRecipe(iterator, dataset)


@prefetch_dataset.kernel("CPU")
def _(ctx: Any, dataset: Dataset, buffer_size: Any) -> Dataset:
    size = as_count(buffer_size)
    if size < -1:
        raise InvalidArgumentError(
            None, None, f"buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning, not {size}"
        )
    if size == 0:
        return dataset
    return prefetched(dataset, size if size > 0 else _AUTOTUNED_SIZE)
