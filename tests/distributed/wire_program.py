"""A client's program, for either engine, that meets on the wire what a session can: values, growth, and errors.

Run by name (`python -m tests.distributed.wire_program TARGET CLUSTER`) it is TensorFlow's client, and prints what it saw.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

from tests.distributed.tensorflow_peer import build

STEPS = 5
# Long enough for a server to find that it waits, short enough for a test.
EMPTY_QUEUE_MS = 200


def converse(tf: Any, target: str, cluster: dict[str, list[str]]) -> dict[str, Any]:
    """What the program saw at `target`, the worker of `cluster`, as JSON can hold it."""
    x, y, w, step, loss, update, init = build(tf, cluster)
    xs = np.random.default_rng(3).normal(size=(7, 3)).astype(np.float32)
    feed = {x: xs, y: xs @ np.array([[1.0], [2.0], [3.0]], np.float32)}
    seen: dict[str, Any] = {"errors": []}
    with tf.Session(target) as session:

        def fails(fetches: Any, feeds: Any = None, **options: int) -> None:
            try:
                session.run(fetches, feeds, options=tf.RunOptions(**options) if options else None)
            except tf.errors.OpError as error:
                node = None if error.op is None else error.op.name
                seen["errors"].append([type(error).__name__, error.error_code, node])
            else:
                raise AssertionError(f"{fetches} was to fail")

        session.run(init)
        seen["losses"] = [float(session.run([loss, update], feed)[0]) for _ in range(STEPS)]
        values, steps = session.run([w, step])
        seen["w"], seen["step"] = values.tolist(), int(steps)
        fails(loss, {x: xs, y: xs[:5, :1]})
        # The graph grows from here on.
        with tf.device("/job:ps/task:0"):
            queue = tf.FIFOQueue(3, [tf.float32, tf.string], [[2], []], name="queue", shared_name="recorded")
            give = queue.enqueue([tf.constant([1.5, 2.5]), tf.constant("a\nb'c\"")], name="give")
            take = queue.dequeue(name="take")
            close = queue.close()
        session.run(give)
        numbers, word = session.run(take)
        seen["taken"] = [numbers.tolist(), word.decode()]
        fails(take, timeout_in_ms=EMPTY_QUEUE_MS)
        session.run(close)
        fails(take)
        fails(tf.Variable(1.0, name="unset") + 1.0)
        large = np.arange(5003, dtype=np.float32)
        given = tf.placeholder(tf.float32, [None], name="given")
        seen["doubled"] = float((session.run(given * 2.0, {given: large}) - 2 * large).max())
        seen["devices"] = sorted(device.name for device in session.list_devices())
    return seen


if __name__ == "__main__":
    from tests.golden import oracle

    print(json.dumps(converse(oracle.tensorflow(), sys.argv[1], json.loads(sys.argv[2]))))
