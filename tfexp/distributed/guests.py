"""Sessions that bring a cluster of their own (`ConfigProto.cluster_def`) to servers that know only themselves, or another.

On each of these servers such a session has a guest: a whole `Task` under the name that the session's cluster has for the
server, with variables that nobody else sees unless the session wants
to share the server's. It ends with the session. Here requests find their guest, by the session or by
the device that they are for; all others are the server's own task's.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import NamedTuple

from tensorboard.compat.proto import config_pb2

from tfexp.core.errors import InvalidArgumentError, OpError
from tfexp.distributed import messages as m
from tfexp.distributed.cluster import ClusterSpec, same_address, task_names
from tfexp.distributed.session_devices import incarnation_within, shares_state
from tfexp.distributed.task import Task
from tfexp.distributed.transport import Transport

# What is said of no session: each guest hears it, too.
_SAID_TO_ALL = (m.CleanupGraph, m.CleanupAll, m.Reset)
_ENDS = (m.CloseSession, m.DeleteWorkerSession)


class _Call(NamedTuple):
    """A call of the server's that a guest answers: under which number there."""

    guest: Task
    number: int


class Guests:
    """A `Host`: the task of a server, and its guests. `connect` opens a transport to an address."""

    def __init__(
        self,
        task: Task,
        tasks: dict[str, str],
        connect: Callable[[str], Transport],
        config: config_pb2.ConfigProto,
        session_gc_seconds: float,
    ):
        self._task = task
        self._tasks = tasks
        self._open = connect
        self._config = config
        self._session_gc_seconds = session_gc_seconds
        self._lock = threading.Lock()
        self._guests: dict[str, Task] = {}  # by session
        self._masters: set[str] = set()  # sessions that are made here
        self._calls: dict[int, _Call] = {}
        self._transports: dict[str, Transport] = {}

    # --- Host --------------------------------------------------------------------------------------------------------

    def call(self, request: m.Request, timeout: float | None = None) -> m.Reply:
        return self.run(self.begin(), request, timeout)

    def begin(self) -> int:
        return self._task.begin()

    def run(self, number: int, request: m.Request, timeout: float | None = None) -> m.Reply:
        """The answer, of the guest whose request it is, or of the server's own task."""
        if isinstance(request, m.CreateSession) and request.config.cluster_def.job:
            return self._create_session(number, request, timeout)
        if isinstance(request, m.CreateWorkerSession) and request.given:
            self._create_worker(request)
        elif isinstance(request, _SAID_TO_ALL):
            self._tell_all(request)
        guest = self._guest(request)
        if guest is None:
            return self._task.run(number, request, timeout)
        try:
            return self._lend(number, guest, request, timeout)
        finally:
            if isinstance(request, _ENDS):
                self._end(request.session)

    def cancel(self, number: int, error: OpError) -> None:
        self._task.cancel(number, error)
        call = self._calls.get(number)
        if call is not None:
            call.guest.cancel(call.number, error)

    def close(self) -> None:
        """End them all; the server's own task stays."""
        for session in list(self._guests):
            self._end(session)
        with self._lock:
            transports, self._transports = list(self._transports.values()), {}
        for transport in transports:
            transport.close()

    # --- guests ------------------------------------------------------------------------------------------------------

    def _guest(self, request: m.Request) -> Task | None:
        if not self._guests:
            return None
        if isinstance(request, m.RecvTensor):
            device, incarnation, *_ = [*request.key.split(";"), ""]
            known = ((guest.devices[0], guest) for guest in list(self._guests.values()))
            return next((guest for d, guest in known if (d.name, f"{d.incarnation:016x}") == (device, incarnation)), None)
        return self._guests.get(getattr(request, "session", ""))

    def _lend(self, number: int, guest: Task, request: m.Request, timeout: float | None) -> m.Reply:
        """The guest's answer to a call of the server's, whose cancelling cancels it there."""
        inner = self._calls[number] = _Call(guest, guest.begin())
        try:
            error = self._task.why_cancelled(number)
            if error is not None:
                guest.cancel(inner.number, error)
            return guest.run(inner.number, request, timeout)
        finally:
            self._calls.pop(number, None)
            self._task.give_up(number)

    def _create_session(self, number: int, request: m.CreateSession, timeout: float | None) -> m.Reply:
        """Of a guest that is its master. InvalidArgumentError for a cluster without this server, or with its own name."""
        given = request.config.cluster_def
        tasks = task_names(ClusterSpec(given))
        address = self._tasks[self._task.own]
        at = (address, request.target.partition("://")[2])
        own = next((task for task, known in tasks.items() if any(same_address(known, here) for here in at)), None)
        if own is None:
            text = f"The master (current machine) is not included in the provided cluster_def. {given}"
            raise InvalidArgumentError(None, None, text)
        if own == self._task.own:
            job, _, index = own.removeprefix("/job:").partition("/replica:0/task:")
            raise InvalidArgumentError(
                None,
                None,
                "The ClusterSpec names the job and task index to be the same names that were provided when the server "
                f"booted. This is currently not allowed. Job: {job}, task index: {index}",
            )
        self._end_collected()
        guest = self._new(own, tasks, None, shares_state(request.config))
        try:
            created = self._lend(number, guest, request, timeout)
        except BaseException:
            guest.close("The session could not be made")
            raise
        assert isinstance(created, m.SessionCreated)
        self._guests[created.session] = guest
        self._masters.add(created.session)
        return created

    def _create_worker(self, request: m.CreateWorkerSession) -> None:
        """A guest that takes part in another server's session; nothing where it is there, as at the session's master."""
        tasks = {
            f"/job:{job}/replica:0/task:{index}": address
            for job, addresses in request.cluster.items()
            for index, address in addresses.items()
        }
        own = f"/job:{request.job}/replica:0/task:{request.task}"
        incarnation = incarnation_within(request.session, self._task.devices[0].incarnation)
        if request.session not in self._guests:
            self._guests[request.session] = self._new(own, tasks, incarnation, not request.isolate)

    def _new(self, own: str, tasks: dict[str, str], incarnation: int | None, shares: bool) -> Task:
        shared = self._task.resources if shares else None
        return Task(own, tasks, self._connect, self._config, self._session_gc_seconds, incarnation, shared)

    def _tell_all(self, request: m.Request) -> None:
        for session, guest in list(self._guests.items()):
            with contextlib.suppress(OpError):
                guest.call(request)
            if isinstance(request, m.Reset):
                self._end(session)

    def _end_collected(self) -> None:
        """Those whose clients were gone for so long that their sessions have ended."""
        for session in list(self._masters):
            guest = self._guests.get(session)
            if guest is not None and not guest.masters:
                self._end(session)

    def _end(self, session: str) -> None:
        self._masters.discard(session)
        guest = self._guests.pop(session, None)
        if guest is not None:
            guest.close("The session has ended")

    def _connect(self, address: str) -> Transport:
        """Guests share what they reach others by: it outlives them, as the last that they say is still under way."""
        with self._lock:
            found = self._transports.get(address)
            if found is None:
                found = self._transports[address] = self._open(address)
        return _Shared(found)


class _Shared:
    """A transport that whoever uses it does not close."""

    def __init__(self, transport: Transport):
        self.call, self.start = transport.call, transport.start

    def close(self) -> None:
        """Nothing: others use it."""
