"""Mutexes: MutexLock holds one for the part of a step up to ConsumeMutexLock; others wait, without keeping their thread."""

from __future__ import annotations

import threading
from collections import deque
from typing import Any

from tfexp.core.errors import OpError
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.core.waiting import Promise


class Mutex:
    """A lock that is handed from holder to holder in the order in which they asked."""

    def __init__(self, name: str):
        self.name = name
        self._lock = threading.RLock()  # a `Held` may be let go of by the garbage collection, anywhere
        self._is_held = False
        self._waiting: deque[Promise] = deque()

    def acquire(self) -> Held | Promise:
        with self._lock:
            if not self._is_held:
                self._is_held = True
                return Held(self)
            promise = Promise(lambda: f"the mutex {self.name!r}", self._withdraw)
            self._waiting.append(promise)
            return promise

    def _withdraw(self, promise: Promise, reason: OpError) -> None:
        promise.fail(reason)

    def release(self) -> None:
        """Whoever has waited longest is next. One that gave up lets go of it at once, as nobody keeps what it is given."""
        with self._lock:
            following = self._waiting.popleft() if self._waiting else None
            self._is_held = following is not None
        if following is not None:
            following.keep(Held(self))


class Held:
    """A mutex while it is held: until `release`, or until nobody has this object any more (a step that failed)."""

    __slots__ = ("_mutex",)

    def __init__(self, mutex: Mutex):
        self._mutex: Mutex | None = mutex

    def release(self) -> None:
        mutex, self._mutex = self._mutex, None
        if mutex is not None:
            mutex.release()

    def __del__(self) -> None:
        self.release()


mutex_op = define_op("MutexV2() -> (resource: resource) {container: string = ''; shared_name: string = ''} #stateful")


@mutex_op.shape
def _() -> TensorShape:
    return TensorShape([])


@mutex_op.kernel("CPU", handle=True)
def _(ctx: Any, *, container: str, shared_name: str) -> Mutex:
    name = shared_name or ctx.node_name
    mutex: Mutex = ctx.resource(container, name, lambda: Mutex(name), "mutex")
    return mutex


mutex_lock_op = define_op("MutexLock(mutex: resource) -> (mutex_lock: variant) #stateful")


@mutex_lock_op.shape
def _(mutex: InputShape) -> TensorShape:
    return TensorShape([])


@mutex_lock_op.kernel("CPU", waits=True)
def _(ctx: Any, mutex: Mutex) -> Any:
    return mutex.acquire()


consume_mutex_lock_op = define_op("ConsumeMutexLock(mutex_lock: variant) -> () #stateful")


@consume_mutex_lock_op.shape
def _(mutex_lock: InputShape) -> None:
    return None


@consume_mutex_lock_op.kernel("CPU")
def _(ctx: Any, mutex_lock: Held) -> None:
    mutex_lock.release()
