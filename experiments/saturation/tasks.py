"""A process of a measured cluster: serves a task (ENGINE CLUSTER JOB INDEX), trains as it is told, or measures work alone.

A request is one of the functions below by its name, with what that takes. The process ends with its input.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import tfexp as tf
from experiments.benchmarks.measuring import serve
from experiments.saturation.training import Model, Rule, Training


class Trainer:
    """What a worker's process trains."""

    def __init__(self, cluster: Any, index: int) -> None:
        self._target, self._index = "grpc://" + cluster.task_address("worker", index), index
        self._session: Any = None
        self._program: Any = None
        self._updates: threading.Thread | None = None
        self._over = threading.Event()
        self._reached = 0

    def build(self, model: dict[str, Any], rule: dict[str, Any], servers: int, workers: int, name: str) -> dict[str, Any]:
        """The training under a name that no other has had; the chief's variables are initialized."""
        config = tf.ConfigProto(device_filters=["/job:ps", f"/job:worker/task:{self._index}"])
        with tf.Graph().as_default(), tf.container(name):
            program = Training(Model(**model), Rule(**rule), servers, workers, self._index)
            self._updates, self._over = None, threading.Event()
            self._session, self._program = tf.Session(self._target, config=config), program
        for targets in [program.initialize, *program.tokens] if self._index == 0 else [program.join]:
            self._session.run(targets)
        if self._index == 0 and program.update is not None:
            self._updates = threading.Thread(target=self._update, args=(self._session, program.update), daemon=True)
            self._updates.start()
        return {}

    def _update(self, session: Any, update: Any) -> None:
        while not self._over.is_set():
            try:
                session.run(update)
            except (tf.errors.CancelledError, tf.errors.AbortedError, RuntimeError):  # RuntimeError: closed before it began
                if not self._over.is_set():
                    raise

    def end(self) -> dict[str, Any]:
        self._over.set()
        self._session.close()
        if self._updates is not None:
            self._updates.join()
        return {}

    def train(self, seconds: float) -> dict[str, float]:
        """Steps by oneself, for so long."""
        return self._counted(lambda began, steps: time.perf_counter() - began < seconds)

    def train_together(self, steps: int) -> dict[str, float]:
        """So many steps with others: until the token that says so comes, whoever made the gradients."""
        last = int(self._session.run(self._program.variables[-1])) + steps
        self._reached = 0
        return self._counted(lambda began, made: self._reached < last)

    def _counted(self, goes_on: Callable[[float, int], bool]) -> dict[str, float]:
        session, train = self._session, self._program.train
        began, computed, steps = time.perf_counter(), time.process_time(), 0
        while goes_on(began, steps):
            value = session.run(train)
            self._reached = 0 if value is None else int(value)
            steps += 1
        return {"steps": steps, "seconds": time.perf_counter() - began, "computed": time.process_time() - computed}


def computed() -> dict[str, float]:
    """Seconds of a core that this process has had."""
    return {"computed": time.process_time()}


def compute(model: dict[str, Any], seconds: float) -> dict[str, float]:
    """What the gradients of a model cost, all in this process."""
    with tf.Graph().as_default(), tf.Session() as session:
        program = Training(Model(**model), Rule(), 0, 1, 0)
        gradients = [op for op in session.graph.get_operations() if op.type == "ApplyGradientDescent"]
        fetched = [op.inputs[2] for op in gradients]
        session.run(program.initialize)
        return {"cost": _cost(lambda: session.run([t.op for t in fetched]), seconds)}


def work_on_bytes(floats: int, seconds: float) -> dict[str, float]:
    """What a byte costs that is applied to a variable, gathered in an accumulator, and averaged there."""
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.Variable(tf.zeros([floats]))
        gradient = tf.Variable(tf.ones([floats]))
        session.run(tf.global_variables_initializer())
        apply = tf.train.GradientDescentOptimizer(0.1).apply_gradients([(gradient.value(), variable)])
        sums = tf.ConditionalAccumulator(tf.float32, [floats])
        add, take = sums.apply_grad(gradient.value(), local_step=1 << 60), sums.take_grad(2).op

        def gather() -> None:
            session.run(add)
            session.run(add)

        def average() -> None:
            gather()
            session.run(take)

        gathering = _cost(gather, seconds)
        averaging = _cost(average, seconds) - gathering  # of two, as a gathered gradient more costs no time to average
        costs = {"applying": _cost(lambda: session.run(apply), seconds), "gathering": gathering / 2, "averaging": averaging}
        return {name: max(0.0, cost) / (4 * floats) for name, cost in costs.items()}


def _cost(work: Callable[[], Any], seconds: float) -> float:
    """Seconds of a core for a call: the least of five stretches."""
    work()
    began = time.perf_counter()
    work()
    count = max(1, int(seconds / 5 / max(time.perf_counter() - began, 1e-6)))
    stretches = []
    for _ in range(5):
        before = time.process_time()
        for _ in range(count):
            work()
        stretches.append((time.process_time() - before) / count)
    return float(np.min(stretches))


def main(spec: str, job: str, index: int) -> None:
    cluster = tf.train.ClusterSpec(json.loads(spec))
    server = tf.train.Server(cluster, job, index)
    trainer = Trainer(cluster, index) if job == "worker" else None
    known: dict[str, Callable[..., Any]] = {
        "up": lambda: {"target": server.target},
        "computed": computed,
        "compute": compute,
        "work_on_bytes": work_on_bytes,
    }
    if trainer is not None:
        known |= {f.__name__: f for f in (trainer.build, trainer.end, trainer.train, trainer.train_together)}
    serve(lambda request: known[request.pop("what")](**request))
    os._exit(0)  # what a worker waits for may never come


if __name__ == "__main__":
    main(sys.argv[2], sys.argv[3], int(sys.argv[4]))
