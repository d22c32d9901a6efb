"""The master of a task's sessions, as a state machine: events in, commands out. No sockets, no clocks, no threads.

A session knows a graph, the devices of its cluster and, for every combination of feeds, fetches and targets that was run,
the stages that it comes to, registered on their tasks. Here is how sessions and callables come and go; how steps run
stands in `master_steps`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from tensorboard.compat.proto import config_pb2

from tfexp.core.device import DeviceName
from tfexp.core.errors import AbortedError, CancelledError, InvalidArgumentError, OpError
from tfexp.distributed import messages as m
from tfexp.distributed.events import Abandon, Command, Refuse, Respond
from tfexp.distributed.machine import OnAnswer
from tfexp.distributed.master_loops import LoopSteps
from tfexp.distributed.master_sessions import Session, Signature
from tfexp.distributed.master_steps import OURS
from tfexp.distributed.session_graph import SessionGraph
from tfexp.plan.assign import Assignment
from tfexp.plan.stages import task_of
from tfexp.runtime.device_list import log_placement
from tfexp.runtime.options import tell_unsupported
from tfexp.runtime.placement import dynamic_placer

# How often time elapses between the last use of a session and its end.
COLLECTED_AFTER = 2


class Master(LoopSteps):
    """The sessions whose master is task `own`. `tasks`: all tasks of the cluster by name, with their addresses.

    `devices` are the own task's. `numbers` yields what nobody can guess: session handles and step ids. `config`: what
    sessions get that do not say otherwise.
    """

    def __init__(
        self,
        own: str,
        devices: Iterable[m.Device],
        tasks: dict[str, str],
        numbers: Callable[[], int],
        config: config_pb2.ConfigProto | None = None,
    ):
        super().__init__(own, numbers)
        self._devices = tuple(devices)
        self._tasks = tasks
        self._config = config or config_pb2.ConfigProto()
        self._handlers = {
            m.CreateSession: self._create_session,
            m.ExtendSession: self._extend_session,
            m.RunStep: self._run_step,
            m.CloseSession: self._close_session,
            m.Reset: self._reset,
            m.ListDevices: self._list_devices,
            m.MakeCallable: self._make_callable,
            m.RunCallable: self._run_callable,
            m.ReleaseCallable: self._release_callable,
        }

    # --- sessions ----------------------------------------------------------------------------------------------------

    def _visible(self, filters: Iterable[str]) -> list[str]:
        """The tasks that a session may use: those that a filter lets through, and the master's own, which is first."""
        wanted = [_parse_filter(text) for text in filters]
        others = [
            task
            for task in self._tasks
            if task != self._own and (not wanted or any(w.matches(DeviceName.parse(task)) for w in wanted))
        ]
        return [self._own, *others]

    def _create_session(self, call: int, request: m.CreateSession) -> list[Command]:
        config = config_pb2.ConfigProto()
        config.CopyFrom(self._config)
        config.MergeFrom(request.config)
        tell_unsupported(config)
        tasks = self._visible(config.device_filters)
        session = Session(f"{self._numbers():016x}", SessionGraph(request.graph_def), config, tuple(tasks))
        session.devices[self._own] = self._devices
        return self._gather(
            call,
            [(task, m.GetStatus()) for task in tasks[1:]],
            lambda statuses: self._devices_known(call, session, statuses),
            wait=True,
        )

    def _gather(
        self,
        call: int,
        requests: list[tuple[str, Any]],
        then: OnAnswer,
        wait: bool = False,
        undo: Callable[[], list[Command]] = list,
    ) -> list[Command]:
        """Ask all of them at once; go on when all have answered, with the answers by task.

        The first error is the call's; then `undo` is done.
        """
        if not requests:
            return then({})
        replies: dict[str, Any] = {}
        asks: dict[int, str] = {}

        def finish() -> None:
            self._cancels.pop(call, None)

        def abandon(error: OpError) -> list[Command]:
            finish()
            for ask in asks:
                self._forget(ask)
            return [*(Abandon(ask, error) for ask in asks), Refuse(call, error), *undo()]

        def answered(task: str, reply: Any) -> list[Command]:
            replies[task] = reply
            if len(replies) < len(requests):
                return []
            finish()
            try:
                return then(replies)
            except OpError as error:
                return [Refuse(call, error)]

        commands: list[Command] = []
        for task, request in requests:
            ask = self._ask(call, task, request, functools.partial(answered, task), abandon, wait)
            asks[ask.ask] = task
            commands.append(ask)
        self._cancels[call] = abandon
        return commands

    def _devices_known(self, call: int, session: Session, statuses: dict[str, m.Status]) -> list[Command]:
        for task, status in statuses.items():
            session.devices[task] = self._devices_of(session, task, status)
        every = [d for task in session.tasks for d in session.devices[task]]
        names = [d.name for d in every]
        session.assignment = Assignment(
            names, session.config.allow_soft_placement, log_placement if session.config.log_device_placement else None
        )
        memory = {d.name: d.memory_limit for d in every if d.description == OURS}  # others say what they say of every CPU
        session.placer = dynamic_placer(session.assignment, session.config, memory)
        session.incarnations = {d.name: d.incarnation for d in every}

        def created(_: dict[str, Any]) -> list[Command]:
            self._sessions[session.handle] = session
            return [Respond(call, m.SessionCreated(session.handle, session.graph.version))]

        requests = [(task, self._creation(session, task)) for task in session.tasks]
        return self._gather(call, requests, created, undo=lambda: self._deletions(session))

    def _devices_of(self, session: Session, task: str, status: m.Status) -> tuple[m.Device, ...]:
        """Those of the devices that a task names which are its own; InvalidArgumentError if none is."""
        mine = tuple(d for d in status.devices if task_of(d.name) == task)
        if not mine:
            found = ", ".join(sorted({task_of(d.name) for d in status.devices})) or "a task without devices"
            raise InvalidArgumentError(
                None, None, f"The server at {self._tasks[task]} was to be {task}, but says that it is {found}"
            )
        return mine

    def _creation(self, session: Session, task: str) -> m.CreateWorkerSession:
        """What has a task take part in the session."""
        name = DeviceName.parse(task)
        return m.CreateWorkerSession(
            session.handle,
            name.job or "",
            name.task or 0,
            self._cluster(),
            self._own,
            self._devices[0].incarnation,
            session.config.isolate_session_state,
            # Who chose the tasks of a session needs them all: the loss of one ends it on the others, too.
            session.incarnations if session.config.device_filters else {},
        )

    def _deletions(self, session: Session) -> list[Command]:
        """Have its tasks forget the session."""
        return [self._tell(task, m.DeleteWorkerSession(session.handle)) for task in session.tasks]

    def _cluster(self) -> dict[str, dict[int, str]]:
        cluster: dict[str, dict[int, str]] = {}
        for task, address in self._tasks.items():
            name = DeviceName.parse(task)
            cluster.setdefault(name.job or "", {})[name.task or 0] = address
        return cluster

    def _extend_session(self, call: int, request: m.ExtendSession) -> list[Command]:
        session = self._session(request.session)
        if request.version != session.graph.version:
            raise AbortedError(
                None,
                None,
                f"Session {session.handle} is at graph version {session.graph.version}, not {request.version}: "
                "somebody else extended it",
            )
        session.graph.extend(request.graph_def)
        return [Respond(call, m.SessionExtended(session.graph.version))]

    def _close_session(self, call: int, request: m.CloseSession) -> list[Command]:
        session = self._session(request.session)
        return [*self._end_session(session, _closed()), Respond(call, m.Done())]

    def _end_session(self, session: Session, error: OpError) -> list[Command]:
        del self._sessions[session.handle]
        commands: list[Command] = []
        for run in list(session.runs.values()):
            commands.extend(self._fail(run, error))
        return commands + self._deletions(session)

    def _elapsed(self) -> list[Command]:
        """End the sessions whose clients seem to be gone."""
        commands: list[Command] = []
        for session in list(self._sessions.values()):
            session.idle = 0 if session.busy else session.idle + 1
            if session.idle > COLLECTED_AFTER:
                error = AbortedError(None, None, f"Session {session.handle} was not used for long, and was ended.")
                commands.extend(self._end_session(session, error))
        return commands

    def _reset(self, call: int, request: m.Reset) -> list[Command]:
        commands: list[Command] = []
        for session in list(self._sessions.values()):
            commands.extend(self._end_session(session, _closed()))
        tasks = self._visible(request.device_filters)
        cleanup = m.CleanupAll(request.containers)
        return commands + self._gather(call, [(task, cleanup) for task in tasks], lambda _: [Respond(call, m.Done())])

    def _list_devices(self, call: int, request: m.ListDevices) -> list[Command]:
        session = self._session(request.session)
        remote = tuple(d for task in session.tasks[1:] for d in session.devices[task])
        return [Respond(call, m.DevicesListed(session.devices[self._own], remote))]

    # --- callables -----------------------------------------------------------------------------------------------------

    def _make_callable(self, call: int, request: m.MakeCallable) -> list[Command]:
        session = self._session(request.session)
        options = request.options
        signature = Signature(tuple(options.feed), tuple(options.fetch), tuple(options.target))
        self._prepare(session, signature)  # what is wrong with it is said now
        number = session.next_callable
        session.next_callable += 1
        session.callables[number] = signature, options.run_options
        return [*self._registrations(call, session, signature), Respond(call, m.CallableMade(number))]

    def _callable(self, session: Session, handle: int) -> tuple[Signature, config_pb2.RunOptions]:
        found = session.callables.get(handle)
        if found is None:
            raise InvalidArgumentError(None, None, f"No such callable handle: {handle}")
        return found

    def _run_callable(self, call: int, request: m.RunCallable) -> list[Command]:
        (feeds, fetches, targets), options = self._callable(self._session(request.session), request.handle)
        if len(feeds) != len(request.feeds):
            raise InvalidArgumentError(None, None, f"Expected {len(feeds)} feed tensors, but got {len(request.feeds)}")
        step = m.RunStep(request.session, tuple(zip(feeds, request.feeds, strict=True)), fetches, targets, options)
        return self._run_step(call, step)

    def _release_callable(self, call: int, request: m.ReleaseCallable) -> list[Command]:
        session = self._session(request.session)
        self._callable(session, request.handle)
        del session.callables[request.handle]
        return [Respond(call, m.Done())]


def _closed() -> OpError:
    return CancelledError(None, None, "Step was cancelled by an explicit call to `Session::Close()`.")


def _parse_filter(text: str) -> DeviceName:
    try:
        return DeviceName.parse(text)
    except ValueError as error:
        raise InvalidArgumentError(None, None, f"device_filters: {error}") from None
