"""A client that uses a shared queue at a server, for either engine: `python -m tests.distributed.shared_queue TARGET`.

Run by name it is TensorFlow's client, and prints what it saw as JSON.
"""

from __future__ import annotations

import json
import sys
from typing import Any


def use(tf: Any, target: str) -> dict[str, Any]:
    """Fill a queue, empty it, close it; what came out, and the errors at its end."""
    with tf.Graph().as_default():
        queue = tf.FIFOQueue(3, [tf.float32, tf.string], [[2], []], shared_name="between_engines")
        fed = tf.placeholder(tf.float32, [None, 2])
        give = queue.enqueue_many([fed, tf.as_string(fed[:, 0])])
        take, many, rest, close, size = (
            queue.dequeue(),
            queue.dequeue_many(2),
            queue.dequeue_up_to(5),
            queue.close(),
            queue.size(),
        )
        seen: dict[str, Any] = {"errors": []}

        def fails(session: Any, fetches: Any, feeds: Any = None, **options: int) -> None:
            try:
                session.run(fetches, feeds, options=tf.RunOptions(**options))
            except tf.errors.OpError as error:
                text = error.message.split("FIFOQueue ")[-1].split("\n")[0] if "FIFOQueue" in error.message else ""
                seen["errors"].append([type(error).__name__, text])

        with tf.Session(target) as session:
            session.run(give, {fed: [[1, 2], [3, 4], [5, 6]]})
            seen["full"] = int(session.run(size))
            fails(session, give, {fed: [[7, 8]]}, timeout_in_ms=200)
            seen["one"] = [session.run(take)[0].tolist()]
            seen["many"] = session.run(many)[0].tolist()
            fails(session, take, timeout_in_ms=200)
            session.run([give, take], {fed: [[9, 10], [11, 12]]})
            session.run(close)
            fails(session, many)
            seen["rest"] = session.run(rest)[0].tolist()
            fails(session, take)
            fails(session, give, {fed: [[1, 2]]})
        return seen


EXPECTED = {
    "full": 3,
    "one": [[1.0, 2.0]],
    "many": [[3.0, 4.0], [5.0, 6.0]],
    "rest": [[11.0, 12.0]],
    "errors": [
        ["DeadlineExceededError", ""],
        ["DeadlineExceededError", ""],
        ["OutOfRangeError", "'between_engines' is closed and has insufficient elements (requested 2, current size 1)"],
        ["OutOfRangeError", "'between_engines' is closed and has insufficient elements (requested 1, current size 0)"],
        ["CancelledError", "'between_engines' is closed."],
    ],
}


if __name__ == "__main__":
    from tests.golden import oracle

    print(json.dumps(use(oracle.tensorflow(), sys.argv[1])))
