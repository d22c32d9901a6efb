"""Tasks as Ray actors, ganged by a placement group: `cluster.hosting=ray`.

Ray places the actors, starts and ends their processes, and carries the few messages of a run's life; steps go over the
tasks' own servers. An actor's messages come as a generator whose end, or failure, is the end of its process.
"""

from __future__ import annotations

import os
import queue
import secrets
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tfexp.core.wording import plural
from tfexp.distributed.hosting import (
    Hosting,
    HostingError,
    Message,
    Say,
    Sink,
    TaskSpec,
    begin_message,
    port_of,
)
from tfexp.distributed.ray_joining import Membership, amounts, cause
from tfexp.distributed.ray_nodes import another_node, answers

__all__ = ["RayHosting"]

# In bytes. A bundle must hold something, and for a task that takes no CPU, all CPUs may be taken by others.
_LEAST_MEMORY = 1
_RESOLUTION = 4  # digits after the point, of Ray's amounts
_PLACE_REMINDER = 5.0


class RayHosting(Hosting):
    """`address`: "local" (a Ray of our own on this machine), "auto" (the one that this machine belongs to) or host:port.

    A Ray that this process has joined already is used, and left running. `strategy`: PACK or SPREAD.
    """

    kind = "ray"

    def __init__(self, address: str, strategy: str = "PACK"):
        self._membership, self._strategy = Membership(address, "cluster.hosting"), strategy
        self._actors: dict[str, Any] = {}
        self._bundles: dict[str, int] = {}
        self._nodes: dict[str, str] = {}
        self._class: Any = None
        self._path: list[str] = []
        self._secure: dict[str, str] = {}
        self._one_machine = True
        self._readers: list[threading.Thread] = []
        self._group: Any = None

    # --- start -----------------------------------------------------------------------------------------------------

    def start(self, tasks: Sequence[TaskSpec], sink: Sink, say: Say) -> None:
        try:
            self._membership.join(say)
            self._refuse_what_cannot_fit(tasks)
            self._place(tasks, say)
            self._begin(tasks, sink)
            self._membership.watch(lambda: sink("", {"kind": "gone", "why": "Ray went away"}))
        except BaseException:
            self.close(0)
            raise

    def _refuse_what_cannot_fit(self, tasks: Sequence[TaskSpec]) -> None:
        """A group that can never fit would wait for ever: compare with what there is in all."""
        import ray

        total = ray.cluster_resources()
        nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
        for resource, of in (("CPU", "cpus"), ("GPU", "gpus")):
            needed = _sum(tasks)[resource]
            there = total.get(resource, 0.0)
            if needed > there:
                raise HostingError(
                    f"{plural(len(tasks), 'task')} need {needed:g} {resource}s and this Ray has {there:g} in all: give "
                    f"smaller cluster.worker_{of} or cluster.ps_{of}, fewer tasks, or another cluster.address"
                )
            largest = max(tasks, key=lambda task: getattr(task, of))
            most = max((node.get(resource, 0.0) for node in nodes), default=0.0)
            if getattr(largest, of) > most:
                raise HostingError(
                    f"{largest.name} needs {getattr(largest, of):g} {resource}s on one machine and the largest of this "
                    f"Ray's has {most:g}: give a smaller cluster.{largest.job}_{of}"
                )

    def _place(self, tasks: Sequence[TaskSpec], say: Say) -> None:
        import ray
        from ray.util.placement_group import placement_group

        hosts = {node["NodeManagerAddress"] for node in ray.nodes() if node["Alive"]}
        bundles = []
        for task in tasks:
            bundle: dict[str, float] = {"CPU": task.cpus} if task.cpus else {"memory": _LEAST_MEMORY}
            if task.gpus:
                bundle["GPU"] = task.gpus
            if len(hosts) > 1 and (task.job, task.index) == ("worker", 0):
                # The chief writes into the run's folder, which is here.
                bundle[f"node:{ray.util.get_node_ip_address()}"] = 0.001
            bundles.append(bundle)
        free = amounts(ray.available_resources())
        say(f"waiting for a place for {plural(len(tasks), 'task')}: {amounts(_sum(tasks))} of the {free} that are free")
        self._group = placement_group(bundles, strategy=self._strategy)
        while not self._group.wait(_PLACE_REMINDER):
            say(f"still waiting for a place: free are {amounts(ray.available_resources())}")

    def _actor(self, task: TaskSpec) -> Any:
        """A new actor for the task, in its place."""
        return self._class.options(
            name=None,
            num_cpus=task.cpus,
            num_gpus=task.gpus,
            max_restarts=0,
            scheduling_strategy=self._place_of(task),
        ).remote()

    def _place_of(self, task: TaskSpec) -> Any:
        """The task's place in the group; while that is on a machine that is lost, on another one."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy, PlacementGroupSchedulingStrategy

        node = self._nodes.get(task.name)
        if node is not None and not answers(node):
            others = [other for name, other in self._nodes.items() if name != task.name]
            another = another_node(node, {"CPU": task.cpus, "GPU": task.gpus}, others)
            if another is not None:
                return NodeAffinitySchedulingStrategy(another, soft=True)
        return PlacementGroupSchedulingStrategy(self._group, placement_group_bundle_index=self._bundles[task.name])

    def _begin(self, tasks: Sequence[TaskSpec], sink: Sink) -> None:
        import ray

        self._class = _actor_class()
        self._bundles = {task.name: bundle for bundle, task in enumerate(tasks)}
        self._actors = {task.name: self._actor(task) for task in tasks}
        self._path = [entry or os.getcwd() for entry in sys.path]
        try:
            asked = [actor.where.remote(self._path) for actor in self._actors.values()]
            places = dict(zip(self._actors, ray.get(asked), strict=True))
        except ray.exceptions.RayError as error:
            raise HostingError(f"a task's process cannot be started: {cause(error)}") from error
        self._one_machine = one_machine = len({host for host, _, _ in places.values()}) == 1
        # What the driver was told of who may talk to its servers holds for its tasks; between machines somebody must know.
        secure = {name: value for name, value in os.environ.items() if name.startswith("TFEXP_")}
        if not one_machine and not {"TFEXP_TOKEN", "TFEXP_TOKEN_FILE"} & secure.keys():
            secure["TFEXP_TOKEN"] = secrets.token_hex(32)
        self._secure = secure
        for task in tasks:
            self._follow(task, self._actors[task.name], places[task.name], 0, sink)

    def _follow(self, task: TaskSpec, actor: Any, place: tuple[str, str, str], port: int, sink: Sink) -> None:
        """Let the actor begin, and read what it says in a thread of its own."""
        _, ip, node = place
        self._nodes[task.name] = node
        host = "localhost" if self._one_machine else ip
        begin = begin_message(task, host, port=port, place=f"Ray node {node}", environment=self._secure)
        messages = actor.messages.options(num_returns="streaming").remote(begin)
        self._start_reader(task, lambda: _read(task.name, messages, sink))

    def _start_reader(self, task: TaskSpec, read: Callable[[], None]) -> None:
        reader = threading.Thread(target=read, name=f"tfexp-{task.name}", daemon=True)
        self._readers.append(reader)
        reader.start()

    def restart(self, task: TaskSpec, address: str | None, sink: Sink) -> None:
        """A new actor in the task's place, which is on another machine when its own is gone."""
        import ray

        ray.kill(self._actors[task.name], no_restart=True)
        actor = self._actors[task.name] = self._actor(task)

        def begin() -> None:
            try:
                place = ray.get(actor.where.remote(self._path))
            except ray.exceptions.RayError as error:
                sink(task.name, {"kind": "exited", "why": f"its process cannot be started: {cause(error)}"})
                return
            self._follow(task, actor, place, port_of(address), sink)

        self._start_reader(task, begin)

    # --- messages and end -------------------------------------------------------------------------------------------

    def tell(self, task: str, message: Message) -> None:
        actor = self._actors.get(task)
        if actor is not None:
            actor.tell.remote(message)

    def close(self, grace: float) -> None:
        if "ray" not in sys.modules:
            return
        import ray

        ends = time.monotonic() + grace
        if ray.is_initialized():
            for reader in list(self._readers):
                reader.join(max(0.0, ends - time.monotonic()))
            for actor in self._actors.values():
                ray.kill(actor, no_restart=True)
            self._membership.wait_for(self._readers)  # one that begins a task adds the one that reads from it
            if self._group is not None and self._membership.is_there():
                ray.util.remove_placement_group(self._group)
            self._membership.leave()
        self._actors.clear()
        self._readers.clear()
        self._group = None


def _read(name: str, messages: Any, sink: Sink) -> None:
    """Pass an actor's messages on until it is gone."""
    import ray

    why = "its process ended"
    try:
        for reference in messages:
            sink(name, ray.get(reference))
    except ray.exceptions.RayError as error:
        why = cause(error)
    sink(name, {"kind": "exited", "why": why})


def _actor_class() -> Any:
    """The actor's class. It is made in a function so that Ray sends the code itself: nothing of tfexp is imported in the
    actor's process before the threads of its BLAS and its import path are set."""
    import ray

    class Task:
        def __init__(self) -> None:
            # Ray's handler would raise at the next message, which is lost, and then wait for what is to come after it.
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            self._inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
            self._outbox: queue.SimpleQueue[Any] = queue.SimpleQueue()

        def where(self, path: list[str]) -> tuple[str, str, str]:
            """The machine that this is, its address and Ray's id of it; `path` is where the driver finds its modules."""
            import os
            import socket
            import sys

            import ray

            # Ray sets it for whatever it starts; tfexp shares the cores among the tasks by itself.
            os.environ.pop("OMP_NUM_THREADS", None)
            sys.path.extend(entry for entry in path if entry not in sys.path and os.path.exists(entry))
            node = ray.get_runtime_context().get_node_id()
            return socket.gethostname(), ray.util.get_node_ip_address(), node

        @ray.method(concurrency_group="messages")  # type: ignore[untyped-decorator]
        def messages(self, begin: Any) -> Iterator[Any]:
            """Run the task, and yield its messages until it ends."""
            import os
            import select
            import sys
            import threading

            outbox, inbox = self._outbox, self._inbox
            reading, writing = os.pipe()
            os.set_blocking(reading, False)
            for descriptor in (1, 2):
                os.dup2(writing, descriptor)
            os.close(writing)
            sys.stdout = os.fdopen(1, "w", buffering=1, closefd=False)
            sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False)

            lock = threading.Lock()

            def take_printed() -> None:
                """Put what is in the pipe into the outbox. The caller holds the lock."""
                try:
                    printed = os.read(reading, 1 << 20)  # more than a pipe holds, so this is all of it
                except BlockingIOError:
                    return
                outbox.put({"kind": "log", "printed": printed})

            def read_log() -> None:
                while True:
                    select.select([reading], [], [])
                    with lock:
                        take_printed()

            class Link:
                """Writes pending output to the log before it sends the message."""

                def send(self, message: Any) -> None:
                    for stream in (sys.stdout, sys.stderr):
                        stream.flush()
                    with lock:
                        take_printed()
                        outbox.put(message)

                def receive(self) -> Any:
                    return inbox.get()

                def abandon(self) -> None:
                    os._exit(1)

            def run() -> None:
                link = Link()
                try:
                    from tfexp.distributed.hosted import run_task

                    run_task(link)
                except BaseException as error:
                    link.send({"kind": "failed", "error": type(error).__name__, "message": str(error), "of_a_peer": False})
                finally:
                    link.send(None)

            inbox.put(begin)
            threading.Thread(target=read_log, daemon=True).start()
            threading.Thread(target=run, daemon=True).start()
            while (message := outbox.get()) is not None:
                yield message

        def tell(self, message: Any) -> None:
            self._inbox.put(message)

    # A thread for each: what is told comes in order, while messages are on their way.
    return ray.remote(concurrency_groups={"messages": 1})(Task)


def _sum(tasks: Sequence[TaskSpec]) -> dict[str, float]:
    cpus, gpus = sum(task.cpus for task in tasks), sum(task.gpus for task in tasks)
    return {"CPU": round(cpus, _RESOLUTION), "GPU": round(gpus, _RESOLUTION)}
