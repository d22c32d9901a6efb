"""A job's own side of its pool: what it is called with, and the loop of a worker process that does one after the other."""

from __future__ import annotations

import contextlib
import os
import queue
import socket
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tfexp.distributed.hosted import Link
from tfexp.distributed.hosting import Message, Work
from tfexp.distributed.pool import Job
from tfexp.runtime import cpu

__all__ = ["Station", "begin_job", "do", "serve", "unwritten"]


class Station:
    """What a job has beside its arguments: messages to whoever started it, and whether it is asked to end."""

    def __init__(self, send: Callable[[Message], None]):
        self.stopping = False
        """Looked at when it suits."""
        self._send = send
        self._answers: queue.SimpleQueue[Message] = queue.SimpleQueue()

    def send(self, kind: str, **content: Any) -> None:
        self._send({"kind": kind, **content})

    def ask(self, kind: str, **content: Any) -> Message:
        """Send, and wait for the answer."""
        self._send({"kind": kind, **content, "asked": True})
        return self._answers.get()

    def hear(self, message: Message) -> None:
        if message["kind"] == "stop":
            self.stopping = True
        else:
            self._answers.put(message)


def do(work: Work, station: Station) -> Message:
    """Do the job; its last message. What it raises is printed, too, as is the end of a program (`sys.exit`)."""
    try:
        return {"kind": "ended", "result": work.function()(station, work.arguments)}
    except (Exception, SystemExit) as error:
        traceback.print_exc()
        return {"kind": "failed", "error": type(error).__name__, "message": str(error), "traceback": traceback.format_exc()}


def begin_job(job: Job) -> Message:
    """What a worker process is told to let it begin."""
    work = {"target": job.work.target, "arguments": job.work.arguments}
    return {"kind": "job", "name": job.name, "work": work, "log": str(job.log), "cpus": job.cpus}


def serve(link: Link) -> None:
    """Everything that a worker process does: jobs, one after the other, until it is told to `exit`."""
    inbox: queue.SimpleQueue[Message] = queue.SimpleQueue()
    stations: dict[str, Station] = {}

    def listen() -> None:
        while True:
            try:
                message = link.receive()
            except EOFError:
                link.abandon()
                return
            if message["kind"] in ("job", "exit"):
                if message["kind"] == "job":
                    stations[message["name"]] = Station(_named(message["name"], link))
                inbox.put(message)
            elif message["job"] in stations:
                stations[message["job"]].hear(message)

    threading.Thread(target=listen, name="tfexp-station", daemon=True).start()
    while (message := inbox.get())["kind"] == "job":
        cpu.share_cores(max(1, int(cpu.cores() // max(message["cpus"], 1))))
        last: Message
        try:
            with _printing_to(Path(message["log"])):
                last = do(Work(**message["work"]), stations[message["name"]])
        except OSError as error:
            last = unwritten(message["log"], error)
        del stations[message["name"]]
        link.send({"job": message["name"], **last})


def unwritten(log: str | Path, error: OSError) -> Message:
    """The last message of a job whose log cannot be written."""
    elsewhere = "; its folder must be on storage that all machines have" if isinstance(error, FileNotFoundError) else ""
    problem = f"{log} cannot be written on {socket.gethostname()}: {error.strerror}{elsewhere}"
    return {"kind": "failed", "error": type(error).__name__, "message": problem}


def _named(job: str, link: Link) -> Callable[[Message], None]:
    return lambda message: link.send({"job": job, **message})


@contextlib.contextmanager
def _printing_to(log: Path) -> Iterator[None]:
    """Let the process's standard output and error, whoever writes them, go to the end of the file."""
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    before = [os.dup(1), os.dup(2)]
    try:
        for number in (1, 2):
            os.dup2(descriptor, number)
        yield
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            for number, saved in zip((1, 2), before, strict=True):
                os.dup2(saved, number)
                os.close(saved)
            os.close(descriptor)
