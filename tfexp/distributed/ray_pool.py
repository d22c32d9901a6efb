"""Jobs in Ray actors, which stay for the next job that takes the same: `sweep.launcher=ray`.

An actor reserves what its job takes, so Ray finds a machine that has it. What an idle actor of another size holds is given
back when something else needs it.
"""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tfexp.distributed.hosting import HostingError, Message, Say, Sink
from tfexp.distributed.pool import Capacity, Job, Pool
from tfexp.distributed.ray_joining import Membership, cause
from tfexp.distributed.station import begin_job

__all__ = ["RayPool"]


@dataclass
class _Worker:
    handle: Any
    cpus: float
    gpus: float
    job: Job | None = None


class RayPool(Pool):
    """`address`: as `Membership` has it."""

    kind = "ray"

    def __init__(self, address: str):
        self._membership = Membership(address, "sweep.launcher")
        self._lock = threading.Lock()
        self._workers: list[_Worker] = []
        self._readers: list[threading.Thread] = []
        self._closing = self._gone = False

    def open(self, sink: Sink, say: Say) -> Capacity:
        self._sink = sink
        self._membership.join(say)
        import ray

        total = ray.cluster_resources()
        self._capacity = Capacity(total.get("CPU", 0.0), total.get("GPU", 0.0))
        self._secure = {name: value for name, value in os.environ.items() if name.startswith("TFEXP_")}
        self._actor = _actor_class()
        self._membership.watch(self._went_away)
        return self._capacity

    def _went_away(self) -> None:
        with self._lock:
            told, self._gone = self._gone or self._closing, True
        if not told:
            self._sink("", {"kind": "gone", "why": "Ray went away"})

    def start(self, job: Job) -> None:
        if job.cpus + job.gang_cpus > self._capacity.cpus or job.gpus + job.gang_gpus > self._capacity.gpus:
            needs = f"{job.cpus + job.gang_cpus:g} CPUs and {job.gpus + job.gang_gpus:g} GPUs"
            has = f"{self._capacity.cpus:g} and {self._capacity.gpus:g}"
            self._sink(job.name, {"kind": "exited", "why": f"it needs {needs}, and this Ray has {has} in all"})
            return
        with self._lock:
            worker = next((w for w in self._workers if w.job is None and (w.cpus, w.gpus) == (job.cpus, job.gpus)), None)
            if worker is None or job.gang_cpus or job.gang_gpus:
                self._give_back(job, keep=worker)
            if worker is None:
                worker = self._new(job)
            worker.job = job
        worker.handle.tell.remote(begin_job(job))

    def _give_back(self, job: Job, keep: _Worker | None) -> None:
        """End idle actors until what the job and its gang take beside the others fits."""
        import ray

        def lacking() -> bool:
            jobs = [worker.job for worker in self._workers if worker.job is not None]
            cpus = sum(worker.cpus for worker in self._workers) + sum(other.gang_cpus for other in jobs) + job.gang_cpus
            gpus = sum(worker.gpus for worker in self._workers) + sum(other.gang_gpus for other in jobs) + job.gang_gpus
            if keep is None:
                cpus, gpus = cpus + job.cpus, gpus + job.gpus
            return cpus > self._capacity.cpus + 1e-9 or gpus > self._capacity.gpus + 1e-9

        for worker in [worker for worker in self._workers if worker.job is None and worker is not keep]:
            if lacking():
                self._workers.remove(worker)
                ray.kill(worker.handle, no_restart=True)

    def _new(self, job: Job) -> _Worker:
        options = {"num_cpus": job.cpus, "num_gpus": job.gpus, "max_restarts": 0}
        worker = _Worker(self._actor.options(**options).remote(), job.cpus, job.gpus)
        self._workers.append(worker)
        path = [entry or os.getcwd() for entry in sys.path]
        messages = worker.handle.messages.options(num_returns="streaming").remote(path, self._secure)
        reader = threading.Thread(target=self._read, args=[worker, messages], name="tfexp-ray-pool", daemon=True)
        self._readers.append(reader)
        reader.start()
        return worker

    def _read(self, worker: _Worker, messages: Any) -> None:
        """Pass an actor's messages on until it is gone."""
        import ray

        why = "its process ended"
        try:
            for reference in messages:
                message: Message = ray.get(reference)
                name = message.pop("job")
                if message["kind"] in ("ended", "failed"):
                    with self._lock:
                        worker.job = None
                self._sink(name, message)
        except ray.exceptions.RayError as error:
            why = cause(error)
            # We own the actors: if Ray believes that their owner died, it has lost this machine.
            if not self._closing and ("its owner has died" in why or not self._membership.is_there()):
                self._went_away()
                return
        with self._lock:
            job, worker.job = worker.job, None
            if worker in self._workers:
                self._workers.remove(worker)
        if job is not None:
            self._sink(job.name, {"kind": "exited", "why": why})

    def tell(self, job: str, message: Message) -> None:
        with self._lock:
            worker = next((w for w in self._workers if w.job is not None and w.job.name == job), None)
        if worker is not None:
            worker.handle.tell.remote({**message, "job": job})

    def close(self) -> None:
        if "ray" not in sys.modules or self._gone:
            return
        import ray

        self._closing = True
        if ray.is_initialized():
            with self._lock:
                workers = list(self._workers)
                for worker in workers:
                    worker.job = None  # nobody asks any more
            for worker in workers:
                ray.kill(worker.handle, no_restart=True)
            self._membership.wait_for(self._readers)
        self._membership.leave()
        self._workers.clear()
        self._readers.clear()


def _actor_class() -> Any:
    """The actor's class, made in a function so that Ray sends the code itself: nothing of tfexp is imported in the actor's
    process before its import path is set."""
    try:
        import ray
    except ImportError as error:
        raise HostingError(f"Ray cannot be imported: {error}") from error

    class Worker:
        def __init__(self) -> None:
            # Ray's handler would raise at the next message, which is lost, and then wait for what is to come after it.
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            self._inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
            self._outbox: queue.SimpleQueue[Any] = queue.SimpleQueue()

        @ray.method(concurrency_group="messages")  # type: ignore[untyped-decorator]
        def messages(self, path: list[str], environment: dict[str, str]) -> Iterator[Any]:
            """Do jobs, one after the other, and yield their messages."""
            import os
            import sys
            import threading

            # Ray sets it for whatever it starts; tfexp shares the cores by itself.
            os.environ.pop("OMP_NUM_THREADS", None)
            os.environ.update(environment)
            sys.path.extend(entry for entry in path if entry not in sys.path and os.path.exists(entry))
            inbox, outbox = self._inbox, self._outbox

            class Link:
                def send(self, message: Any) -> None:
                    outbox.put(message)

                def receive(self) -> Any:
                    return inbox.get()

                def abandon(self) -> None:
                    os._exit(1)

            def run() -> None:
                from tfexp.distributed.station import serve

                try:
                    serve(Link())
                finally:
                    outbox.put(None)

            threading.Thread(target=run, daemon=True).start()
            while (message := outbox.get()) is not None:
                yield message

        def tell(self, message: Any) -> None:
            self._inbox.put(message)

    # A thread for each: what is told comes in order, while messages are on their way.
    return ray.remote(concurrency_groups={"messages": 1})(Worker)
