"""Results that are not there yet, and the threads that wait for them.

A kernel registered with `waits=True` never blocks: where it would have to, it returns a `Waiting` in place of its result.
Whoever runs the step does what else there is to do, and blocks only when nothing is (`plan.order`, `runtime.flow`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from typing import Any

from tfexp.core.errors import OpError


class Waiting:
    """A result to come. It settles once, whatever happens; then `result` gives it.

    `what` says, for people, what has to happen first: "an element of queue 'q'".
    """

    __slots__ = ()

    @property
    def what(self) -> str:
        raise NotImplementedError

    def on_settled(self, callback: Callable[[], None]) -> None:
        """Call `callback` once when it settles (at once if it has), from any thread, in place of one not called yet."""
        raise NotImplementedError

    def give_up(self, reason: OpError) -> None:
        """Nobody wants the result any more: settle soon, with this error unless the result was quicker."""
        raise NotImplementedError

    def result(self) -> Any:
        """To be called once, when settled: the result, or the next Waiting. Raises what went wrong."""
        raise NotImplementedError


# What waits for nothing.
NOTHING = Waiting()


class Promise(Waiting):
    """A Waiting that whoever made it settles with `keep` or `fail`; the first call counts.

    `withdraw(promise, reason)` is asked to give up. `then` makes the result of what was kept, in the thread that takes it.
    """

    __slots__ = ("_callback", "_error", "_lock", "_settled", "_then", "_value", "_what", "_withdraw")

    def __init__(
        self,
        what: Callable[[], str],
        withdraw: Callable[[Promise, OpError], None],
        then: Callable[[Any], Any] | None = None,
    ):
        self._what = what
        self._withdraw = withdraw
        self._then = then
        self._lock = threading.Lock()
        self._settled = False
        self._callback: Callable[[], None] | None = None
        self._value: Any = None
        self._error: BaseException | None = None

    @property
    def what(self) -> str:
        return self._what()

    def keep(self, value: Any) -> None:
        self._settle(value, None)

    def fail(self, error: BaseException) -> None:
        self._settle(None, error)

    def _settle(self, value: Any, error: BaseException | None) -> None:
        with self._lock:
            if self._settled:
                return
            self._settled, self._value, self._error = True, value, error
            callback, self._callback = self._callback, None
        if callback is not None:
            callback()

    def now(self) -> Any:
        """The result if it is settled, or else the promise."""
        return self.result() if self._settled else self

    def on_settled(self, callback: Callable[[], None]) -> None:
        with self._lock:
            if not self._settled:
                self._callback = callback
                return
        callback()

    def give_up(self, reason: OpError) -> None:
        self._withdraw(self, reason)

    def result(self) -> Any:
        if self._error is not None:
            raise self._error
        return self._value if self._then is None else self._then(self._value)


def in_turn(work: Generator[Waiting, Any, Any]) -> Any:
    """What the generator returns, or a Waiting for it: it yields what it has to wait for and is sent the results."""
    return _advance(lambda: next(work), work)


def _advance(resume: Callable[[], Waiting], work: Generator[Waiting, Any, Any]) -> Any:
    try:
        return _Interrupted(resume(), work)
    except StopIteration as end:
        return end.value


class _Interrupted(Waiting):
    """Work in a generator that waits for something; whoever takes its result goes on with it."""

    __slots__ = ("_for", "_work")

    def __init__(self, waiting: Waiting, work: Generator[Waiting, Any, Any]):
        self._for = waiting
        self._work = work

    @property
    def what(self) -> str:
        return self._for.what

    def on_settled(self, callback: Callable[[], None]) -> None:
        self._for.on_settled(callback)

    def give_up(self, reason: OpError) -> None:
        self._for.give_up(reason)

    def result(self) -> Any:
        try:
            value = self._for.result()
        except OpError as error:
            failure = error
            return _advance(lambda: self._work.throw(failure), self._work)
        if isinstance(value, Waiting):
            return _Interrupted(value, self._work)
        return _advance(lambda: self._work.send(value), self._work)
