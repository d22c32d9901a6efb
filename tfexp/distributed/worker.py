"""The worker of a task, as a state machine: sessions, registered graphs, and the rendezvous of every step.

A graph's parts start when what they receive is there: with the request, from an earlier graph of the same step, or from
another worker, which is then asked for it. What a part sends goes with the answer where the master wants it, and otherwise
waits in the step's rendezvous until somebody takes it. A value is taken once.
"""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from tfexp.core.errors import AbortedError, InvalidArgumentError, OpError, UnimplementedError
from tfexp.distributed import messages as m
from tfexp.distributed.events import (
    Abandon,
    Ask,
    Command,
    Drop,
    Execute,
    Forget,
    LetGo,
    Load,
    Refuse,
    Respond,
    Unload,
)
from tfexp.distributed.status import as_error, code_and_text
from tfexp.distributed.worker_groups import Groups
from tfexp.plan.stages import task_of
from tfexp.runtime.collectives import left

# Steps that failed are remembered for those who ask for their tensors too late.
_REMEMBERED_FAILURES = 1024
# So are the graphs that ran, lest a request that comes twice changes a variable twice.
_REMEMBERED_RUNS = 4096


class Program(Protocol):
    """A graph made ready to run. A part is a set of nodes that wait for the same keys."""

    @property
    def receives(self) -> tuple[str, ...]: ...

    @property
    def sends(self) -> tuple[str, ...]: ...

    @property
    def needs(self) -> tuple[frozenset[str], ...]:
        """For every part, the keys that it waits for."""
        ...


@dataclass
class _Run:
    call: int
    session: str
    step: int
    program: Program
    wanted: tuple[str, ...]
    trace: bool
    fed: dict[str, Any]
    missing: set[str]
    parts: set[int]  # parts that have not been started
    values: dict[str, Any] = field(default_factory=dict)
    executing: set[int] = field(default_factory=set)
    fetching: set[int] = field(default_factory=set)
    step_stats: Any = None
    begun: Any = None  # what the driver made of the program when the first of its parts started


@dataclass
class _Step:
    """The rendezvous of one step."""

    values: dict[str, Any] = field(default_factory=dict)
    takers: dict[str, tuple[Callable[[Any], list[Command]], Callable[[OpError], list[Command]]]] = field(
        default_factory=dict
    )
    runs: dict[int, _Run] = field(default_factory=dict)
    of_group: bool = False


@dataclass
class _Session:
    """`master`: the task that it is a session of, and its incarnation; `incarnations`: of all its tasks' devices.

    `isolated`: it shares no resources with others.
    """

    master: tuple[str, int] = ("", 0)
    isolated: bool = False
    incarnations: dict[str, int] = field(default_factory=dict)
    graphs: dict[str, Program] = field(default_factory=dict)


class Worker(Groups):
    """Task `own`, with the devices whose incarnations a rendezvous key must name right. `numbers`: see `Groups`."""

    def __init__(self, own: str, devices: Iterable[m.Device], cluster: dict[str, str], numbers: Callable[[], int]):
        super().__init__(own, cluster, numbers)
        self._devices = tuple(devices)
        self._incarnations = {d.name: d.incarnation for d in self._devices}
        self._graph_numbers = itertools.count(1)
        self._sessions: dict[str, _Session] = {"": _Session()}
        self._steps: dict[int, _Step] = {}
        # Codes and texts: an error itself knows the frames that it has come through, and with them the step's values.
        self._failed_steps: OrderedDict[int, tuple[int, str]] = OrderedDict()
        self._ran: OrderedDict[tuple[int, str], None] = OrderedDict()
        self._awaiting: list[int] = []  # calls that are answered when no group's values are left
        self._handlers = {
            m.GetStatus: self._get_status,
            m.CreateWorkerSession: self._create_session,
            m.DeleteWorkerSession: self._delete_session,
            m.RegisterGraph: self._register_graph,
            m.DeregisterGraph: self._deregister_graph,
            m.RunGraph: self._run_graph,
            m.CleanupGraph: self._cleanup_graph,
            m.CleanupAll: self._cleanup_all,
            m.RecvTensor: self._recv_tensor,
            m.CompleteGroup: self._complete_group,
            m.JoinGroup: self._join_group,
            m.Post: self._post,
            m.Fetch: self._fetch,
            m.LeaveGroup: self._leave_group,
            m.AwaitTaken: self._await_taken,
        }

    # --- sessions and graphs -----------------------------------------------------------------------------------------

    def _get_status(self, call: int, request: m.GetStatus) -> list[Command]:
        return [Respond(call, m.Status(self._devices))]

    def _create_session(self, call: int, request: m.CreateWorkerSession) -> list[Command]:
        meant = f"/job:{request.job}/replica:0/task:{request.task}"
        if request.job and meant != self._own:
            raise InvalidArgumentError(
                None, None, f"This server is {self._own}, but {request.master_task or 'a master'} takes it for {meant}"
            )
        for job, tasks in request.cluster.items():
            for task, address in tasks.items():
                name = f"/job:{job}/replica:0/task:{task}"
                mine = self._cluster.get(name)
                if self._cluster and mine is not None and mine != address:
                    raise InvalidArgumentError(
                        None,
                        None,
                        f"The cluster of {request.master_task or 'the master'} differs from that of {self._own}: "
                        f"{name} is at {address} there and at {mine} here",
                    )
        for name, incarnation in self._incarnations.items():
            if request.incarnations.get(name, incarnation) != incarnation:
                raise AbortedError(None, None, f"{name} was started again since {request.master_task} asked for its status")
        master = (request.master_task, request.master_incarnation)
        commands: list[Command] = []
        for handle, session in list(self._sessions.items()):
            if handle and master[0] and session.master[0] == master[0] and session.master != master:
                # Its master died, or was started anew: nobody will run or delete this session any more.
                commands.extend(self._end_session(handle))
            elif any(request.incarnations.get(name, known) != known for name, known in session.incarnations.items()):
                # Another of its tasks was started anew: its steps fail there. Here they must not go on either: what
                # they would change may have been restored meanwhile.
                commands.extend(self._end_session(handle))
        self._sessions.setdefault(request.session, _Session(master, request.isolate, dict(request.incarnations)))
        return [*commands, Respond(call, m.Done())]

    def _end_session(self, handle: str) -> list[Command]:
        """Nothing is begun for the session any more, and what is under way is given up."""
        del self._sessions[handle]
        error = AbortedError(None, None, f"The session {handle} has ended on {self._own}")
        steps = {run.step for step in self._steps.values() for run in step.runs.values() if run.session == handle}
        return [*(command for step in sorted(steps) for command in self._fail_step(step, error, None)), Forget(handle)]

    def _delete_session(self, call: int, request: m.DeleteWorkerSession) -> list[Command]:
        if not request.session or request.session not in self._sessions:
            return [Respond(call, m.Done())]
        return [*self._end_session(request.session), Respond(call, m.Done())]

    def _session(self, handle: str) -> _Session:
        found = self._sessions.get(handle)
        if found is None:
            raise AbortedError(
                None,
                None,
                f"Session handle is not found: {handle}. Possibly this worker ({self._own}) just restarted.",
            )
        return found

    def _register_graph(self, call: int, request: m.RegisterGraph) -> list[Command]:
        session = self._session(request.session)

        def loaded(program: Program) -> list[Command]:
            if self._sessions.get(request.session) is not session:
                gone = AbortedError(None, None, f"The session {request.session} was closed while its graph was loaded")
                return [Forget(request.session), Refuse(call, gone)]
            handle = f"{next(self._graph_numbers):016x}"
            session.graphs[handle] = program
            return [Respond(call, m.GraphRegistered(handle))]

        ask = self._expect(loaded, lambda error: [Refuse(call, error)])
        return [Load(ask, call, request.session, request.graph_def, request.config, session.isolated)]

    def _deregister_graph(self, call: int, request: m.DeregisterGraph) -> list[Command]:
        program = self._session(request.session).graphs.pop(request.graph, None)
        if program is None:
            raise AbortedError(None, None, f"Graph handle is not found: {request.graph}.")
        if any(run.program is program for step in self._steps.values() for run in step.runs.values()):
            return [Respond(call, m.Done())]  # what runs goes on; the program ends with its session
        return [Unload(request.session, program), Respond(call, m.Done())]

    def _cleanup_all(self, call: int, request: m.CleanupAll) -> list[Command]:
        return [Drop(request.containers), Respond(call, m.Done())]

    # --- steps -------------------------------------------------------------------------------------------------------

    def _run_graph(self, call: int, request: m.RunGraph) -> list[Command]:
        program = self._session(request.session).graphs.get(request.graph)
        if program is None:
            raise AbortedError(
                None, None, f"Graph handle is not found: {request.graph}. Possibly, this worker just restarted."
            )
        if request.partial:
            raise UnimplementedError(None, None, f"{self._own} makes partial runs only for masters of tfexp's")
        if request.step in self._failed_steps:
            raise as_error(*self._failed_steps[request.step])
        if (request.step, request.graph) in self._ran:
            raise AbortedError(None, None, f"The graph {request.graph} runs, or ran, in step {request.step} already")
        unknown = [key for key in request.sends if key not in program.receives]
        unknown += [key for key in request.wanted if key not in program.sends]
        if unknown:
            raise InvalidArgumentError(None, None, f"The graph {request.graph} has no border {', '.join(unknown)}")
        self._ran[(request.step, request.graph)] = None
        if len(self._ran) > _REMEMBERED_RUNS:
            self._ran.popitem(last=False)
        step = self._steps.setdefault(request.step, _Step())
        run = _Run(
            call,
            request.session,
            request.step,
            program,
            request.wanted,
            request.trace,
            dict(request.sends),
            set(program.receives) - request.sends.keys(),
            set(range(len(program.needs))),
        )
        step.runs[call] = run
        self._cancels[call] = lambda error: self._fail_step(run.step, error, None)
        commands: list[Command] = []
        for key in sorted(run.missing):
            commands.extend(self._receive(run, step, key))
        return commands + self._advance(run)

    def _receive(self, run: _Run, step: _Step, key: str) -> list[Command]:
        def arrived(value: Any) -> list[Command]:
            if run.call not in step.runs:
                return []
            run.fed[key] = value
            run.missing.discard(key)
            return self._advance(run)

        source = key.partition(";")[0]
        if task_of(source) == self._own:
            if key in step.values:
                run.fed[key] = step.values.pop(key)
                run.missing.discard(key)
                return []
            step.takers[key] = (arrived, lambda error: [])
            return []

        def fetched(reply: m.TensorReceived) -> list[Command]:
            run.fetching.discard(ask)
            if reply.is_dead or reply.value is None:
                error = InvalidArgumentError(
                    None, None, f"{key} is dead: only a master of tfexp's can cut conditionals for {self._own}"
                )
                return self._fail_step(run.step, error, None)
            return arrived(reply.value)

        def failed(error: OpError) -> list[Command]:
            run.fetching.discard(ask)
            return self._fail_step(run.step, error, None)

        ask = self._expect(fetched, failed)
        run.fetching.add(ask)
        return [Ask(ask, run.call, task_of(source), m.RecvTensor(run.step, key))]

    def _advance(self, run: _Run) -> list[Command]:
        """Execute the parts that can start now; answer when nothing is left."""
        ready = frozenset(n for n in run.parts if run.program.needs[n] <= run.fed.keys())
        if ready:
            everything = not run.missing and len(ready) == len(run.program.needs)
            run.parts -= ready
            ask = self._expect(lambda reply: executed(reply), lambda error: failed(error))

            def executed(reply: Any) -> list[Command]:
                run.executing.discard(ask)
                return self._executed(run, reply)

            def failed(error: OpError) -> list[Command]:
                run.executing.discard(ask)
                return self._fail_step(run.step, error, None)

            run.executing.add(ask)
            return [Execute(ask, run.call, run.program, run, run.fed, None if everything else ready, run.trace)]
        if run.parts or run.executing:
            return []
        return self._finish(run)

    def _executed(self, run: _Run, reply: tuple[dict[str, Any], Any]) -> list[Command]:
        step = self._steps.get(run.step)
        if step is None or run.call not in step.runs:
            return []
        values, stats = reply
        if stats is not None:
            if run.step_stats is None:
                run.step_stats = stats
            else:
                run.step_stats.MergeFrom(stats)
        commands: list[Command] = []
        for key, value in values.items():
            if key in run.wanted:
                run.values[key] = value
            else:
                commands.extend(self._put(step, key, value))
        return commands + self._advance(run)

    def _put(self, step: _Step, key: str, value: Any) -> list[Command]:
        taker = step.takers.pop(key, None)
        if taker is None:
            step.values[key] = value
            return []
        return taker[0](value)

    def _finish(self, run: _Run) -> list[Command]:
        step = self._steps[run.step]
        del step.runs[run.call]
        self._cancels.pop(run.call, None)
        self._tidy(run.step)
        return [Respond(run.call, m.GraphRun(run.values, run.step_stats))]

    def _tidy(self, number: int) -> None:
        step = self._steps.get(number)
        if step is not None and not step.runs and not step.values and not step.takers:
            del self._steps[number]

    def _fail_step(self, number: int, error: OpError, skip: int | None) -> list[Command]:
        """Everything of this step on this task ends with the error, also what comes later."""
        self._remember_failure(number, error)
        step = self._steps.pop(number, None)
        if step is None:
            return []
        commands: list[Command] = []
        for run in step.runs.values():
            self._cancels.pop(run.call, None)
            for ask in (*run.executing, *run.fetching):
                self._forget(ask)
                commands.append(Abandon(ask, error))
            if run.call != skip:
                commands.append(Refuse(run.call, error))
        for _, refuse in step.takers.values():
            commands.extend(refuse(error))
        return commands

    def _remember_failure(self, number: int, error: OpError) -> None:
        self._failed_steps[number] = code_and_text(error)
        if len(self._failed_steps) > _REMEMBERED_FAILURES:
            self._failed_steps.popitem(last=False)

    def _cleanup_graph(self, call: int, request: m.CleanupGraph) -> list[Command]:
        done: list[Command] = [LetGo(request.step), Respond(call, m.Done())]
        if request.step not in self._steps:
            return done
        error = AbortedError(None, None, f"Cleanup {request.step}")
        return self._fail_step(request.step, error, None) + done

    def _recv_tensor(self, call: int, request: m.RecvTensor) -> list[Command]:
        parts = request.key.split(";")
        if len(parts) != 5:
            raise InvalidArgumentError(None, None, f"Invalid  rendezvous key: {request.key}")
        incarnation = self._incarnations.get(parts[0])
        if incarnation is None:
            raise InvalidArgumentError(None, None, f"{self._own} has no device {parts[0]} (rendezvous key {request.key})")
        if parts[1] != f"{incarnation:016x}":
            raise AbortedError(
                None,
                None,
                f"RecvTensor expects a different device incarnation: {parts[1]} vs. {incarnation:016x}. "
                f"Your worker job ({self._own}) was probably restarted.",
            )
        step = self._steps.get(request.step)
        if step is not None and request.key in step.values:
            value = step.values.pop(request.key)
            self._tidy(request.step)
            return [Respond(call, m.TensorReceived(value)), *self._said_when_taken()]
        if request.step in self._failed_steps:
            raise as_error(*self._failed_steps[request.step])
        step = self._steps.setdefault(request.step, _Step())
        if request.key in step.takers:
            raise InvalidArgumentError(None, None, f"Somebody else waits for {request.key} already")

        def arrived(value: Any) -> list[Command]:
            self._cancels.pop(call, None)
            return [Respond(call, m.TensorReceived(value))]

        def gone(error: OpError) -> list[Command]:
            self._cancels.pop(call, None)
            return [Refuse(call, error)]

        def cancelled(error: OpError) -> list[Command]:
            step.takers.pop(request.key, None)
            self._tidy(request.step)
            return [Refuse(call, error)]

        step.takers[request.key] = (arrived, gone)
        self._cancels[call] = cancelled
        return []

    # --- groups ------------------------------------------------------------------------------------------------------

    def _post(self, call: int, request: m.Post) -> list[Command]:
        done: list[Command] = [Respond(call, m.Done())]
        if request.step in self._failed_steps:
            return done
        step = self._steps.setdefault(request.step, _Step())
        step.of_group = True
        commands = self._put(step, request.key, request.value)
        self._tidy(request.step)
        return commands + done

    def _fetch(self, call: int, request: m.Fetch) -> list[Command]:
        source, received = task_of(request.key.partition(";")[0]), m.RecvTensor(request.step, request.key)
        return self._recv_tensor(call, received) if source == self._own else self._pass_on(call, source, received)

    def _leave_group(self, call: int, request: m.LeaveGroup) -> list[Command]:
        error, done = left(self._own, request.error), Respond(call, m.Done())
        if not request.keeps:
            return [*self._fail_step(request.step, error, None), done, *self._said_when_taken()]
        self._remember_failure(request.step, error)
        # The group of that key before is over for all: this one has formed since.
        before = self._left.pop(request.group_key, None)
        if before is not None:
            self._steps.pop(before, None)
        self._left[request.group_key] = request.step
        commands: list[Command] = []
        step = self._steps.get(request.step)
        if step is not None:
            takers, step.takers = step.takers, {}
            for _, refuse in takers.values():
                commands.extend(refuse(error))
            self._tidy(request.step)
        return [*commands, done, *self._said_when_taken()]

    def _await_taken(self, call: int, request: m.AwaitTaken) -> list[Command]:
        def cancelled(error: OpError) -> list[Command]:
            self._awaiting.remove(call)
            return [Refuse(call, error)]

        self._awaiting.append(call)
        self._cancels[call] = cancelled
        return self._said_when_taken()

    def _said_when_taken(self) -> list[Command]:
        if not self._awaiting or any(step.of_group and step.values for step in self._steps.values()):
            return []
        calls, self._awaiting = self._awaiting, []
        for call in calls:
            del self._cancels[call]
        return [Respond(call, m.Done()) for call in calls]
