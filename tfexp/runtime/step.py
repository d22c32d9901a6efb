"""One run in progress: its cancellation and deadline, and the context that kernels see."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from tensorboard.compat.proto.attr_value_pb2 import NameAttrList

from tfexp.core.errors import CancelledError, DeadlineExceededError, NotFoundError, OpError
from tfexp.core.kernel import BoundFunction
from tfexp.graph.function import Function
from tfexp.runtime.collectives import Exchange, Group, Place
from tfexp.runtime.resources import AnyResources


class StepState:
    """Whether a step still goes on. Cancelled once, for one reason, by its deadline or by closing the session.

    `deadline` is in `time.monotonic`'s seconds. Whoever works looks at it (`check`); whoever sleeps has to wake up by then.
    """

    def __init__(self, timeout_in_ms: int = 0):
        self._lock = threading.Lock()
        self._callbacks: dict[int, Callable[[], None]] = {}
        self._next = 0
        self.reason: OpError | None = None
        self._timeout_in_ms = timeout_in_ms
        self.deadline = time.monotonic() + timeout_in_ms / 1e3 if timeout_in_ms > 0 else None
        self._timer: threading.Timer | None = None
        # What its collective ops go by, if it has any, and the groups that they have found.
        self.exchange: Exchange | None = None
        self.groups: dict[Place, Group] = {}
        # Called when the step's thread goes to sleep, for whoever lent it.
        self.on_sleep: Callable[[], None] | None = None

    def expire(self) -> None:
        """Cancel the step because its time is over."""
        text = f"Timed out waiting for notification: the step took over {self._timeout_in_ms} ms"
        self.cancel(DeadlineExceededError(None, None, text))

    def cancel(self, reason: OpError) -> None:
        with self._lock:
            if self.reason is not None:
                return
            self.reason = reason
            callbacks = list(self._callbacks.values())
            self._callbacks.clear()
        for callback in callbacks:
            callback()

    def on_cancel(self, callback: Callable[[], None], keeps_time: bool = False) -> Callable[[], None]:
        """Call `callback` when the step is cancelled. `keeps_time`: the caller looks after the deadline itself."""
        with self._lock:
            if self.reason is None:
                if self.deadline is not None and self._timer is None and not keeps_time:
                    self._timer = threading.Timer(max(0.0, self.deadline - time.monotonic()), self.expire)
                    self._timer.daemon = True
                    self._timer.start()
                key, self._next = self._next, self._next + 1
                self._callbacks[key] = callback
                return lambda: self._forget(key)
        callback()
        return _nothing

    def _forget(self, key: int) -> None:
        with self._lock:
            self._callbacks.pop(key, None)

    def cancelled(self) -> bool:
        """Whether the step is over before its end."""
        if self.reason is None and self.deadline is not None and time.monotonic() >= self.deadline:
            self.expire()
        return self.reason is not None

    def check(self) -> None:
        """Raise why the step was cancelled, if it was."""
        if self.cancelled():
            assert self.reason is not None
            raise self.reason

    def finish(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


def _nothing() -> None:
    return None


class ActiveSteps:
    """The steps that a session has under way, so that closing it can cancel them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._steps: set[StepState] = set()
        self._closed = False

    def begin(self, timeout_in_ms: int) -> StepState:
        step = StepState(timeout_in_ms)
        with self._lock:
            if self._closed:
                raise CancelledError(None, None, "Session has been closed.")
            self._steps.add(step)
        return step

    def end(self, step: StepState) -> None:
        step.finish()
        with self._lock:
            self._steps.discard(step)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            steps = list(self._steps)
        for step in steps:
            step.cancel(CancelledError(None, None, "Session was closed while the step was running."))


class _Current(threading.local):
    step: StepState | None = None


current = _Current()


FunctionBinder = Callable[[Function, AnyResources, str], BoundFunction]
_bind_function: FunctionBinder | None = None


def install_function_binder(binder: FunctionBinder) -> None:
    """Say how a function becomes a callable (`runtime.functions`), which takes planning it."""
    global _bind_function
    _bind_function = binder


class NodeContext:
    """What the kernel of one node in one session may ask for (`core.kernel.KernelContext`).

    Bound once and used in every run; which step is running is a matter of the thread.
    """

    __slots__ = ("_bound", "_library", "_resources", "_state", "device", "node_name")

    def __init__(self, node_name: str, device: str, resources: AnyResources, library: Mapping[str, Function]):
        """`library`: the functions of the node's graph."""
        self.node_name = node_name
        self.device = device
        self._resources = resources
        self._library = library
        self._state: dict[str, Any] | None = None
        self._bound: dict[Function, BoundFunction] = {}

    @property
    def node_state(self) -> dict[str, Any]:
        if self._state is None:
            self._state = self._resources.node_state(self.node_name)
        return self._state

    @property
    def default_container(self) -> str:
        return self._resources.default_container

    def resource(self, container: str, name: str, create: Callable[[], Any], kind: str = "") -> Any:
        return self._resources.get(container, name, create, kind)

    def function(self, named: NameAttrList) -> BoundFunction:
        function = self._library.get(named.name)
        if function is None:
            raise NotFoundError(None, None, f"Function {named.name} is not defined in the graph's library.")
        assert _bind_function is not None
        bound = self._bound.get(function)
        if bound is None:
            bound = _bind_function(function, self._resources, self.device)
            if not function.remembers:  # else whoever asks next wants one that begins anew
                self._bound[function] = bound
        return bound

    def group(self, key: int, size: int) -> Any:
        exchange, step = self._resources.exchange, current.step
        if step is None:
            return exchange.group(self.device, key, size, {})
        step.exchange = exchange
        return exchange.group(self.device, key, size, step.groups)

    def cancelled(self) -> bool:
        step = current.step
        return step is not None and step.cancelled()

    def on_cancel(self, callback: Callable[[], None]) -> Callable[[], None]:
        step = current.step
        return _nothing if step is None else step.on_cancel(callback)
