"""The in-process transport: what is under way when it is closed ends, and nothing begins after that."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tfexp.core import errors
from tfexp.distributed import messages as m
from tfexp.distributed.transport import InProcess


class Ended:
    """A host that ends its calls when they are cancelled."""

    def __init__(self) -> None:
        self.begins = lambda: None
        self.cancelled: dict[int, threading.Event] = {}

    def begin(self) -> int:
        number = len(self.cancelled)
        self.cancelled[number] = threading.Event()
        self.begins()
        return number

    def run(self, number: int, request: m.Request, timeout: float | None = None) -> m.Reply:
        assert self.cancelled[number].wait(30)
        raise errors.CancelledError(None, None, "cancelled")

    def cancel(self, number: int, error: errors.OpError) -> None:
        self.cancelled[number].set()


@pytest.mark.parametrize("how", ["call", "start"])
def test_a_call_that_begins_while_it_is_closed_ends(how: str) -> None:
    host = Ended()
    transport = InProcess(host)  # type: ignore[arg-type]
    closing = threading.Thread(target=transport.close)

    def begins() -> None:
        closing.start()
        closing.join(0.05)  # it would be done, did it not wait

    host.begins = begins
    answers: list[Any] = []
    answered = threading.Event()
    if how == "call":
        with pytest.raises(errors.CancelledError):
            transport.call(m.GetStatus())
    else:
        transport.start(m.GetStatus(), lambda *answer: answers.append(answer) or answered.set())
        assert answered.wait(30)
        assert isinstance(answers[0][1], errors.CancelledError)
    closing.join(30)
    for begin in (transport.call, lambda request: transport.start(request, lambda *_: None)):
        with pytest.raises(errors.UnavailableError, match="closed"):
            begin(m.GetStatus())
