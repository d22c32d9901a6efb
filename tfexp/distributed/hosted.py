"""A task's own side of its hosting: it binds a port, learns the cluster, serves, works, and ends when it is told to."""

from __future__ import annotations

import collections
import contextlib
import os
import queue
import socket
import sys
import threading
import time
import traceback
from typing import Any, Protocol

from tfexp.core.errors import AbortedError, CancelledError, OpError, UnavailableError, UnknownError
from tfexp.distributed.cluster import ClusterSpec
from tfexp.distributed.hosting import Message, Work
from tfexp.distributed.server import Server
from tfexp.runtime import cpu

__all__ = ["ALIVE_EVERY", "Link", "Member", "run_task"]

ALIVE_EVERY = 1.0
"""Seconds between two words of a task that has nothing else to say."""


class Link(Protocol):
    """A task's way to whoever hosts it."""

    def send(self, message: Message) -> None: ...

    def receive(self) -> Message:
        """The next message; EOFError when the other side is gone."""
        ...

    def abandon(self) -> None:
        """The other side is gone: end this process at once, with whatever it is doing."""
        ...


class Member:
    """What a task's work has: who it is, its cluster, its session target, and messages to and from the run's driver."""

    def __init__(self, job: str, index: int, link: Link):
        self.job, self.index = job, index
        self.name = f"{job}:{index}"
        self.cluster = ClusterSpec({})
        self.target = ""
        self.stopping = False
        """Whether the work has been asked to end; looked at between steps."""
        self.server: Server | None = None
        self._link = link
        self._inbox: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self._early: collections.deque[Message] = collections.deque()
        self._moves: list[Message] = []  # since this task was told its cluster, as far as its server does not know
        self._moving = threading.Lock()
        self._exit = threading.Event()

    def send(self, kind: str, **content: Any) -> None:
        self._link.send({"kind": kind, **content})

    def wait_for(self, *kinds: str) -> Message:
        """The first message of one of these kinds that was not waited for yet; others wait for whoever asks for them."""
        for message in self._early:
            if message["kind"] in kinds:
                self._early.remove(message)
                return message
        while (message := self._inbox.get())["kind"] not in kinds:
            self._early.append(message)
        return message

    def listen(self) -> None:
        """Take what comes in until the other side is gone, or says that this is the end; runs in a thread of its own."""
        while True:
            try:
                message = self._link.receive()
            except EOFError:
                self._link.abandon()
                return
            if message["kind"] == "stop":
                self.stopping = True
            elif message["kind"] == "exit":
                self._exit.set()
                return
            elif message["kind"] == "moved":
                self._moved(message)
            else:
                if message["kind"] == "cluster":
                    self._moves.clear()
                self._inbox.put(message)

    def _moved(self, message: Message) -> None:
        """Another task is another process now: what still waits for the former one ends."""
        with self._moving:
            self._moves.append(message)
        if self.server is not None:
            self.take_over()

    def take_over(self) -> None:
        """Have the cluster as it is by the latest word, if there was any."""
        with self._moving:
            moves, self._moves = self._moves, []
            for message in moves:
                self.cluster = _cluster(message)
                if self.server is not None:
                    job, _, index = message["task"].partition(":")
                    self.server.moved(self.cluster, job, int(index))

    def say_alive(self) -> None:
        """Let the driver hear of this process as long as its threads run; runs in a thread of its own."""
        with contextlib.suppress(OSError):  # nobody listens any more, which `listen` deals with
            while not self._exit.wait(ALIVE_EVERY):
                self.send("alive")

    def wait_for_exit(self, seconds: float | None = None) -> None:
        """Until the driver lets the task go, but at most so long."""
        self._exit.wait(seconds)


def run_task(link: Link) -> None:
    """Everything that a task's process does, from `begin` to `exit`."""
    began = time.perf_counter()
    begin = link.receive()
    os.environ.update(begin["environment"])
    member = Member(begin["job"], begin["index"], link)
    for target, name in ((member.listen, "tfexp-hosted"), (member.say_alive, "tfexp-alive")):
        threading.Thread(target=target, name=name, daemon=True).start()
    server: Server | None = None
    try:
        server = _serve(member, begin)
        if begin["work"] is not None:
            work = Work(**begin["work"])
            print(f"{member.name} works after {time.perf_counter() - began:.2f} s", flush=True)
            member.send("ended", result=work.function()(member, work.arguments))
        member.wait_for_exit()
    except Exception as error:
        traceback.print_exc()
        sys.stderr.flush()
        member.send("failed", **_described(error))
        member.wait_for_exit()
    finally:
        if server is not None:
            server.stop()


def _serve(member: Member, begin: Message) -> Server | None:
    """Bind, tell where, wait for the others' addresses, serve. None where the server is another process."""
    server: Server | None = None
    if begin["target"] is None:
        server = _bound(member, begin["host"], begin["port"])
    if begin["work"] is not None:
        Work(**begin["work"]).function()  # its imports take longest: all tasks do them at once
    member.send(
        "bound",
        address=None if server is None else server.address,
        host=socket.gethostname(),
        pid=os.getpid(),
        place=begin["place"],
        cores=cpu.cores(),
    )
    told = member.wait_for("cluster")
    member.cluster = _cluster(told)
    cpu.share_cores(told["tasks_on_host"])
    if server is None:
        member.target = begin["target"]
    else:
        server.complete(member.cluster)
        member.server = server
        member.take_over()
        server.start()
        member.target = server.target
        print(f"{member.name} serves at {server.target}", flush=True)
    member.send("serving", blas_threads=_blas_threads())
    return server


def _bound(member: Member, host: str, port: int) -> Server:
    """The task's server, not started: at the port where the others look for it if that is free, else at any."""
    for wanted in (port, 0) if port else (0,):
        own = ClusterSpec({member.job: {member.index: f"{host}:{wanted}"}})
        try:
            return Server(own, member.job, member.index, start=False)
        except UnknownError as error:
            if not wanted:
                raise
            print(f"{member.name} takes another port: {error.message}", flush=True)
    raise AssertionError("port 0 is any port")


def _cluster(message: Message) -> ClusterSpec:
    return ClusterSpec({job: {int(i): a for i, a in tasks.items()} for job, tasks in message["tasks"].items()})


def _blas_threads() -> int | None:
    pools = cpu.report()["blas"]
    return pools[0]["num_threads"] if pools else None


def _described(error: Exception) -> Message:
    """`of_a_peer`: the error says that another task is gone or has ended the step, which is then the one to look at."""
    return {
        "error": type(error).__name__,
        "message": error.message if isinstance(error, OpError) else str(error),
        "of_a_peer": isinstance(error, UnavailableError | AbortedError | CancelledError),
    }
