"""Jobs in a thread of this process, one at a time."""

from __future__ import annotations

import contextlib
import threading

from tfexp.distributed.hosting import Message, Say, Sink
from tfexp.distributed.pool import Capacity, Job, Pool
from tfexp.distributed.station import Station, do, unwritten
from tfexp.runtime import cpu

__all__ = ["LocalPool"]


class LocalPool(Pool):
    """What a job prints through Python's `sys.stdout` and `sys.stderr` goes to its log; for as long as a job runs, so does
    what any other thread prints there."""

    kind = "local"
    most = 1

    def __init__(self) -> None:
        self._name = ""
        self._station: Station | None = None
        self._thread: threading.Thread | None = None

    def open(self, sink: Sink, say: Say) -> Capacity:
        self._sink = sink
        return Capacity(cpu.cores())

    def start(self, job: Job) -> None:
        if self._thread is not None:
            self._thread.join()  # it has said its last word and is about to end
        station = Station(lambda message: self._sink(job.name, message))
        self._name, self._station = job.name, station

        def run() -> None:
            try:
                with (
                    job.log.open("a", encoding="utf-8", buffering=1) as log,
                    contextlib.redirect_stdout(log),
                    contextlib.redirect_stderr(log),
                ):
                    last = do(job.work, station)
            except OSError as error:
                last = unwritten(job.log, error)
            self._sink(job.name, last)

        self._thread = threading.Thread(target=run, name=f"tfexp-{job.name}", daemon=True)
        self._thread.start()

    def tell(self, job: str, message: Message) -> None:
        if self._station is not None and job == self._name:
            self._station.hear(message)

    def close(self) -> None:
        """Asks the job to end, and waits for it: a thread cannot be ended from outside."""
        if self._thread is not None and self._station is not None:
            self._station.hear({"kind": "stop"})
            self._station.hear({"kind": "answer", "stop": True})
            self._thread.join()
        self._thread = None
