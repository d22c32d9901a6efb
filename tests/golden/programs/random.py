"""Every random function: its nodes for each form of its arguments, and the numbers of two runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.golden.programs.registry import Outcome, Run, program, raised, runs


@program("O10: uniform")
def uniform(tf: Any) -> Outcome:
    tf.set_random_seed(3)
    bounds = [(0, 1), (0, None), (0, 5.0), (0, 1.0), (0.0, 1), (1, 2), (-1, 1), (False, True), (np.int32(0), np.int32(1))]
    made = [tf.random_uniform([2, 3], low, high) for low, high in bounds]
    made += [
        tf.random_uniform([5], tf.constant(1.0), tf.constant(2.0)),
        tf.random_uniform([3], [0.0, 1.0, 2.0], 5.0),
        tf.random_uniform([], -1.0, 1.0, tf.float16),
        tf.random_uniform(np.array([2, 3], np.int64), dtype=tf.float64, name="wide"),
        tf.random_uniform((7,), -7, 11, tf.int32, seed=5),
        tf.random_uniform(tf.TensorShape([2, 3]), maxval=10**12, dtype=tf.int64, seed=-2),
        tf.random_uniform([tf.Dimension(2), 0]),
    ]
    return runs(Run(made), Run(made), names=[m.name for m in made])


@program("O10: normal, truncated normal")
def normal(tf: Any) -> Outcome:
    tf.set_random_seed(3)
    made = []
    for function in (tf.random_normal, tf.truncated_normal):
        made += [
            function([2, 3]),
            function([5], 1, 2, seed=4),
            function([2, 3], [0.0, 1.0, 2.0], tf.constant(0.5)),
            function((), dtype=tf.float64, name="one"),
            function(tf.constant([3], tf.int64), dtype=tf.float16),
        ]
    return runs(Run(made), Run(made), names=[m.name for m in made])


@program("O10: shuffle, categories")
def orders_and_categories(tf: Any) -> Outcome:
    tf.set_random_seed(3)
    logits = tf.placeholder(tf.float32, [None, 3], name="logits")
    made = [
        tf.random_shuffle([[1, 2], [3, 4], [5, 6]]),
        tf.random_shuffle(["a", "b", "c"], seed=1, name="letters"),
        tf.random_shuffle(7),
        tf.multinomial([[1.0, 2.0]], 5),
        tf.multinomial(logits, 13, seed=2, output_dtype=tf.int32, name="drawn"),
        tf.random.categorical(logits, tf.constant(2)),
    ]
    feeds = {logits: np.array([[0, 1, 2], [3, -3, 0]], np.float32)}
    return runs(Run(made, feeds), Run(made, feeds), names=[m.name for m in made])


@program("O10: gamma, Poisson")
def gamma_and_poisson(tf: Any) -> Outcome:
    tf.set_random_seed(3)
    made = [
        tf.random_gamma([3], [1.0, 2.0], 3.0),
        tf.random_gamma([3], 1.5, tf.constant([1.0, 2.0, 3.0, 4.0, 5.0]), seed=3, name="scaled"),
        tf.random_gamma([], tf.constant([[0.5], [2.0]], tf.float64), dtype=tf.float64),
        tf.random_poisson([1.0, 20.0], [3]),
        tf.random_poisson(1.5, [2], tf.int32, seed=2),
    ]
    return runs(Run(made), Run(made), names=[m.name for m in made])


@program("O10: crop")
def crop(tf: Any) -> Outcome:
    tf.set_random_seed(3)
    known = tf.reshape(tf.range(5 * 7), [5, 7])
    partly = tf.placeholder(tf.float32, [None, 7], name="partly")
    unknown = tf.placeholder(tf.float32, name="unknown")
    size = tf.placeholder(tf.int32, [2], name="size")
    made = [
        tf.random_crop(known, [2, 3]),
        tf.random_crop(partly, [2, 3], seed=4, name="second"),
        tf.random_crop(unknown, size),
    ]
    image = np.arange(35, dtype=np.float32).reshape(5, 7)
    feeds = {partly: image, unknown: image, size: np.array([3, 5], np.int32)}
    return runs(Run(made, feeds), Run(made, feeds), names=[m.name for m in made])


@program("O10: shapes that are known in part, or not")
def shapes(tf: Any) -> Outcome:
    rows = tf.placeholder(tf.int32, [], name="rows")
    dims = tf.placeholder(tf.int32, [2], name="dims")
    anything = tf.placeholder(tf.int64, name="anything")
    data = tf.placeholder(tf.float32, [None, 3], name="data")
    for shape in ([rows, 3], dims, anything, tf.shape(data), [-1, 2]):
        tf.random_uniform(shape)
        tf.random_normal(shape)
        tf.truncated_normal(shape)
        tf.random_uniform(shape, 0, 5, tf.int32)
    tf.multinomial(data, rows)
    tf.random_gamma(dims, data)
    tf.random_poisson(data, [5])
    tf.random_shuffle(data)
    return runs()


@program("O10: seeds of graphs and ops")
def seeds(tf: Any) -> Outcome:
    made: list[Any] = []
    for graph_seed in (None, 0, 1, -1, 2**31 - 1, 2**40):
        tf.set_random_seed(graph_seed)
        made += [tf.get_seed(op_seed) for op_seed in (None, None, 0, 1, -5, 2**31 - 1, 2**35)]
    tf.set_random_seed(1)
    tf.random_uniform([2])
    tf.constant(0)
    tf.random_uniform([2])
    return runs(seeds=made)


@program("O10: what is refused at construction")
def refused(tf: Any) -> Outcome:
    calls = {
        "negative": lambda: tf.random_uniform([-3, 2]),
        "scalar shape": lambda: tf.random_normal(3),
        "matrix shape": lambda: tf.truncated_normal([[3]]),
        "float shape": lambda: tf.random_normal([2.5]),
        "unknown shape": lambda: tf.random_normal(tf.TensorShape([2, None])),
        "None in shape": lambda: tf.random_normal([None, 2]),
        "vector bound": lambda: tf.random_uniform([2], [1], 3, tf.int32),
        "no maxval": lambda: tf.random_uniform([2], dtype=tf.int32),
        "uint8": lambda: tf.random_uniform([2], 0, 1, tf.uint8),
        "float bound": lambda: tf.random_uniform([2], 0.5, 3, tf.int32),
        "integer normal": lambda: tf.random_normal([2], dtype=tf.int32),
        "bounds do not broadcast": lambda: tf.random_uniform([3], [0.0, 1.0], 5.0),
        "seed": lambda: tf.random_uniform([2], seed="one"),
        "logits": lambda: tf.multinomial([1.0, 2.0], 3),
        "samples": lambda: tf.multinomial([[1.0, 2.0]], [3]),
        "negative samples": lambda: tf.multinomial([[1.0, 2.0]], -1),
        "gamma shape": lambda: tf.random_gamma(3, 2.0),
        "poisson shape": lambda: tf.random_poisson(3.0, 2),
        "crop rank": lambda: tf.random_crop(tf.zeros([2, 3]), [3]),
    }
    facts = {name: raised(call) for name, call in calls.items()}
    return Outcome(facts=facts, graph=tf.Graph())
