"""A process of a measured cluster: serves a task (ENGINE CLUSTER JOB INDEX) and measures what it is told to.

A request is `{"program": name, "seconds": s}` (or `"until": step`); without a program, it is answered as soon as the task
serves. What is measured is written once: `tf` is tfexp or `tensorflow.compat.v1`. The process ends with its input.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from experiments.benchmarks.measuring import load, serve

# A program: runs one step, and tells what one step is worth (bytes moved, or 1).
Step = Callable[[], Any]

_FLOATS = 25_000_000


def remote_run(tf: Any, cluster: Any, index: int) -> Step:
    """A session at the ps, which is another process: feed a number, multiply, fetch."""
    target = "grpc://" + cluster.task_address("ps", 0)
    x = tf.placeholder(tf.float32, name="x")
    y = tf.multiply(x, 2.0)
    return _step(tf, target, y, {x: 1.5}, [])


def regression(tf: Any, cluster: Any, index: int) -> Step:
    """w x + b on one sample, its parameters on the ps, this worker's gradients applied when they are there."""
    with tf.device(tf.train.replica_device_setter(cluster=cluster, worker_device=f"/job:worker/task:{index}")):
        x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
        w, b = tf.Variable(0.3, name="w"), tf.Variable(0.1, name="b")
        step = tf.train.get_or_create_global_step()
        train = tf.train.GradientDescentOptimizer(0.01).minimize(tf.square(w * x + b - y), global_step=step)
    return _step(tf, _own(cluster, index), train, {x: 1.7, y: 3.1}, [w, b, step], index)


def together(tf: Any, cluster: Any, index: int) -> Step:
    """The same with SyncReplicasOptimizer: both workers' gradients make one step. A step is worth the global step."""
    with tf.device(tf.train.replica_device_setter(cluster=cluster, worker_device=f"/job:worker/task:{index}")):
        x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
        w, b = tf.Variable(0.3, name="sync/w"), tf.Variable(0.1, name="sync/b")
        step = tf.Variable(0, trainable=False, dtype=tf.int64, name="sync/step")
        optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.01), 2, 2)
        train = optimizer.minimize(tf.square(w * x + b - y), global_step=step)
        tokens, runner = optimizer.get_init_tokens_op(0), optimizer.get_chief_queue_runner()
        supervisor = tf.train.Supervisor(
            is_chief=index == 0,
            init_op=tf.variables_initializer([w, b, step]),
            local_init_op=optimizer.chief_init_op if index == 0 else optimizer.local_step_init_op,
            ready_op=tf.report_uninitialized_variables([w, b, step]),
            ready_for_local_init_op=tf.report_uninitialized_variables([w, b, step]),
            global_step=step,
            summary_op=None,
            saver=None,
            recovery_wait_secs=0.1,  # type: ignore[arg-type]  # as TensorFlow takes it
        )
    config = tf.ConfigProto(device_filters=["/job:ps", f"/job:worker/task:{index}"])
    session = supervisor.prepare_or_wait_for_session(_own(cluster, index), config=config)
    if index == 0:
        session.run(tokens)
        supervisor.start_queue_runners(session, [runner])
    fed = {x: np.float32(1.7), y: np.float32(3.1)}
    return lambda: session.run(train, fed)


def in_graph(tf: Any, cluster: Any, index: int) -> Step:
    """The same by one client, whose graph has a copy of the model for each worker and applies the mean of the gradients."""
    optimizer = tf.train.GradientDescentOptimizer(0.01)
    with tf.device("/job:ps/task:0"):
        w, b = tf.Variable(0.3, name="in_graph/w"), tf.Variable(0.1, name="in_graph/b")
        step = tf.Variable(0, trainable=False, dtype=tf.int64, name="in_graph/step")
    fed, pairs = {}, []
    for number in range(2):
        with tf.device(f"/job:worker/task:{number}"):
            x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
            pairs.append(optimizer.compute_gradients(tf.square(w * x + b - y), [w, b]))
        fed |= {x: np.float32(1.7), y: np.float32(3.1)}
    with tf.device("/job:ps/task:0"):
        means = [((first + second) / 2, variable) for (first, variable), (second, _) in zip(*pairs, strict=True)]
        train = optimizer.apply_gradients(means, global_step=step)
    session = tf.Session(_own(cluster, index))
    session.run(tf.variables_initializer([w, b, step]))
    return lambda: session.run(train, fed)


def pull(tf: Any, cluster: Any, index: int) -> Step:
    """A variable of the ps, assigned to one of this worker."""
    there, here = _large(tf, index)
    return _step(tf, _own(cluster, index), here.assign(there).op, {}, [there, here], index)


def push(tf: Any, cluster: Any, index: int) -> Step:
    """A variable of this worker, assigned to one of the ps."""
    there, here = _large(tf, index)
    return _step(tf, _own(cluster, index), there.assign(here).op, {}, [there, here], index)


def _large(tf: Any, index: int) -> tuple[Any, Any]:
    with tf.device("/job:ps/task:0"):
        there = tf.Variable(tf.ones([_FLOATS]), name="there")
    with tf.device(f"/job:worker/task:{index}"):
        here = tf.Variable(tf.ones([_FLOATS]), name="here")
    return there, here


def _own(cluster: Any, index: int) -> str:
    return "grpc://" + str(cluster.task_address("worker", index))


def _step(tf: Any, target: str, fetch: Any, feeds: dict[Any, float], variables: list[Any], index: int = -1) -> Step:
    mine = ["/job:ps"] if index < 0 else ["/job:ps", f"/job:worker/task:{index}"]
    session = tf.Session(target, config=tf.ConfigProto(device_filters=mine))
    if variables:
        session.run(tf.variables_initializer(variables))
    fed = {tensor: np.float32(value) for tensor, value in feeds.items()}
    return lambda: session.run(fetch, fed)


PROGRAMS = {
    "remote_run": remote_run,
    "regression": regression,
    "together": together,
    "in_graph": in_graph,
    "pull": pull,
    "push": push,
}


def measure(step: Step, seconds: float) -> dict[str, float]:
    """Steps per second over that time, and the seconds of the step in the middle."""
    durations = []
    began = last = time.perf_counter()
    while last - began < seconds:
        step()
        now = time.perf_counter()
        durations.append(now - last)
        last = now
    return {"rate": len(durations) / (last - began), "median": sorted(durations)[len(durations) // 2]}


def measure_until(step: Step, last: int) -> dict[str, float]:
    """Steps per second until the step of that number: workers that wait for each other all end there."""
    now = first = step()
    began = time.perf_counter()
    while now < last:
        now = step()
    return {"rate": (now - first) / (time.perf_counter() - began)}


def main(engine: str, spec: str, job: str, index: int) -> None:
    tf = load(engine)
    cluster = tf.train.ClusterSpec(json.loads(spec))
    server = tf.train.Server(cluster, job, index)
    steps: dict[str, Step] = {}

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        name = request.get("program")
        if name is None:
            return {"up": server.target}
        if name not in steps:
            with tf.Graph().as_default():
                steps[name] = PROGRAMS[name](tf, cluster, index)
            for _ in range(0 if "until" in request else 5):
                steps[name]()
        if "until" in request:
            return measure_until(steps[name], request["until"])
        return measure(steps[name], request["seconds"]) if request["seconds"] else {}

    serve(answer)
    os._exit(0)  # TensorFlow's servers cannot be stopped


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
