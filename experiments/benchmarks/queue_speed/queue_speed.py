"""What queues cost: in one session, and at a server that two clients share.

Two programs: a session that enqueues and dequeues a small tensor, in two runs and in one; and a queue at a server that one
client fills while another empties it, each of the three in a process of its own.
"""

from __future__ import annotations

import contextlib
import socket
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from experiments.benchmarks.measuring import Figure, Options, Worker, in_turn, load, microseconds, serve

_SHARED = "shared queue, two clients"

# name -> the ratio that is aimed at
AIMS = {"enqueue, then dequeue": 3.0, "enqueue and dequeue in one run": 3.0, _SHARED: 1.0}


def figures(options: Options) -> Iterator[Figure]:
    with contextlib.ExitStack() as stack:
        engines = {name: Engine(name, python) for name, python in options.engines.items()}
        for engine in engines.values():
            stack.callback(engine.close)
        ask = {
            name: lambda program, engine=engine: engine.microseconds(program, options.seconds)
            for name, engine in engines.items()
        }
        for program, rounds in in_turn(AIMS, ask, options):
            yield Figure("queue", program, "µs", rounds, AIMS[program])


class Engine:
    """The processes of one engine."""

    def __init__(self, name: str, python: str):
        self._workers = {role: Worker(name, python, __spec__.name) for role in ("local", "server", "giver", "taker")}
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self._workers["server"].ask(do="serve", port=port)
        for role in ("giver", "taker"):
            self._workers[role].ask(do="build", program=role, target=f"grpc://localhost:{port}")
        for program in AIMS:
            if program != _SHARED:
                self._workers["local"].ask(do="build", program=program)

    def microseconds(self, program: str, seconds: float) -> float:
        """Per element: in and out."""
        if program != _SHARED:
            return float(self._workers["local"].ask(do="measure", program=program, seconds=seconds))
        giver, taker = self._workers["giver"], self._workers["taker"]
        times = 200
        while True:
            for role, worker in (("giver", giver), ("taker", taker)):
                worker.begin(do="repeat", program=role, times=times)
            took = max(float(giver.answer()), float(taker.answer()))
            if took > seconds / 2:
                return took / times * 1e6
            times *= 2

    def close(self) -> None:
        for worker in self._workers.values():
            worker.close()


# --- a worker: one role of one engine --------------------------------------------------------------------------------


def local(tf: Any, program: str) -> Callable[[], Any]:
    """One step: a pair of an enqueue and a dequeue in a session of its own."""
    import numpy as np

    queue = tf.FIFOQueue(10, [tf.float32], [[2]])
    fed = tf.placeholder(tf.float32, [2])
    give, take = queue.enqueue(fed), queue.dequeue()
    session, feeds = tf.Session(), {fed: np.float32([1, 2])}
    if program == "enqueue and dequeue in one run":
        both = [give, take]
        return lambda: session.run(both, feeds)

    def pair() -> None:
        session.run(give, feeds)
        session.run(take)

    return pair


def client(tf: Any, role: str, target: str) -> Callable[[], Any]:
    """One step: one element in, or one out, at the server."""
    import numpy as np

    queue = tf.FIFOQueue(100, [tf.float32], [[2]], shared_name="shared")
    fed = tf.placeholder(tf.float32, [2])
    give, take = queue.enqueue(fed), queue.dequeue()
    session, feeds = tf.Session(target), {fed: np.float32([1, 2])}
    session.run(queue.size())
    return (lambda: session.run(give, feeds)) if role == "giver" else (lambda: session.run(take))


def work(engine: str) -> None:
    tf = load(engine)
    steps: dict[str, Callable[[], Any]] = {}
    kept: list[Any] = []

    def answer(request: dict[str, Any]) -> float:
        program = request.get("program", "")
        if request["do"] == "serve":
            kept.append(tf.train.Server({"local": [f"localhost:{request['port']}"]}, "local", 0))
        elif request["do"] == "build":
            with tf.Graph().as_default():
                steps[program] = client(tf, program, request["target"]) if "target" in request else local(tf, program)
        elif request["do"] == "measure":
            return microseconds(steps[program], request["seconds"])
        else:
            began = time.perf_counter()
            for _ in range(request["times"]):
                steps[program]()
            return time.perf_counter() - began
        return 0.0

    serve(answer)


if __name__ == "__main__":
    work(sys.argv[1])
