"""A client that runs steps bit by bit at a server, for either engine: `python -m tests.distributed.shared_partial TARGET`.

Run by name it is TensorFlow's client, and prints what it saw as JSON.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

PARTS = ("/job:ps/task:0", "/job:worker/task:0")


def use(tf: Any, target: str) -> dict[str, Any]:
    """Partial runs on two tasks: what they give, what they leave behind, and what is wrong to ask of them."""
    with tf.Graph().as_default():
        ps, worker = PARTS
        a, b, c = (tf.placeholder(tf.float32, [], name=name) for name in "abc")
        with tf.device(ps):
            total = tf.add(a, b, name="total")
            v = tf.Variable(0.0, name="v")
            count = tf.assign_add(v, a, name="count")
        with tf.device(worker):
            product = tf.multiply(total, c, name="product")
            checked = tf.check_numerics(c, "no number", name="checked")
        with tf.device(ps):
            back = tf.identity(product + 1.0, name="back")
        seen: dict[str, Any] = {"errors": []}

        def fails(call: Callable[[], Any]) -> None:
            try:
                call()
            except tf.errors.OpError as error:
                text = error.message.removeprefix("Graph execution error:\n\n").split("\n")
                line = text[0] if "Detected at" not in text[0] else "an error of a node"
                seen["errors"].append([type(error).__name__, line])

        with tf.Session(target) as session:
            session.run(v.initializer)
            handle = session.partial_run_setup([total, product, back, count], [a, b, c])
            seen["total"] = float(session.partial_run(handle, total, {a: 1.0, b: 2.0}))
            seen["between"] = float(session.run(v * 10.0))
            seen["product"] = [float(x) for x in session.partial_run(handle, [product, back], {c: 5.0})]
            seen["count"] = float(session.partial_run(handle, count))
            seen["after"] = float(session.run(v))

            for wrong in (
                lambda handle: session.partial_run(handle, total, {a: 1.0}),
                lambda handle: session.partial_run(handle, count, {a: 1.0}),
                lambda handle: session.partial_run(handle, total, {a: 1.0, b: 1.0, v: 1.0}),
            ):
                handle = session.partial_run_setup([total, product], [a, b, c])
                fails(lambda wrong=wrong, handle=handle: wrong(handle))
                # It changed nothing.
                seen.setdefault("then", []).append(float(session.partial_run(handle, total, {a: 3.0, b: 4.0})))
                fails(lambda handle=handle: session.partial_run(handle, total))
                fails(lambda handle=handle: session.partial_run(handle, product, {a: 1.0, c: 1.0}))
                seen["then"].append(float(session.partial_run(handle, product, {c: 2.0})))

            handle = session.partial_run_setup([checked, total], [a, b, c])
            try:
                session.partial_run(handle, checked, {c: float("nan")})
            except tf.errors.InvalidArgumentError as error:
                seen["failed"] = "no number" in error.message
            # That was its end.
            fails(lambda: session.partial_run(handle, total, {a: 1.0, b: 1.0}))
            seen["still"] = float(session.run(v))
        return seen


_TWICE = [
    ["InvalidArgumentError", "The fetch total:0 has already been fetched."],
    ["InvalidArgumentError", "The feed a:0 has already been fed."],
]
EXPECTED = {
    "total": 3.0,
    "between": 10.0,  # what can run runs, whether it is asked for or not
    "product": [15.0, 16.0],
    "count": 1.0,
    "after": 1.0,
    "then": [7.0, 14.0] * 3,
    "failed": True,
    "still": 1.0,
    "errors": [
        ["InvalidArgumentError", "Fetch b:0 can't be computed from the feeds that have been fed so far."],
        *_TWICE,
        ["InvalidArgumentError", "The fetch count:0 was not specified in partial_run_setup."],
        *_TWICE,
        ["InvalidArgumentError", "The feed v:0 was not specified in partial_run_setup."],
        *_TWICE,
        ["InvalidArgumentError", "Must run PartialRunSetup before performing partial runs"],
    ],
}


if __name__ == "__main__":
    from tests.golden import oracle

    print(json.dumps(use(oracle.tensorflow(), sys.argv[1])))
