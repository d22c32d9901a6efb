"""Real TensorFlow as a peer, in a process of its own: `server CLUSTER JOB TASK`, or `client TARGET CLUSTER`.

A server says `up` and serves until its input ends. A client trains and prints what it saw as JSON.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import numpy as np

from tests.golden import oracle


def build(tf: Any, cluster: dict[str, list[str]]) -> tuple[Any, ...]:
    """A regression, with its parameters on the cluster's ps."""
    with tf.device(tf.train.replica_device_setter(cluster=tf.train.ClusterSpec(cluster))):
        x = tf.placeholder(tf.float32, [None, 3])
        y = tf.placeholder(tf.float32, [None, 1])
        w = tf.Variable(tf.zeros([3, 1]), name="w")
        step = tf.train.get_or_create_global_step()
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
        train = tf.train.AdamOptimizer(0.1).minimize(loss, global_step=step)
        init = tf.global_variables_initializer()
    return x, y, w, step, loss, train, init


def train(tf: Any, target: str, cluster: dict[str, list[str]]) -> dict[str, Any]:
    """The outcome of 60 steps at `target`, and the errors that a session there ends with."""
    x, y, w, step, loss, update, init = build(tf, cluster)
    xs = np.random.default_rng(3).normal(size=(17, 3)).astype(np.float32)
    feed = {x: xs, y: xs @ np.array([[1.0], [2.0], [3.0]], np.float32)}
    errors = []
    with tf.Session(target) as sess:
        sess.run(init)
        for _ in range(60):
            sess.run(update, feed)
        values, steps, left = sess.run([w, step, loss], feed)
        unset = tf.Variable(1.0, name="unset")
        for fetch, feeds in (
            (loss, {x: xs, y: xs[:5, :1]}),
            (unset + 1.0, {}),
            (tf.check_numerics(x, "bad"), {x: xs * np.nan}),
        ):
            try:
                sess.run(fetch, feeds)
            except tf.errors.OpError as error:
                errors.append([type(error).__name__, error.op.name if error.op is not None else ""])
        large = np.arange(20_011, dtype=np.float32)
        with tf.device("/job:ps/task:0"):
            kept = tf.Variable(tf.zeros([20_011]), name="kept")
        with tf.device("/job:worker/task:0"):
            given = tf.placeholder(tf.float32, [None])
            doubled = kept * 2.0
        sess.run(kept.assign(given * 3.0), {given: large})
        large_error = float(np.abs(sess.run(doubled) - 6 * large).max())
        words = sess.run(tf.strings.join([tf.constant(["a", "b"]), "!"])).tolist()
        devices = sorted(d.name for d in sess.list_devices())
    return {
        "w": values.tolist(),
        "steps": int(steps),
        "loss": float(left),
        "errors": errors,
        "large_error": large_error,
        "words": [word.decode() for word in words],
        "devices": devices,
    }


def main(role: str, *words: str) -> None:
    tf = oracle.tensorflow()
    if role == "client":
        print(json.dumps(train(tf, words[0], json.loads(words[1]))))
        return
    server = tf.train.Server(tf.train.ClusterSpec(json.loads(words[0])), words[1], int(words[2]))
    print("up", server.target, flush=True)
    sys.stdin.read()
    os._exit(0)  # TensorFlow's servers cannot be stopped


if __name__ == "__main__":
    main(*sys.argv[1:])
