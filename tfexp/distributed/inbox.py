"""Where a thread that waits for the end of a call gets work, answers, and what comes in at the lanes it asked through.

A reply that the waiting thread itself reads changes threads no more: handing it over from a reader thread would cost as
much as the way between the processes. While it works on something it got, which may itself wait for what a reply would
start elsewhere, other threads read in its stead.
"""

from __future__ import annotations

import contextlib
import os
import select
import threading
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import Any, Protocol


class Source(Protocol):
    """Something with a file descriptor whose input the owner of an inbox deals with."""

    def fileno(self) -> int: ...

    def ready(self) -> None:
        """There is input, or the end of it, or somebody has the time to wait for it. Called once."""
        ...


class _Bell:
    """Wakes a thread out of a poll. Rung without need, it costs a turn and no more."""

    def __init__(self) -> None:
        self.fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)

    def ring(self) -> None:
        os.eventfd_write(self.fd, 1)

    def __del__(self) -> None:
        # Whoever may still ring holds a reference.
        os.close(self.fd)


class _Bells(threading.local):
    """One for each thread that ever polled."""

    bell: _Bell | None = None


_bells = _Bells()
_LOOK = object()  # an item that says: look at what is watched


class Inbox:
    """`get` is for one thread, the owner; `put` and `watch` are for all."""

    def __init__(self) -> None:
        self._items: SimpleQueue[Any] = SimpleQueue()
        self._watched: list[Source] = []  # only its owner takes any away
        self._bell: _Bell | None = None  # while the owner polls
        self._owner = -1
        self._lock = threading.Lock()
        self._work = False  # there is work among the items
        self._working = False  # the owner has got work to do, and has not come back
        self._closed = False

    def put(self, item: Any) -> None:
        """An item for the owner. Work is done by another thread if the owner has some already: that may wait for this."""
        if callable(item):
            with self._lock:
                taken = self._work or (self._working and threading.get_ident() != self._owner)
                self._work = self._work or not taken
            if taken:
                _start(item)
                return
        self._items.put(item)
        bell = self._bell
        if bell is not None:
            bell.ring()
        if self._closed:
            self._leave_work()

    def watch(self, source: Source) -> None:
        """Have the owner call `source.ready()` when there is input; another thread if it is gone or works."""
        owns = threading.get_ident() == self._owner
        with self._lock:
            elsewhere = self._closed or (self._working and not owns)
            if not elsewhere:
                self._watched.append(source)
        if elsewhere:
            _entrust([source])
        elif not owns:
            self.put(_LOOK)

    def get(self) -> Any:
        """The next item: work, if it can be called. What is watched is dealt with meanwhile."""
        with self._lock:
            self._working, self._owner = False, threading.get_ident()
        while True:
            item = self._items.get() if not self._watched else self._poll()
            if item is _LOOK:
                continue
            if callable(item):
                with self._lock:
                    self._working, self._work = True, False
                    watched, self._watched = self._watched, []
                _entrust(watched)
            return item

    def spread(self) -> None:
        """Somebody sleeps in the middle of the owner's work: threads of their own do what the owner was to do next."""
        for item in self._left_items():
            if callable(item):
                with self._lock:
                    self._work = False
                _start(item)
            else:
                self.put(item)  # the answer; the owner may have looked in the meantime, and sleep as there was none

    def _left_items(self) -> list[Any]:
        items: list[Any] = []
        with contextlib.suppress(Empty):
            while True:
                items.append(self._items.get_nowait())
        return items

    def _leave_work(self) -> None:
        """Have threads of their own do what the owner did not get to: others may wait for it."""
        for item in self._left_items():
            if callable(item):
                _start(item)

    def _poll(self) -> Any:
        """The next item if there is one; otherwise waits for one or for input, which it deals with."""
        with contextlib.suppress(Empty):
            return self._items.get_nowait()
        bell = _bells.bell
        if bell is None:
            bell = _bells.bell = _Bell()
        poll = select.poll()
        sources = {source.fileno(): source for source in self._watched}
        for fd in sources:
            poll.register(fd, select.POLLIN)
        poll.register(bell.fd, select.POLLIN)
        self._bell = bell
        try:
            # An item that came before the bell hung has not rung it.
            ready = poll.poll() if self._items.empty() else []
        finally:
            self._bell = None
        for fd, _ in ready:
            if fd == bell.fd:
                os.eventfd_read(fd)
                continue
            source = sources[fd]
            self._watched.remove(source)
            source.ready()
        return _LOOK

    def close(self) -> None:
        """The owner goes: what is left, and what comes, is for other threads. Somebody else's step may hang on it."""
        with self._lock:
            self._closed = True
            watched, self._watched = self._watched, []
        _entrust(watched)
        self._leave_work()


def _entrust(sources: Sequence[Source]) -> None:
    """Have threads of their own wait for these."""
    for source in sources:
        threading.Thread(target=source.ready, name="tfexp-lane-reader", daemon=True).start()


def _start(work: Callable[[], None]) -> None:
    threading.Thread(target=work, name="tfexp-task", daemon=True).start()
