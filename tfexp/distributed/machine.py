"""What master and worker have in common as state machines: calls that are answered, and asks whose answers they wait for."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from tfexp.core.errors import OpError
from tfexp.distributed.events import Answered, Asked, Cancelled, Command, Elapsed, Event, Refuse

OnAnswer = Callable[[Any], list[Command]]
OnError = Callable[[OpError], list[Command]]


class Machine:
    """Events in, commands out. Subclasses fill `_handlers`, by the requests' types."""

    def __init__(self) -> None:
        self._asks = itertools.count()
        self._answers: dict[int, OnAnswer] = {}
        self._failures: dict[int, OnError] = {}
        self._cancels: dict[int, OnError] = {}
        self._handlers: dict[type, Callable[[int, Any], list[Command]]] = {}

    def handles(self, request: object) -> bool:
        return type(request) in self._handlers

    def handle(self, event: Event) -> list[Command]:
        """What is to be done about an event. What comes twice, or for what is over, is ignored."""
        if isinstance(event, Asked):
            try:
                return self._handlers[type(event.request)](event.call, event.request)
            except OpError as error:
                return [Refuse(event.call, error)]
        if isinstance(event, Cancelled):
            cancel = self._cancels.pop(event.call, None)
            return [] if cancel is None else cancel(event.error)
        if isinstance(event, Elapsed):
            return self._elapsed()
        answer, failure = self._answers.pop(event.ask, None), self._failures.pop(event.ask, None)
        if answer is None or failure is None:
            return []
        return answer(event.reply) if isinstance(event, Answered) else failure(event.error)

    def _elapsed(self) -> list[Command]:
        return []

    def _expect(self, answer: OnAnswer, failure: OnError) -> int:
        """The number of a new ask."""
        number = next(self._asks)
        self._answers[number], self._failures[number] = answer, failure
        return number

    def _forget(self, ask: int) -> None:
        self._answers.pop(ask, None)
        self._failures.pop(ask, None)
