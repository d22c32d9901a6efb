"""What the collective ops of a session go by on a task of a cluster: their worker, and through it the other tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tfexp.core.errors import OpError
from tfexp.distributed import messages as m
from tfexp.distributed.transport import OnDone
from tfexp.runtime.collectives import Done, Exchange, Member


class TaskExchange(Exchange):
    """Of one session. `start` asks the own worker; `leader` is the task where the session's groups form."""

    def __init__(
        self, start: Callable[[m.Request, OnDone], Callable[[OpError], None]], devices: Iterable[m.Device], leader: str
    ):
        super().__init__()
        self._start = start
        self._members = {device.name: Member(device.name, device.incarnation) for device in devices}
        self._leader = leader

    def _join(self, device: str, key: int, size: int, done: Done) -> None:
        self._start(m.JoinGroup(self._leader, m.CompleteGroup(key, size, self._members[device])), done)

    def _post(self, number: int, key: str, value: m.Value) -> None:
        self._start(m.Post(number, key, value), _ignore)

    def _fetch(self, number: int, key: str, done: Done) -> Callable[[OpError], None]:
        def received(reply: m.Reply | None, error: OpError | None) -> None:
            value = reply.value if isinstance(reply, m.TensorReceived) else None
            done(None if value is None else m.as_array(value), error)

        return self._start(m.Fetch(number, key), received)

    def _leave(self, key: int, number: int, error: OpError, keeps: bool) -> None:
        self._start(m.LeaveGroup(key, number, error, keeps), _ignore)


def _ignore(reply: m.Reply | None, error: OpError | None) -> None:
    """Nobody waits for it: where it fails, so does what is waited for."""
