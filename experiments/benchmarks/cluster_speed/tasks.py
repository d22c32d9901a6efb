"""A process of a measured cluster: `tasks.py ENGINE CLUSTER JOB INDEX` serves that task and measures what it is told to.

A line on stdin is a request `{"program": name, "seconds": s}`, a line on stdout its answer. What is measured is written
once: `tf` is tfexp or `tensorflow.compat.v1`. The process ends with its input.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

# A program: runs one step, and tells what one step is worth (bytes moved, or 1).
Step = Callable[[], Any]

_FLOATS = 25_000_000


def load(engine: str) -> Any:
    if engine == "tfexp":
        import tfexp

        return tfexp
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    return tf


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


PROGRAMS = {"remote_run": remote_run, "regression": regression, "pull": pull, "push": push}


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


def main(engine: str, spec: str, job: str, index: int) -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever an engine prints is not an answer
    tf = load(engine)
    cluster = tf.train.ClusterSpec(json.loads(spec))
    server = tf.train.Server(cluster, job, index)
    print(json.dumps({"up": server.target}), file=answers, flush=True)
    steps: dict[str, Step] = {}
    for line in sys.stdin:
        request = json.loads(line)
        name = request["program"]
        if name not in steps:
            with tf.Graph().as_default():
                steps[name] = PROGRAMS[name](tf, cluster, index)
            for _ in range(5):
                steps[name]()
        answer = measure(steps[name], request["seconds"]) if request["seconds"] else {}
        print(json.dumps(answer), file=answers, flush=True)
    os._exit(0)  # TensorFlow's servers cannot be stopped


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
