"""Random ops without state: their nodes, and numbers that do not change from run to run."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.golden.programs.registry import Outcome, Run, program, raised, runs


@program("O10: stateless ops")
def stateless(tf: Any) -> Outcome:
    seed = tf.placeholder(tf.int64, [2], name="seed")
    logits = [[1.0, 2.0, 0.0], [2.0, 1.0, 0.0]]
    made = [
        tf.random.stateless_uniform([3], [1, 2]),
        tf.random.stateless_uniform([2, 3], seed, -1.0, 1.0, tf.float64),
        tf.random.stateless_uniform([13], [1, 2], -5, 50, tf.int32),
        tf.random.stateless_uniform([13], seed, 0, 10**12, tf.int64, name="long"),
        *[tf.random.stateless_uniform([5], [1, 2], None, None, kind) for kind in (tf.int32, tf.int64, tf.uint32, tf.uint64)],
        tf.random.stateless_normal([13], seed),
        tf.random.stateless_normal([2, 3], [1, 2], [1.0, 2.0, 3.0], 2.0, tf.float16),
        tf.random.stateless_truncated_normal([13], [-1, -2]),
        tf.random.stateless_truncated_normal([13], [0, 0], 1.0, 2.0, tf.float64),
        tf.random.stateless_multinomial(logits, 13, seed),
        tf.random.stateless_categorical(logits, 13, [1, 2], tf.int32),
    ]
    feeds = {seed: np.array([-5, 2**40 + 7], np.int64)}
    return runs(Run(made, feeds), Run(made, feeds), names=[m.name for m in made])


@program("O10: stateless ops, shapes that are known in part")
def shapes(tf: Any) -> Outcome:
    rows = tf.placeholder(tf.int32, [], name="rows")
    anything = tf.placeholder(tf.int64, name="anything")
    for shape in ([rows, 3], anything):
        tf.random.stateless_uniform(shape, anything)
        tf.random.stateless_normal(shape, [1, 2])
        tf.random.stateless_uniform(shape, [1, 2], 0, 5, tf.int32)
    tf.random.stateless_multinomial(tf.placeholder(tf.float32, [None, 3], name="logits"), rows, [1, 2])
    return runs()


@program("O10: stateless ops, what is refused at construction")
def refused(tf: Any) -> Outcome:
    uniform = tf.random.stateless_uniform
    calls = {
        "one bound": lambda: uniform([3], [1, 2], dtype=tf.int32),
        "unsigned bounds": lambda: uniform([3], [1, 2], 0, 5, tf.uint32),
        "uint8": lambda: uniform([3], [1, 2], dtype=tf.uint8),
        "three seeds": lambda: uniform([3], [1, 2, 3]),
        "one seed": lambda: uniform([3], 1),
        "float seeds": lambda: uniform([3], [1.0, 2.0]),
        "scalar shape": lambda: uniform(3, [1, 2]),
    }
    return Outcome(facts={name: raised(call) for name, call in calls.items()}, graph=tf.Graph())
