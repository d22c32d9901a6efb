"""A task: the driver of its master and its worker. It has the threads, clocks and locks that these do without.

Whoever calls lends its thread: what a call makes this task compute is computed there, so that a small step changes threads
no more often than it has to. Answers of other tasks come in on the transports' threads, which hand work over and go.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import secrets
import threading
from collections.abc import Callable
from typing import Any

from tensorboard.compat.proto import config_pb2

from tfexp.core.device import DeviceName
from tfexp.core.errors import CancelledError, DeadlineExceededError, InternalError, OpError, UnavailableError
from tfexp.distributed import events as ev
from tfexp.distributed import messages as m
from tfexp.distributed.inbox import Inbox
from tfexp.distributed.machine import Machine
from tfexp.distributed.master import COLLECTED_AFTER, Master
from tfexp.distributed.master_steps import OURS
from tfexp.distributed.program import GraphProgram, PartialProgram
from tfexp.distributed.status import as_error, code_and_text
from tfexp.distributed.task_exchange import TaskExchange
from tfexp.distributed.transport import OnDone, Transport
from tfexp.distributed.worker import Worker
from tfexp.plan.stages import task_of
from tfexp.runtime.device_memory import memory_limits
from tfexp.runtime.resources import Resources, SessionResources
from tfexp.runtime.step import StepState

_log = logging.getLogger("tfexp.distributed")


class _Call:
    """A request that somebody waits for in `Task.run`."""

    __slots__ = ("cancelled", "inbox", "timers")

    def __init__(self) -> None:
        # Work to do (a callable), or the answer (reply, error).
        self.inbox = Inbox()
        self.timers: list[threading.Timer] = []
        # Why nobody waits for it any more: it may have been said before the machines knew of the call.
        self.cancelled: OpError | None = None


class _Nested:
    """A call of the own master to the own worker: for the sake of which call it is, and the master's ask."""

    __slots__ = ("ask", "cancelled", "root")

    def __init__(self, root: int, ask: int) -> None:
        self.root, self.ask = root, ask
        self.cancelled: OpError | None = None


class _Pending:
    """A request to a peer, which may be given up before its transport has said how."""

    __slots__ = ("_error", "_give_up", "_lock", "peer")

    def __init__(self, peer: str) -> None:
        self.peer = peer
        self._lock = threading.Lock()
        self._give_up: Callable[[OpError], None] | None = None
        self._error: OpError | None = None

    def started(self, give_up: Callable[[OpError], None]) -> None:
        with self._lock:
            self._give_up = give_up
            error = self._error
        if error is not None:
            give_up(error)

    def give_up(self, error: OpError) -> None:
        with self._lock:
            self._error = error
            how = self._give_up
        if how is not None:
            how(error)


class Task:
    """Task `own` (`/job:j/replica:0/task:0`) of a cluster. `tasks`: the addresses of all; `connect` opens a transport."""

    def __init__(
        self,
        own: str,
        tasks: dict[str, str],
        connect: Callable[[str], Transport],
        config: config_pb2.ConfigProto | None = None,
        session_gc_seconds: float = 0.0,
    ):
        """`config`: what sessions get that do not say otherwise. `session_gc_seconds`: how long they may go unused, if not
        0; found after half as long again at most.
        """
        self.own = own
        self.resources = self._new_containers()
        name = f"{own}/device:CPU:0"
        device = m.Device(name, "CPU", memory_limits([name])[name], secrets.randbits(63) | 1, OURS)
        self.devices = (device,)
        self._tasks = tasks
        self._connect = connect
        self._transports: dict[str, Transport] = {}
        self._lock = threading.Lock()
        self._master = Master(own, self.devices, tasks, lambda: secrets.randbits(63) | 1, config)
        self._worker = Worker(own, self.devices, tasks, lambda: secrets.randbits(63) | 1)
        self._numbers = itertools.count(1)
        self._calls: dict[int, _Call] = {}
        self._started: dict[int, OnDone] = {}  # by the worker's call
        self._nested: dict[int, _Nested] = {}  # by the worker's call
        self._sub_call: dict[int, int] = {}  # the master's ask -> the worker's call
        self._remote: dict[tuple[Machine, int], _Pending] = {}
        self._owners: dict[tuple[Machine, int], int] = {}  # whose call an ask is for
        self._states: dict[int, StepState] = {}
        self._sessions: dict[str, SessionResources] = {}
        self._programs: dict[str, list[GraphProgram]] = {}
        self._beginning = threading.Lock()
        self._closed: OpError | None = None
        self._stopped = threading.Event()
        if session_gc_seconds > 0:
            every = session_gc_seconds / COLLECTED_AFTER
            threading.Thread(target=self._let_time_elapse, args=[every], name="tfexp-session-gc", daemon=True).start()

    # --- callers -----------------------------------------------------------------------------------------------------

    def call(self, request: m.Request, timeout: float | None = None) -> m.Reply:
        """The answer to a request; raises the `tf.errors` that it ends with."""
        return self.run(self.begin(), request, timeout)

    def begin(self) -> int:
        number = next(self._numbers)
        self._calls[number] = _Call()
        return number

    def run(self, number: int, request: m.Request, timeout: float | None = None) -> m.Reply:
        """The answer to a request under a number of `begin`, computed in this thread as far as it is this task's."""
        call = self._calls.get(number)
        if call is None:
            raise self._closed or CancelledError(None, None, "The call was cancelled before it began")
        machine: Machine = self._master if self._master.handles(request) else self._worker
        if timeout is not None:
            self._set_timer(number, call, timeout)
        try:
            if self._closed is not None:
                raise self._closed
            self._feed(machine, ev.Asked(number, request))
            if call.cancelled is not None:
                self._feed(machine, ev.Cancelled(number, call.cancelled))
            while True:
                item = call.inbox.get()
                if callable(item):
                    item()
                    continue
                reply, error = item
                if error is not None:
                    raise error
                return reply
        except BaseException as error:
            if not isinstance(error, OpError):  # Ctrl-C: what it waited for must not go on
                self.cancel(number, CancelledError(None, None, f"The caller was interrupted: {type(error).__name__}"))
            raise
        finally:
            self._calls.pop(number, None)
            call.inbox.close()
            for timer in call.timers:
                timer.cancel()

    def start(self, request: m.Request, done: OnDone) -> Callable[[OpError], None]:
        """Ask the own worker without waiting for the answer. Returns what gives up on it, for a reason."""
        number = next(self._numbers)
        self._started[number] = done
        if self._closed is not None:
            self._answer(number, None, self._closed)
        else:
            self._feed(self._worker, ev.Asked(number, request))
        return lambda error: self._feed(self._worker, ev.Cancelled(number, error))

    def cancel(self, number: int, error: OpError) -> None:
        """Nobody waits for that call any more: whatever it does stops. Nothing happens when it has ended."""
        call = self._calls.get(number)
        if call is not None:
            call.cancelled = error
            self._feed(self._master, ev.Cancelled(number, error))
            self._feed(self._worker, ev.Cancelled(number, error))

    @property
    def takes_part(self) -> bool:
        """Whether its devices have joined groups for collective ops."""
        return self._worker.takes_part

    def await_taken(self, seconds: float) -> None:
        """Wait until the other members of groups have fetched what they are to have from here, or the time is over."""
        answered = threading.Event()  # and no timer: a process that ends starts no more threads
        give_up = self.start(m.AwaitTaken(), lambda reply, error: answered.set())
        if not answered.wait(seconds):
            give_up(DeadlineExceededError(None, None, f"Not everything was fetched in {seconds} s"))

    def close(self, reason: str = "The server was stopped") -> None:
        """Stop: everything under way ends with UnavailableError, and so does what comes later."""
        self._closed = UnavailableError(None, None, f"{reason} ({self.own})")
        self._stopped.set()
        for number in list(self._calls):
            self.cancel(number, self._closed)
        for call in list(self._calls.values()):
            call.inbox.put((None, self._closed))
        for number in list(self._started):
            self._answer(number, None, self._closed)
        with self._lock:
            transports = list(self._transports.values())
        for transport in transports:
            transport.close()
        for programs in list(self._programs.values()):
            for program in programs:
                program.close()
        self.resources.clear()

    def moved(self, task: str, address: str) -> None:
        """That task is another process now: what is still asked of the former one ends with UnavailableError."""
        with self._lock:
            self._tasks[task] = address
            transport = self._transports.pop(task, None)
            # Answers come in meanwhile, without the lock.
            pending = [request for request in list(self._remote.values()) if request.peer == task]
        error = UnavailableError(None, None, f"{task} was started again, at {address}")
        for request in pending:
            request.give_up(error)
        if transport is not None:
            transport.close()

    def _let_time_elapse(self, every: float) -> None:
        while not self._stopped.wait(every):
            self.let_time_elapse(1)

    def let_time_elapse(self, times: int) -> None:
        """Sessions that nobody uses meanwhile end."""
        for _ in range(times):
            self._feed(self._master, ev.Elapsed())

    def _set_timer(self, number: int, call: _Call, seconds: float) -> None:
        error = DeadlineExceededError(None, None, f"Timed out: the step took over {round(seconds * 1e3)} ms")
        timer = threading.Timer(seconds, self.cancel, [number, error])
        timer.daemon = True
        call.timers.append(timer)
        timer.start()

    # --- events and commands -----------------------------------------------------------------------------------------

    def _feed(self, machine: Machine, event: ev.Event) -> None:
        try:
            with self._lock:
                commands = machine.handle(event)
                self._expect(machine, commands)
        except Exception as error:
            # A bug of ours: the call that it hit ends, the server goes on.
            _log.exception("%s failed on %s", type(machine).__name__, type(event).__name__)
            call = -1
            if isinstance(event, ev.Asked | ev.Cancelled):
                call = event.call
            elif isinstance(event, ev.Answered | ev.Failed):
                call = self._owners.get((machine, event.ask), -1)
            commands = [ev.Refuse(call, as_error(*code_and_text(error)))]
        if isinstance(event, ev.Answered | ev.Failed):
            self._owners.pop((machine, event.ask), None)
        for command in commands:
            self._perform(machine, command)

    def _expect(self, machine: Machine, commands: list[ev.Command]) -> None:
        """Write down what is about to begin, while the machine is locked: another thread may abandon it before it does."""
        for command in commands:
            if not isinstance(command, ev.Ask | ev.Execute | ev.Load):
                continue
            if command.call != -1:
                self._owners[(machine, command.ask)] = command.call
            if isinstance(command, ev.Execute):
                self._states[command.ask] = StepState()
            elif isinstance(command, ev.Ask) and command.task == self.own:
                number = next(self._numbers)
                self._nested[number] = _Nested(command.call, command.ask)
                self._sub_call[command.ask] = number
            elif isinstance(command, ev.Ask):
                self._remote[(machine, command.ask)] = _Pending(command.task)

    def _perform(self, machine: Machine, command: ev.Command) -> None:
        match command:
            case ev.Respond(call, reply):
                self._answer(call, reply, None)
            case ev.Refuse(call, error):
                self._answer(call, None, error)
            case ev.Ask(task=task) if task == self.own:
                self._ask_own_worker(command)
            case ev.Ask():
                self._ask_peer(machine, command)
            case ev.Execute(ask, call):
                state = self._states.get(ask)  # gone if it was abandoned before it began
                if state is not None:
                    state.on_sleep = lambda: self._thread_sleeps(call)
                self._hand_over(call, lambda: self._execute(command))
            case ev.Load(_, call):
                self._hand_over(call, lambda: self._load(command))
            case ev.Abandon(ask, error):
                self._owners.pop((machine, ask), None)
                self._abandon(machine, ask, error)
            case ev.SetTimer(number, milliseconds):
                call_state = self._calls.get(number)
                if call_state is not None:
                    self._set_timer(number, call_state, milliseconds / 1e3)
            case ev.Drop(containers):
                self.resources.reset(containers)
            case ev.LetGo(step):
                for holder in list(self._sessions.values()):
                    holder.let_go(step)
            case ev.Unload(session, program):
                with contextlib.suppress(ValueError):  # its session has ended meanwhile
                    self._programs.get(session, []).remove(program)
                program.close()
            case ev.Forget(session):
                resources = self._sessions.pop(session, None)
                if resources is not None:
                    resources.end()
                for program in self._programs.pop(session, ()):
                    program.close()

    def _answer(self, number: int, reply: Any, error: OpError | None) -> None:
        done = self._started.pop(number, None)
        if done is not None:
            done(reply, error)
            return
        nested = self._nested.pop(number, None)
        if nested is not None:
            self._sub_call.pop(nested.ask, None)
            event = ev.Answered(nested.ask, reply) if error is None else ev.Failed(nested.ask, error)
            self._feed(self._master, event)
            return
        call = self._calls.get(number)
        if call is not None:
            call.inbox.put((reply, error))

    def _hand_over(self, number: int, work: Callable[[], None]) -> None:
        """Have the thread that waits for this call do the work; one of our own if nobody waits."""
        call = self._root(number)
        if call is not None:
            call.inbox.put(work)
        else:
            _start_thread(work)

    def _thread_sleeps(self, number: int) -> None:
        """The thread of this call waits for a queue or the like: others do the work that it was to do."""
        call = self._root(number)
        if call is not None:
            call.inbox.spread()

    def _root(self, number: int) -> _Call | None:
        """The call of a client or peer that this one is part of, if somebody waits for it."""
        nested = self._nested.get(number)
        return self._calls.get(number if nested is None else nested.root)

    def _ask_own_worker(self, command: ev.Ask) -> None:
        number = self._sub_call[command.ask]
        nested = self._nested[number]
        self._feed(self._worker, ev.Asked(number, command.request))
        if nested.cancelled is not None:
            self._feed(self._worker, ev.Cancelled(number, nested.cancelled))

    def _ask_peer(self, machine: Machine, command: ev.Ask) -> None:
        key = (machine, command.ask)
        pending = self._remote.get(key)
        if pending is None:
            return  # abandoned before it began

        def done(reply: m.Reply | None, error: OpError | None) -> None:
            self._remote.pop(key, None)
            self._feed(machine, ev.Answered(command.ask, reply) if error is None else ev.Failed(command.ask, error))

        try:
            transport = self._transport(command.task)
            call = self._root(command.call)
            inbox = None if call is None else call.inbox
            pending.started(transport.start(command.request, done, command.wait, inbox))
        except OpError as error:
            done(None, error)
        except Exception as error:
            # A value that has no place in a message: a handle, a reference.
            done(None, InternalError(None, None, f"The request to {command.task} cannot be sent: {error}"))

    def _transport(self, task: str) -> Transport:
        found = self._transports.get(task)
        if found is None:
            address = self._tasks.get(task)
            if address is None:
                known = ", ".join(self._tasks)
                raise UnavailableError(None, None, f"{self.own} knows no {task}; its cluster has {known}")
            with self._lock:
                if self._closed is not None:  # nobody would close one that comes now
                    raise self._closed
                found = self._transports.get(task)
                if found is None:
                    found = self._transports[task] = self._connect(address)
        return found

    def _abandon(self, machine: Machine, ask: int, error: OpError) -> None:
        if machine is self._worker:
            state = self._states.get(ask)
            if state is not None:
                state.cancel(error)
                return
        else:
            number = self._sub_call.get(ask, -1)
            nested = self._nested.get(number)
            if nested is not None:
                nested.cancelled = error
                self._feed(self._worker, ev.Cancelled(number, error))
                return
        pending = self._remote.pop((machine, ask), None)
        if pending is not None:
            pending.give_up(error)

    # --- work --------------------------------------------------------------------------------------------------------

    def _load(self, command: ev.Load) -> None:
        def load() -> GraphProgram:
            with self._lock:
                resources = self._sessions.setdefault(command.session, self._new_resources(command.config, command.isolated))
            names = tuple(device.name for device in self.devices)
            program = GraphProgram(command.graph_def, command.config, resources, names)
            self._programs.setdefault(command.session, []).append(program)
            return program

        self._work(command.ask, load)

    def _new_containers(self) -> Resources:
        return Resources(DeviceName.parse(self.own).job or "")

    def _new_resources(self, config: config_pb2.ConfigProto | None, isolated: bool) -> SessionResources:
        """A session's: the task's, or its own where it does not want to share (`ConfigProto.isolate_session_state`)."""
        leader = "" if config is None else config.experimental.collective_group_leader
        exchange = TaskExchange(self.start, self.devices, task_of(leader) if leader else self.own)
        if isolated:
            return SessionResources(self._new_containers(), isolated=True, exchange=exchange)
        return SessionResources(self.resources, exchange=exchange)

    def _execute(self, command: ev.Execute) -> None:
        state = self._states[command.ask]

        def execute() -> Any:
            state.check()
            program: GraphProgram = command.program
            if command.parts is None:
                return program.run(command.fed, state, command.trace, command.run.step)
            with self._beginning:  # parts may start at once
                if command.run.begun is None:
                    command.run.begun = program.begin(command.run.step)
            partial: PartialProgram = command.run.begun
            return partial.run(command.parts, dict(command.fed), state, command.trace)

        try:
            self._work(command.ask, execute)
        finally:
            self._states.pop(command.ask, None)

    def _work(self, ask: int, work: Callable[[], Any]) -> None:
        try:
            result = work()
        except OpError as error:
            self._feed(self._worker, ev.Failed(ask, error))
        except Exception as error:
            _log.exception("A graph could not be run")
            self._feed(self._worker, ev.Failed(ask, as_error(*code_and_text(error))))
        else:
            self._feed(self._worker, ev.Answered(ask, result))


def _start_thread(work: Callable[[], None]) -> None:
    threading.Thread(target=work, name="tfexp-task", daemon=True).start()
