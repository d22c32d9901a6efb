"""The master of a task's sessions, as a state machine: events in, commands out. No sockets, no clocks, no threads.

A session knows a graph, the devices of its cluster and, for every combination of feeds, fetches and targets that was run,
the stages that it comes to, registered on their tasks. A step starts every stage whose predecessors have ended; values
ride along. The first error ends the step: its other stages are told to stop, and the client hears that error.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from tensorboard.compat.proto import config_pb2

from tfexp.core.device import DeviceName
from tfexp.core.errors import AbortedError, CancelledError, InvalidArgumentError, OpError, UnimplementedError
from tfexp.distributed import messages as m
from tfexp.distributed.events import (
    Abandon,
    Ask,
    Command,
    Refuse,
    Respond,
    SetTimer,
)
from tfexp.distributed.machine import Machine
from tfexp.distributed.master_sessions import Prepared, Run, Session, Signature
from tfexp.distributed.session_graph import SessionGraph
from tfexp.distributed.status import with_prefix
from tfexp.plan.assign import Assignment
from tfexp.plan.partition import task_of

# Steps that a session remembers; more than a client has, unless it makes them up in a loop.
_MAX_STEPS = 512

_NO_OPTIONS = config_pb2.RunOptions()


class Master(Machine):
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
        super().__init__()
        self._own = own
        self._devices = tuple(devices)
        self._tasks = tasks
        self._numbers = numbers
        self._config = config or config_pb2.ConfigProto()
        self._sessions: dict[str, Session] = {}
        self._handlers = {
            m.CreateSession: self._create_session,
            m.ExtendSession: self._extend_session,
            m.RunStep: self._run_step,
            m.PartialRunSetup: self._partial_run_setup,
            m.CloseSession: self._close_session,
            m.Reset: self._reset,
            m.ListDevices: self._list_devices,
            m.MakeCallable: self._make_callable,
            m.RunCallable: self._run_callable,
            m.ReleaseCallable: self._release_callable,
        }

    def _ask(
        self,
        call: int,
        task: str,
        request: m.Request,
        answer: Callable[[Any], list[Command]],
        failure: Callable[[OpError], list[Command]],
        wait: bool = False,
    ) -> Ask:
        return Ask(self._expect(answer, failure), call, task, request, wait)

    def _tell(self, task: str, request: m.Request) -> Ask:
        """Ask for something without waiting for it."""
        return Ask(next(self._asks), -1, task, request)

    def _session(self, handle: str) -> Session:
        found = self._sessions.get(handle)
        if found is None:
            raise AbortedError(None, None, f"Session {handle} is not found.")
        return found

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
        then: Callable[[dict[str, Any]], list[Command]],
        wait: bool = False,
    ) -> list[Command]:
        """Ask all of them at once; go on when all have answered; the first error is the call's."""
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
            return [*(Abandon(ask, error) for ask in asks), Refuse(call, error)]

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
            mine = tuple(d for d in status.devices if task_of(d.name) == task)
            if not mine:
                found = ", ".join(sorted({task_of(d.name) for d in status.devices})) or "a task without devices"
                raise InvalidArgumentError(
                    None, None, f"The server at {self._tasks[task]} was to be {task}, but says that it is {found}"
                )
            session.devices[task] = mine
        names = [d.name for task in session.tasks for d in session.devices[task]]
        session.assignment = Assignment(names, session.config.allow_soft_placement)
        session.incarnations = {d.name: d.incarnation for task in session.tasks for d in session.devices[task]}
        requests: list[tuple[str, Any]] = []
        for task in session.tasks:
            name = DeviceName.parse(task)
            requests.append(
                (
                    task,
                    m.CreateWorkerSession(
                        session.handle,
                        name.job or "",
                        name.task or 0,
                        self._cluster(),
                        self._own,
                        self._devices[0].incarnation,
                        session.config.isolate_session_state,
                    ),
                )
            )

        def created(_: dict[str, Any]) -> list[Command]:
            self._sessions[session.handle] = session
            return [Respond(call, m.SessionCreated(session.handle, session.graph.version))]

        return self._gather(call, requests, created)

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
        return [*self._end_session(session, CancelledError(None, None, "Session was closed.")), Respond(call, m.Done())]

    def _end_session(self, session: Session, error: OpError) -> list[Command]:
        del self._sessions[session.handle]
        commands: list[Command] = []
        for run in list(session.runs.values()):
            commands.extend(self._fail(run, error))
        commands.extend(self._tell(task, m.DeleteWorkerSession(session.handle)) for task in session.tasks)
        return commands

    def _reset(self, call: int, request: m.Reset) -> list[Command]:
        commands: list[Command] = []
        for session in list(self._sessions.values()):
            commands.extend(self._end_session(session, AbortedError(None, None, "Session was reset.")))
        tasks = self._visible(request.device_filters)
        cleanup = m.CleanupAll(request.containers)
        return commands + self._gather(call, [(task, cleanup) for task in tasks], lambda _: [Respond(call, m.Done())])

    def _list_devices(self, call: int, request: m.ListDevices) -> list[Command]:
        session = self._session(request.session)
        remote = tuple(d for task in session.tasks[1:] for d in session.devices[task])
        return [Respond(call, m.DevicesListed(session.devices[self._own], remote))]

    # --- callables, partial runs -------------------------------------------------------------------------------------

    def _make_callable(self, call: int, request: m.MakeCallable) -> list[Command]:
        session = self._session(request.session)
        options = request.options
        signature = (tuple(options.feed), tuple(options.fetch), tuple(options.target))
        self._prepare(call, session, signature)  # what is wrong with it is said now
        number = session.next_callable
        session.next_callable += 1
        session.callables[number] = signature
        return [*self._registrations(call, session, signature), Respond(call, m.CallableMade(number))]

    def _callable(self, session: Session, handle: int) -> Signature:
        found = session.callables.get(handle)
        if found is None:
            raise InvalidArgumentError(None, None, f"No such callable handle: {handle}")
        return found

    def _run_callable(self, call: int, request: m.RunCallable) -> list[Command]:
        feeds, fetches, targets = self._callable(self._session(request.session), request.handle)
        if len(feeds) != len(request.feeds):
            raise InvalidArgumentError(None, None, f"Expected {len(feeds)} feed tensors, but got {len(request.feeds)}")
        step = m.RunStep(request.session, tuple(zip(feeds, request.feeds, strict=True)), fetches, targets)
        return self._run_step(call, step)

    def _release_callable(self, call: int, request: m.ReleaseCallable) -> list[Command]:
        session = self._session(request.session)
        self._callable(session, request.handle)
        del session.callables[request.handle]
        return [Respond(call, m.Done())]

    def _partial_run_setup(self, call: int, request: m.PartialRunSetup) -> list[Command]:
        self._session(request.session)
        raise UnimplementedError(None, None, "Partial runs are for sessions without a target; this one has a server")

    # --- steps -------------------------------------------------------------------------------------------------------

    def _prepare(self, call: int, session: Session, signature: Signature) -> Prepared:
        found = session.prepared.get(signature)
        if found is not None:
            return found
        feeds, fetches, targets = signature
        assert session.assignment is not None
        client = session.devices[self._own][0].name
        cut = session.graph.cut(feeds, fetches, targets, session.assignment, session.incarnations, client)
        full_feeds = tuple(session.graph.tensor(name, "Feed").name for name in feeds)
        full_fetches = tuple(session.graph.tensor(name, "FetchOutputs node").name for name in fetches)
        prepared = Prepared(cut, full_feeds, full_fetches, [""] * len(cut.stages), -1)
        for number, stage in enumerate(cut.stages):
            stays = {
                e for e in (*stage.received, *stage.sent) if e.sent_as == e.received_as and -1 not in (e.source, e.target)
            }
            prepared.arriving[number] = [e for e in stage.received if e not in stays]
            prepared.wanted[number] = tuple(e.sent_as for e in stage.sent if e not in stays)
            prepared.leaves_values |= bool(stays)
        if len(session.prepared) >= _MAX_STEPS:
            oldest = next(iter(session.prepared))
            if session.prepared[oldest].missing == 0:
                del session.prepared[oldest]
        session.prepared[signature] = prepared
        return prepared

    def _registrations(self, call: int, session: Session, signature: Signature) -> list[Command]:
        """Register the stages where they will run, unless that has been done or begun."""
        prepared = session.prepared[signature]
        if prepared.missing >= 0:
            return []
        prepared.missing = len(prepared.partition.stages)

        def registered(number: int, reply: m.GraphRegistered) -> list[Command]:
            prepared.graphs[number] = reply.graph
            prepared.missing -= 1
            if prepared.missing:
                return []
            waiting, prepared.waiting = prepared.waiting, []
            return [command for run in waiting if not run.over for command in self._advance(run)]

        def failed(task: str, error: OpError) -> list[Command]:
            # The next run tries again.
            if session.prepared.get(signature) is prepared:
                del session.prepared[signature]
            waiting, prepared.waiting = prepared.waiting, []
            named = with_prefix(error, task)
            return [command for run in waiting if not run.over for command in self._fail(run, named)]

        commands: list[Command] = []
        for number, stage in enumerate(prepared.partition.stages):
            commands.append(
                self._ask(
                    call,
                    stage.task,
                    m.RegisterGraph(session.handle, stage.graph_def, session.config),
                    functools.partial(registered, number),
                    functools.partial(failed, stage.task),
                )
            )
        return commands

    def _run_step(self, call: int, request: m.RunStep) -> list[Command]:
        session = self._session(request.session)
        if request.partial_run:
            raise InvalidArgumentError(None, None, "Must run PartialRunSetup before performing partial runs!")
        signature = (tuple([name for name, _ in request.feeds]), request.fetches, request.targets)
        prepared = self._prepare(call, session, signature)
        options = request.options or _NO_OPTIONS
        feeds = {full: value for full, (_, value) in zip(prepared.feeds, request.feeds, strict=True)}
        run = Run(call, session, prepared, self._numbers() >> 8, feeds, options)
        session.runs[call] = run
        self._cancels[call] = lambda error: self._fail(run, error)
        commands: list[Command] = []
        timeout = options.timeout_in_ms or session.config.operation_timeout_in_ms
        if timeout > 0:
            commands.append(SetTimer(call, timeout))
        commands.extend(self._registrations(call, session, signature))
        if prepared.missing > 0:
            prepared.waiting.append(run)
            return commands
        return commands + self._advance(run)

    def _advance(self, run: Run) -> list[Command]:
        """Start every stage that can start; answer the client when there is none left."""
        stages = run.prepared.partition.stages
        if len(run.ended) == len(stages):
            return self._complete(run)
        commands: list[Command] = []
        for number, stage in enumerate(stages):
            if number in run.started or not stage.after <= run.ended:
                continue
            run.started.add(number)
            sends = {
                edge.received_as: run.feeds[edge.tensor] if edge.source < 0 else run.values[edge]
                for edge in run.prepared.arriving[number]
            }
            request = m.RunGraph(
                run.session.handle,
                run.prepared.graphs[number],
                run.step,
                sends,
                run.prepared.wanted[number],
                run.options.trace_level != config_pb2.RunOptions.NO_TRACE,
            )
            ask = self._ask(
                run.call,
                stage.task,
                request,
                functools.partial(self._stage_ended, run, number),
                functools.partial(self._stage_failed, run, number),
            )
            run.asks[ask.ask] = number
            commands.append(ask)
        return commands

    def _stage_ended(self, run: Run, number: int, reply: m.GraphRun) -> list[Command]:
        if run.over:
            return []
        run.asks = {ask: stage for ask, stage in run.asks.items() if stage != number}
        stage = run.prepared.partition.stages[number]
        for edge in stage.sent:
            if edge.sent_as in reply.values:
                run.values[edge] = reply.values[edge.sent_as]
        lost = [e.tensor for e in stage.sent if e.sent_as in run.prepared.wanted[number] and e not in run.values]
        if lost:
            error = InvalidArgumentError(None, None, f"{stage.task} did not send {', '.join(lost)}")
            return self._fail(run, error)
        if reply.step_stats is not None:
            if run.metadata is None:
                run.metadata = config_pb2.RunMetadata()
            run.metadata.step_stats.MergeFrom(reply.step_stats)
        run.ended.add(number)
        return self._advance(run)

    def _stage_failed(self, run: Run, number: int, error: OpError) -> list[Command]:
        if run.over:
            return []
        run.asks = {ask: stage for ask, stage in run.asks.items() if stage != number}
        return self._fail(run, with_prefix(error, run.prepared.partition.stages[number].task))

    def _complete(self, run: Run) -> list[Command]:
        self._end(run)
        by_fetch = {edge.tensor: value for edge, value in run.values.items() if edge.target < 0}
        values = tuple([run.feeds[name] if name in run.feeds else by_fetch[name] for name in run.prepared.fetches])
        if run.options.output_partition_graphs:
            if run.metadata is None:
                run.metadata = config_pb2.RunMetadata()
            run.metadata.partition_graphs.extend(stage.graph_def for stage in run.prepared.partition.stages)
        return [*self._cleanups(run, False), Respond(run.call, m.StepRun(values, run.metadata))]

    def _fail(self, run: Run, error: OpError) -> list[Command]:
        """End the step with this error; whatever else it has under way is told to stop."""
        if run.over:
            return []
        self._end(run)
        commands: list[Command] = [Refuse(run.call, error)]
        for ask in run.asks:
            self._forget(ask)
            commands.append(Abandon(ask, error))
        return commands + self._cleanups(run, True)

    def _end(self, run: Run) -> None:
        run.over = True
        self._cancels.pop(run.call, None)
        run.session.runs.pop(run.call, None)

    def _cleanups(self, run: Run, failed: bool) -> list[Command]:
        """Peers of our kind forget a step by themselves when nothing of it is left; others, and failed steps, are told."""
        touched = {run.prepared.partition.stages[number].task for number in run.started}
        return [
            self._tell(task, m.CleanupGraph(run.step))
            for task in sorted(touched)
            if failed or not _is_ours(run.session.devices[task])
        ]


def _is_ours(devices: tuple[m.Device, ...]) -> bool:
    return bool(devices) and devices[0].description == OURS


# What our devices say of themselves, so that a master knows what it need not tell them.
OURS = "tfexp"


def _parse_filter(text: str) -> DeviceName:
    try:
        return DeviceName.parse(text)
    except ValueError as error:
        raise InvalidArgumentError(None, None, f"device_filters: {error}") from None
