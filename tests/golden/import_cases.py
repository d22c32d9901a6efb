"""Graphs that TensorFlow makes and tfexp only imports: loops, frozen models, data sets with a library of functions.

`tf` is `tensorflow.compat.v1`. Each case returns the fetches and the feeds of one run, which gives the same each time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Case = Callable[[Any], tuple[list[Any], dict[Any, Any]]]


def a_loop(tf: Any) -> Any:
    n, x = tf.placeholder(tf.int32, [], name="n"), tf.placeholder(tf.float32, [], name="x")
    _, product = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * x), [0, tf.constant(1.0)])
    return [product, tf.gradients(product, x)[0]], {n: 5, x: 1.5}


def frozen_perceptron(tf: Any) -> Any:
    """A trained model with its variables made constants."""
    random = np.random.default_rng(11)
    x, labels = tf.placeholder(tf.float32, [None, 7], name="x"), tf.placeholder(tf.int32, [None])
    hidden = tf.nn.relu(
        tf.matmul(x, tf.Variable(random.standard_normal((7, 5)), dtype=tf.float32)) + tf.Variable(tf.zeros(5))
    )
    logits = tf.add(tf.matmul(hidden, tf.Variable(random.standard_normal((5, 3)), dtype=tf.float32)), 0.5, name="logits")
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    batch = random.standard_normal((13, 7))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(train, {x: batch, labels: random.integers(3, size=13)})
        frozen = tf.graph_util.convert_variables_to_constants(session, tf.get_default_graph().as_graph_def(), ["logits"])
    x, logits = tf.import_graph_def(frozen, return_elements=["x:0", "logits:0"], name="frozen")
    return [logits], {x: batch}


def a_data_set(tf: Any) -> Any:
    """Functions of elements, one of which makes data sets by functions of its own."""

    def repeated(number: Any) -> Any:
        return tf.data.Dataset.range(number).map(lambda i: i * 10 + number)

    squares = tf.data.Dataset.range(7).map(lambda i: i * i).filter(lambda i: i % 2 == 0)
    several = tf.data.Dataset.from_tensor_slices([1, 2, 3]).map(lambda i: tf.cast(i, tf.int64)).flat_map(repeated)
    both = squares.concatenate(several).batch(10).repeat()
    return [tf.data.make_one_shot_iterator(both).get_next()], {}


CASES: dict[str, Case] = {"loop": a_loop, "frozen perceptron": frozen_perceptron, "data set": a_data_set}
