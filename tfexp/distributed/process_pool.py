"""Jobs in processes of this machine, which stay for the next one."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

from tfexp.distributed.child import Child, pipes
from tfexp.distributed.hosting import HostingError, Message, Say, Sink
from tfexp.distributed.pool import Capacity, Job, Pool
from tfexp.distributed.station import begin_job, serve
from tfexp.runtime import cpu

__all__ = ["ProcessPool"]


class ProcessPool(Pool):
    """What a worker prints outside of its jobs goes to `log`."""

    kind = "process"

    def __init__(self, log: Path = Path(os.devnull)):
        self._log = log
        self._lock = threading.Lock()
        self._workers: dict[str, Child] = {}
        self._idle: list[str] = []
        self._jobs: dict[str, str] = {}
        """The job that a worker has, by the worker's name."""
        self._made = 0

    def open(self, sink: Sink, say: Say) -> Capacity:
        self._sink = sink
        return Capacity(cpu.cores())

    def start(self, job: Job) -> None:
        with self._lock:
            name = self._idle.pop() if self._idle else self._new()
            self._jobs[name] = job.name
            worker = self._workers[name]
        worker.send(begin_job(job))

    def _new(self) -> str:
        self._made += 1
        name = f"worker-{self._made}"
        try:
            self._workers[name] = Child("tfexp.distributed.process_pool", name, self._log, self._hear)
        except OSError as error:
            raise HostingError(f"a process cannot be started: {error}") from error
        return name

    def _hear(self, worker: str, message: Message) -> None:
        if message["kind"] == "exited":
            with self._lock:
                job = self._jobs.pop(worker, None)
                self._workers.pop(worker, None)
                if worker in self._idle:
                    self._idle.remove(worker)
            if job is not None:
                self._sink(job, message)
            return
        job = message.pop("job")
        if message["kind"] in ("ended", "failed"):
            with self._lock:
                self._jobs.pop(worker, None)
                self._idle.append(worker)
        self._sink(job, message)

    def tell(self, job: str, message: Message) -> None:
        with self._lock:
            worker = next((self._workers[name] for name, of in self._jobs.items() if of == job), None)
        if worker is not None:
            worker.send({**message, "job": job})

    def close(self) -> None:
        with self._lock:
            workers = list(self._workers.values())
            self._jobs.clear()
        for worker in workers:
            worker.end(0)


def main(arguments: list[str]) -> int:
    """`python -m tfexp.distributed.process_pool NAME FD`: only a ProcessPool starts this."""
    with pipes(arguments) as link:
        serve(link)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
