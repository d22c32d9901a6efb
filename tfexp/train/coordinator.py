"""`tf.train.Coordinator` and `LooperThread`: threads that stop together. Source: TF 1.15."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any

from tfexp.core import log
from tfexp.core.errors import OutOfRangeError

ExceptionInfo = tuple[type[BaseException], BaseException, TracebackType | None]

# How long `join` waits for one thread before it looks again whether somebody asked to stop.
_LOOK_AGAIN = 0.02


class Coordinator:
    """Tells threads when to stop, and gathers what went wrong in them.

    Any thread may ask all to stop, with an exception, which `join` raises in the thread that waits for them, or without.
    Exceptions of `clean_stop_exception_types` (by default OutOfRangeError: the input has ended) are no failures.
    """

    def __init__(self, clean_stop_exception_types: tuple[type[BaseException], ...] | None = None):
        self._clean = (OutOfRangeError,) if clean_stop_exception_types is None else tuple(clean_stop_exception_types)
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._failure: BaseException | None = None
        self._joined = False
        self._registered_threads: set[threading.Thread] = set()

    @property
    def joined(self) -> bool:
        """Whether `join` has come to its end."""
        return self._joined

    def request_stop(self, ex: BaseException | ExceptionInfo | None = None) -> None:
        """Ask all threads to stop. `ex` (an exception, or what sys.exc_info gives) is what `join` will raise.

        The first exception counts. After `join` there is nobody left to raise it: then it is raised here.
        """
        error = _exception_of(ex)
        if error is not None and isinstance(error, self._clean):
            error = None
        with self._lock:
            if self._joined and error is not None:
                raise error
            if not self._stop.is_set():
                if error is not None and self._failure is None:
                    log.info("Error reported to Coordinator: %s, %s", type(error), error)
                    self._failure = error
                self._stop.set()

    def clear_stop(self) -> None:
        """Begin anew: `should_stop` says no again."""
        with self._lock:
            self._joined = False
            self._failure = None
            self._stop.clear()

    def should_stop(self) -> bool:
        """Whether somebody asked to stop."""
        return self._stop.is_set()

    @contextlib.contextmanager
    def stop_on_exception(self) -> Iterator[None]:
        """A block whose exceptions are requests to stop, and go no further."""
        try:
            yield
        except Exception as error:
            self.request_stop(error)

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """Wait until somebody asks to stop, for at most `timeout` seconds; whether somebody did."""
        return self._stop.wait(timeout)

    def register_thread(self, thread: threading.Thread) -> None:
        """Have `join` wait for the thread."""
        with self._lock:
            self._registered_threads.add(thread)

    def join(
        self,
        threads: Iterable[threading.Thread] | None = None,
        stop_grace_period_secs: float = 120,
        ignore_live_threads: bool = False,
    ) -> None:
        """Wait for these threads and the registered ones to end; once a stop was requested, for so many seconds more.

        Raises the exception that was reported; RuntimeError when threads go on all the same, unless they may.
        """
        with self._lock:
            waited_for = list(self._registered_threads.union(threads or ()))
        for thread in waited_for:
            while thread.is_alive() and not self.should_stop():
                thread.join(_LOOK_AGAIN)
        deadline = time.monotonic() + stop_grace_period_secs
        for thread in waited_for:
            if thread.is_alive():  # one that was never started has nothing to end
                thread.join(max(0.0, deadline - time.monotonic()))
        stragglers = [thread.name for thread in waited_for if thread.is_alive()]
        with self._lock:
            self._joined = True
            self._registered_threads = set()
            failure = self._failure
        if failure is not None:
            if stragglers:
                log.info("Couldn't stop all threads: %s", " ".join(stragglers))
            raise failure
        if stragglers:
            text = f"Coordinator stopped with threads still running: {' '.join(stragglers)}"
            if not ignore_live_threads:
                raise RuntimeError(text)
            log.info("%s", text)

    def raise_requested_exception(self) -> None:
        """Raise the exception that a thread reported, if one did."""
        with self._lock:
            if self._failure is not None:
                raise self._failure


def _exception_of(ex: BaseException | ExceptionInfo | None) -> BaseException | None:
    """The exception itself, with its traceback; ValueError for something that is none."""
    if ex is None or isinstance(ex, BaseException):
        return ex
    if isinstance(ex, tuple) and len(ex) == 3 and isinstance(ex[1], BaseException):
        return ex[1].with_traceback(ex[2])
    raise ValueError(f"ex must be an exception or a tuple of sys.exc_info(), but got {ex!r}")


class LooperThread(threading.Thread):
    """A thread that calls something again and again (every `timer_interval_secs`, or without a pause) until told to stop.

    An exception in it stops all threads of the coordinator. Derived classes may override `start_loop`, `run_loop` and
    `stop_loop` instead of giving a target.
    """

    def __init__(
        self,
        coord: Coordinator,
        timer_interval_secs: float | None,
        target: Callable[..., Any] | None = None,
        args: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
    ):
        if not isinstance(coord, Coordinator):
            raise ValueError(f"'coord' argument must be a Coordinator: {coord}")
        super().__init__()
        self.daemon = True
        self._coord = coord
        self._timer_interval_secs = timer_interval_secs
        self._target_function = target
        if target is None and (args is not None or kwargs is not None):
            raise ValueError("'args' and 'kwargs' argument require that you also pass 'target'")
        self._arguments = tuple(args or ())
        self._keywords = dict(kwargs or {})
        coord.register_thread(self)

    @staticmethod
    def loop(
        coord: Coordinator,
        timer_interval_secs: float | None,
        target: Callable[..., Any],
        args: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
    ) -> LooperThread:
        """A thread that calls `target(*args, **kwargs)`, started."""
        looper = LooperThread(coord, timer_interval_secs, target, args, kwargs)
        looper.start()
        return looper

    def run(self) -> None:
        with self._coord.stop_on_exception():
            self.start_loop()
            if self._timer_interval_secs is None:
                while not self._coord.should_stop():
                    self.run_loop()
            else:
                following = time.monotonic()
                while not self._coord.wait_for_stop(max(0.0, following - time.monotonic())):
                    following += self._timer_interval_secs
                    self.run_loop()
            self.stop_loop()

    def start_loop(self) -> None:
        """Called once, before all else."""

    def run_loop(self) -> None:
        """Called again and again."""
        if self._target_function is not None:
            self._target_function(*self._arguments, **self._keywords)

    def stop_loop(self) -> None:
        """Called once, at the end."""
