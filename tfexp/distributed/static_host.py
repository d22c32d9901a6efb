"""Tasks at addresses that are given: `cluster.hosting=static`, with `python -m tfexp.server` started on each host.

The servers are somebody else's: they are looked for, watched and left running, and waited for when they are gone. The work
of a task is done by a process of this machine whose sessions have that task as their target.
"""

from __future__ import annotations

import contextlib
import functools
import queue
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tensorboard.compat.proto import config_pb2, graph_pb2

from tfexp.core.errors import OpError
from tfexp.distributed import messages as m
from tfexp.distributed.channel import GrpcChannel
from tfexp.distributed.cluster import ClusterSpec
from tfexp.distributed.hosted import ALIVE_EVERY
from tfexp.distributed.hosting import Hosting, HostingError, Message, Say, Sink, TaskSpec
from tfexp.distributed.process_host import ProcessHosting
from tfexp.distributed.security import Security

__all__ = ["StaticHosting"]


class StaticHosting(Hosting):
    """`cluster`: where every task serves. `within`: the seconds in which each of them has to answer."""

    kind = "static"
    starts_again = False

    def __init__(self, cluster: ClusterSpec, logs: Path, within: float = 60.0):
        self._cluster, self._within = cluster, within
        targets = {
            f"{job}:{index}": f"grpc://{cluster.task_address(job, index)}"
            for job in cluster.jobs
            for index in cluster.task_indices(job)
        }
        self._clients = ProcessHosting(logs, targets)
        self._channels: dict[str, GrpcChannel] = {}
        self._watches: dict[str, _Watch] = {}
        self._sinks: dict[str, Sink] = {}
        # The tasks whose server alone was started again: their `cluster` is not for the client, which has it.
        self._served: set[str] = set()
        self._clients_gone: set[str] = set()
        self._waited_for: set[str] = set()
        self._client_said: dict[tuple[str, str], Message] = {}
        self._closed = threading.Event()
        self._lock = threading.RLock()  # while a server that is back gets its client: closing waits for that
        self._asking: threading.Thread | None = None

    def start(self, tasks: Sequence[TaskSpec], sink: Sink, say: Say) -> None:
        try:
            self._find(tasks, say)
            self._check_views(tasks)
            # What an earlier run left in the servers is not this one's, whatever it is called.
            self._channels[tasks[0].name].call(m.Reset(()))
            for task in tasks:
                self._watch(task, sink)
            working = [task for task in tasks if task.work is not None]
            self._clients.start(working, self._of_client(sink), say)
            for task in tasks:
                if task.work is None:
                    self._is_there(task, sink)
            self._asking = threading.Thread(target=self._ask_all, args=[list(tasks)], name="tfexp-static", daemon=True)
            self._asking.start()
        except BaseException:
            self.close(0)
            raise

    def _address(self, task: TaskSpec) -> str:
        return self._cluster.task_address(task.job, task.index)

    def _watch(self, task: TaskSpec, sink: Sink) -> None:
        address = self._address(task)
        why = f"its server at {address} does not answer any more"
        self._sinks[task.name] = sink
        # Its client, if it has one, lives on.
        gone = {"kind": "exited", "why": why, "same_process": task.work is not None}
        self._watches[task.name] = _Watch(self._channels[task.name], lambda: sink(task.name, gone))

    def _is_there(self, task: TaskSpec, sink: Sink) -> None:
        """Say so of a server, in the words of a task's process."""
        self._served.add(task.name)
        address = self._address(task)
        where = {"address": address, "host": address.rpartition(":")[0], "pid": None, "place": None, "cores": None}
        sink(task.name, self._client_said.get((task.name, "bound"), {"kind": "bound", **where}))

    def restart(self, task: TaskSpec, address: str | None, sink: Sink) -> None:
        """A client is started again, a server is waited for; both, if both are gone."""
        name, channel = task.name, self._channels[task.name]

        def there(reply: Any, error: OpError | None) -> None:
            with self._lock:
                if self._closed.is_set():
                    return
                if error is None:
                    self._is_back(task)
                else:  # gone once more, just now
                    channel.start(m.GetStatus(), there, wait=True)

        with self._lock:
            self._sinks[name] = sink
            if name in self._waited_for:
                return
            self._waited_for.add(name)
            self._watches.pop(name).end()
        channel.start(m.GetStatus(), there, wait=True)

    def _is_back(self, task: TaskSpec) -> None:
        name = task.name
        self._waited_for.discard(name)
        latest = self._sinks[name]
        self._watch(task, latest)
        if name not in self._clients_gone:
            self._is_there(task, latest)
            return
        self._clients_gone.discard(name)
        try:
            self._clients.restart(task, None, self._of_client(latest))
        except HostingError as failure:
            latest(name, {"kind": "exited", "why": str(failure)})

    def _ask_all(self, tasks: Sequence[TaskSpec]) -> None:
        """Have every server say that it is alive, until the end."""

        asked: set[str] = set()

        def answered(name: str, reply: Any, error: OpError | None) -> None:
            asked.discard(name)
            if error is None:
                self._sinks[name](name, {"kind": "alive"})

        while not self._closed.wait(ALIVE_EVERY):
            for name in [task.name for task in tasks if task.name not in asked]:
                asked.add(name)
                with contextlib.suppress(OpError):  # closed meanwhile
                    self._channels[name].start(m.GetStatus(), functools.partial(answered, name))

    def _find(self, tasks: Sequence[TaskSpec], say: Say) -> None:
        """Every task answers, as the one that it should be."""
        answers: queue.SimpleQueue[tuple[TaskSpec, Any, OpError | None]] = queue.SimpleQueue()
        say("waiting for " + ", ".join(f"{task.name} at {self._address(task)}" for task in tasks))
        security = Security.from_environment()
        for task in tasks:
            channel = self._channels[task.name] = GrpcChannel(self._address(task), task.name, security)
            channel.start(m.GetStatus(), _into(answers, task), wait=True)
        missing = {task.name: task for task in tasks}
        ends = time.monotonic() + self._within
        while missing:
            try:
                task, reply, error = answers.get(timeout=max(0.0, ends - time.monotonic()))
            except queue.Empty:
                absent = ", ".join(f"{task.name} at {self._address(task)}" for task in missing.values())
                raise HostingError(
                    f"no answer within {self._within:g} s from {absent}: start it there with python -m tfexp.server"
                ) from None
            if error is not None:
                raise HostingError(f"{task.name} at {self._address(task)}: {error.message}")
            found = sorted({device.name.partition("/device:")[0] for device in reply.devices})
            if f"/job:{task.job}/replica:0/task:{task.index}" not in found:
                raise HostingError(
                    f"{self._address(task)} is {', '.join(found) or 'no task'}, and not {task.name}: cluster.ps_hosts and "
                    "cluster.worker_hosts must be in the order of the servers' own cluster"
                )
            del missing[task.name]

    def _check_views(self, tasks: Sequence[TaskSpec]) -> None:
        """Every task that works reaches those that only serve, at the addresses of its own server's cluster."""
        answers: queue.SimpleQueue[tuple[TaskSpec, Any, OpError | None]] = queue.SimpleQueue()
        serving = [task for task in tasks if task.work is None]
        missing = {task.name: task for task in tasks if task.work is not None and serving}
        for task in missing.values():
            seen = [f"/job:{other.job}/task:{other.index}" for other in (*serving, task)]
            request = m.CreateSession(graph_pb2.GraphDef(), config_pb2.ConfigProto(device_filters=seen))
            self._channels[task.name].start(request, _into(answers, task))
        ends = time.monotonic() + self._within
        while missing:
            try:
                task, reply, error = answers.get(timeout=max(0.0, ends - time.monotonic()))
            except queue.Empty:
                names = ", ".join(other.name for other in serving)
                blind = ", ".join(f"{task.name} at {self._address(task)}" for task in missing.values())
                raise HostingError(
                    f"{blind} did not reach {names} within {self._within:g} s: were all servers started with the same "
                    "cluster? Their own output says where they look"
                ) from None
            if error is not None:
                raise HostingError(f"{task.name} at {self._address(task)}: {error.message}")
            self._channels[task.name].start(m.CloseSession(reply.session), lambda *_: None)
            del missing[task.name]

    def _of_client(self, sink: Sink) -> Sink:
        """The clients are here, their servers elsewhere: what they say of themselves gets the servers' addresses.

        That a client is alive says nothing of its server, which is asked itself.
        """

        def pass_on(name: str, message: Message) -> None:
            if message["kind"] == "alive":
                return
            if message["kind"] == "bound":
                self._served.discard(name)
                job, _, index = name.partition(":")
                message = {**message, "address": self._cluster.task_address(job, int(index))}
            elif message["kind"] == "exited":
                self._clients_gone.add(name)
            if message["kind"] in ("bound", "serving"):
                self._client_said[(name, message["kind"])] = message
            sink(name, message)

        return pass_on

    def tell(self, task: str, message: Message) -> None:
        if task in self._served and message["kind"] == "cluster":
            self._sinks[task](task, self._client_said.get((task, "serving"), {"kind": "serving", "blas_threads": None}))
        else:
            self._clients.tell(task, message)

    def close(self, grace: float) -> None:
        with self._lock:
            self._closed.set()
        for watch in self._watches.values():
            watch.end()
        if self._asking is not None:
            self._asking.join()
        self._clients.close(grace)
        for channel in self._channels.values():
            channel.close()
        self._watches.clear()
        self._channels.clear()


class _Watch:
    """Calls `gone` once when a server that has answered cannot be reached any more."""

    def __init__(self, channel: GrpcChannel, gone: Callable[[], None]):
        self._gone, self._ended = gone, False
        self._undo = channel.watch(self._lost)

    def _lost(self) -> None:
        if not self._ended:
            self._ended = True
            self._gone()

    def end(self) -> None:
        self._ended = True
        self._undo()


def _into(answers: queue.SimpleQueue[Any], task: TaskSpec) -> Callable[[Any, OpError | None], None]:
    return lambda reply, error: answers.put((task, reply, error))
