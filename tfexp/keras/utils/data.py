"""Batches that are made ahead of time, by threads or processes. Source: `tf.keras.utils.Sequence` and enqueuers, TF 1.15.

An enqueuer has one thread that hands out tasks, at most `max_queue_size` of them whose results nobody has taken yet, and a
pool of workers that do them. Results come in the order in which the tasks were handed out.
"""

from __future__ import annotations

import multiprocessing
import queue
import random
import signal
import threading
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import connection
from typing import Any, Self

import numpy as np


class Sequence:
    """A data set of batches: subclasses say how many there are (`__len__`) and make each (`__getitem__`), in any thread."""

    def __getitem__(self, index: int) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has to define `__getitem__(index)`, which makes a batch")

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__} has to define `__len__()`, the number of batches")

    def on_epoch_end(self) -> None:
        """Called when all batches have been handed out."""

    def __iter__(self) -> Iterator[Any]:
        for index in range(len(self)):
            yield self[index]


# --- in worker processes -----------------------------------------------------------------------------------------------

_shared: Any = None  # the sequence or generator of this process


def _share(source: Any, random_seed: int | None) -> None:
    """Begin a worker process. With a seed each has NumPy random numbers of its own.

    It ends when it is told to, whatever the process that it was forked from does then.
    """
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    global _shared
    _shared = source
    if random_seed is not None:
        identity = multiprocessing.current_process()._identity  # type: ignore[attr-defined]
        np.random.seed(random_seed + (identity[-1] if identity else 0))


def _item_of_shared(index: int) -> Any:
    return _shared[index]


def _next_of_shared() -> Any:
    return _next_of(_shared)


# Seconds that a busy machine may take to end what was killed.
_KILLED_WITHIN = 10.0

_process_pools: weakref.WeakSet[ProcessPoolExecutor] = weakref.WeakSet()  # of this process


def terminate_keras_multiprocessing_pools(grace_period: float = 0.1, use_sigkill: bool = False) -> list[str]:
    """End the worker processes of all enqueuers; whoever waits for their batches gets an error.

    grace_period: seconds that each process has before it is killed. use_sigkill: kill them at once. Returns what went wrong.
    """
    errors = []
    for pool in list(_process_pools):
        _process_pools.discard(pool)
        processes = list((pool._processes or {}).values())  # an executor has no other way to end tasks that run
        pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            has_ended = False
            if not use_sigkill:
                process.terminate()
                has_ended = _ends_within(grace_period, process)
            if not has_ended:
                process.kill()
                has_ended = _ends_within(_KILLED_WITHIN, process)
            if not has_ended:
                errors.append(f"worker process {process.pid} of a Keras pool is still alive")
    return errors


def _ends_within(seconds: float, process: Any) -> bool:
    # Not `is_alive`, which is wrong for a moment while the executor's own thread learns of the end.
    return bool(connection.wait([process.sentinel], seconds))


class _End:
    """What a generator gives that has no more."""


def _next_of(generator: Any) -> Any:
    # StopIteration means something else to those who wait for a result.
    return next(generator, _End)


# --- enqueuers ---------------------------------------------------------------------------------------------------------


class SequenceEnqueuer:
    """The common base: `start(workers)`, then `get()` is an iterator over results, then `stop()`."""

    def __init__(self, sequence: Any, use_multiprocessing: bool = False):
        self.sequence = sequence
        self.use_multiprocessing = use_multiprocessing
        self.workers = 0
        self._thread: threading.Thread | None = None
        self._stopped = threading.Event()
        self._exhausted = False
        self._room = 0
        self._free = threading.Semaphore(0)
        self._results: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def is_running(self) -> bool:
        """Whether it has been started, and not stopped."""
        return self._thread is not None and not self._stopped.is_set()

    def start(self, workers: int = 1, max_queue_size: int = 10) -> None:
        """Begin to make batches with so many threads (or processes)."""
        self.workers, self._room = workers, max_queue_size
        self._stopped = threading.Event()
        self._exhausted = False
        self._free = threading.Semaphore(max_queue_size)
        self._results = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="keras enqueuer", daemon=True)
        self._thread.start()

    def stop(self, timeout: float | None = None) -> None:
        """Make no more; wait, at most `timeout` seconds, for what is being made."""
        self._stopped.set()
        self._free.release()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout)

    def get(self) -> Iterator[Any]:
        """The results, in order. What a worker raises is raised here, and stops the rest; None is left out."""
        while (waiting := self._results.get()) is not None:
            try:
                result = waiting.result()
            except CancelledError as error:
                if not self.is_running():
                    return
                self.stop()
                raise RuntimeError("The worker processes were told to end before all batches were made") from error
            except Exception as error:
                self.stop()
                raise self._explained(error) from error
            if result is _End:
                self._exhausted = True  # others may be under way, and are still handed out
            self._free.release()
            if result is not None and result is not _End:
                yield result

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.stop()

    def _explained(self, error: Exception) -> Exception:
        return error

    def _pool(self, random_seed: int | None = None) -> Executor:
        if not self.use_multiprocessing:
            return ThreadPoolExecutor(self.workers, "keras worker")
        pool = ProcessPoolExecutor(self.workers, initializer=_share, initargs=(self.sequence, random_seed))
        _process_pools.add(pool)
        return pool

    def _run(self) -> None:
        """Hand out tasks until the end; None among the results says that it has come."""
        try:
            self._hand_out()
        except Exception as error:  # raised where the results are taken
            failed: Future[Any] = Future()
            failed.set_exception(error)
            self._results.put(failed)
        finally:
            self._results.put(None)

    def _hand_out(self) -> None:
        """Submit tasks until there are no more, or nobody wants their results."""
        raise NotImplementedError(f"{type(self).__name__} does not say what its workers do")

    def _submit(self, pool: Executor, function: Callable[..., Any], *arguments: Any) -> Future[Any] | None:
        """Hand out a task as soon as there is room for its result; None once nobody wants it, or there is nothing more."""
        self._free.acquire()
        if self._stopped.is_set() or self._exhausted:
            return None
        task = pool.submit(function, *arguments)
        self._results.put(task)
        return task

    def _wait_for_all(self) -> None:
        """Until all results have been taken, or nobody wants them."""
        for _ in range(self._room):
            self._free.acquire()
            if self._stopped.is_set():
                return
        for _ in range(self._room):
            self._free.release()


class OrderedEnqueuer(SequenceEnqueuer):
    """The batches of a Sequence, again and again, `on_epoch_end` called between; with `shuffle` in a new order each time."""

    def __init__(self, sequence: Any, use_multiprocessing: bool = False, shuffle: bool = False):
        super().__init__(sequence, use_multiprocessing)
        self.shuffle = shuffle

    def _hand_out(self) -> None:
        order = list(range(len(self.sequence)))
        while not self._stopped.is_set():
            if self.shuffle:
                random.shuffle(order)
            # Processes have copies of the sequence: after an epoch's end they need new ones.
            with self._pool() as pool:
                of_shared = self.use_multiprocessing
                item = _item_of_shared if of_shared else self.sequence.__getitem__
                if not all(self._submit(pool, item, index) for index in order):
                    pool.shutdown(cancel_futures=True)
                    return
                self._wait_for_all()
            if not self._stopped.is_set():
                self.sequence.on_epoch_end()
            order = list(range(len(self.sequence)))


class GeneratorEnqueuer(SequenceEnqueuer):
    """What a generator gives, as it comes. Several threads need one that takes calls from several threads.

    Processes each have a copy of the generator, with NumPy's random numbers beginning at `random_seed` plus their number.
    """

    def __init__(self, sequence: Any, use_multiprocessing: bool = False, random_seed: int | None = None):
        super().__init__(sequence, use_multiprocessing)
        self.random_seed = random_seed

    def _hand_out(self) -> None:
        with self._pool(self.random_seed) as pool:
            task = (_next_of_shared,) if self.use_multiprocessing else (_next_of, self.sequence)
            while self._submit(pool, *task) is not None:
                pass
            pool.shutdown(cancel_futures=self._stopped.is_set())

    def _explained(self, error: Exception) -> Exception:
        if "generator already executing" not in str(error):
            return error
        return RuntimeError(
            "Your generator is NOT thread-safe. Keras requires a thread-safe generator when `use_multiprocessing=False, "
            "workers > 1`. "
        )
