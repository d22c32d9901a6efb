"""The measured programs, written once: `tf` is tfexp or `tensorflow.compat.v1`. Each returns what runs one step."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from experiments.benchmarks.step_speed.convolution import PROGRAMS as CONVOLUTION
from experiments.benchmarks.step_speed.families import PROGRAMS as FAMILIES
from experiments.benchmarks.step_speed.pipelines import PROGRAMS as PIPELINES

Step = Callable[[], Any]


def linear_regression(tf: Any) -> Step:
    """w x + b on one fed sample, gradient descent."""
    x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    w, b = tf.Variable(0.3, name="w"), tf.Variable(0.1, name="b")
    train = tf.train.GradientDescentOptimizer(0.01).minimize(tf.square(w * x + b - y))
    feeds = {x: 1.7, y: 3.1}
    return _step(tf, train, feeds)


def adagrad(tf: Any) -> Step:
    """A linear model on a batch of 20 rows of 8, Adagrad."""
    random = np.random.default_rng(7)
    x, y = tf.placeholder(tf.float32, [None, 8]), tf.placeholder(tf.float32, [None, 1])
    w, b = tf.Variable(tf.zeros([8, 1])), tf.Variable(tf.zeros([1]))
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))
    train = tf.train.AdagradOptimizer(0.1).minimize(loss)
    feeds = {x: _floats(random, 20, 8), y: _floats(random, 20, 1)}
    return _step(tf, train, feeds)


def mlp(optimizer: str, rate: float, batch: int) -> Callable[[Any], Step]:
    """784-300-100-10 with relu and softmax cross-entropy."""

    def build(tf: Any) -> Step:
        random = np.random.default_rng(7)
        x, labels = tf.placeholder(tf.float32, [None, 784]), tf.placeholder(tf.int32, [None])
        h = x
        sizes = [784, 300, 100, 10]
        for i, (n, m) in enumerate(itertools.pairwise(sizes)):
            w = tf.Variable(_floats(random, n, m) * np.float32(np.sqrt(2 / n)))
            h = tf.matmul(h, w) + tf.Variable(np.zeros(m, np.float32))
            if i < 2:
                h = tf.nn.relu(h)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=h))
        train = getattr(tf.train, optimizer)(rate).minimize(loss)
        feeds = {x: _floats(random, batch, 784), labels: random.integers(10, size=batch).astype(np.int32)}
        return _step(tf, train, feeds)

    return build


def chain(tf: Any) -> Step:
    """2,000 additions of ten numbers."""
    x = tf.placeholder(tf.float32, [10])
    h = x
    for _ in range(2000):
        h = tf.add(h, x)
    return _step(tf, h, {x: np.ones(10, np.float32)})


def large_chain(tf: Any) -> Step:
    """20 multiplications and 20 additions of a million numbers, one of which is handed out."""
    x = tf.Variable(_floats(np.random.default_rng(7), 1_000_000))
    h = x
    for _ in range(20):
        h = h * 0.9 + 0.1
    return _step(tf, h[:1], {})


def word2vec(tf: Any) -> Step:
    """Skip-grams with noise-contrastive estimation: 50,000 words of 128 numbers, batches of 128, 64 words sampled."""
    random = np.random.default_rng(7)
    words, context = tf.placeholder(tf.int32, [128]), tf.placeholder(tf.int32, [128, 1])
    table = tf.Variable(tf.random_uniform([50_000, 128], -1.0, 1.0, seed=1))
    weights = tf.Variable(tf.truncated_normal([50_000, 128], stddev=128**-0.5, seed=2))
    loss = tf.reduce_mean(
        tf.nn.nce_loss(weights, tf.Variable(tf.zeros([50_000])), context, tf.nn.embedding_lookup(table, words), 64, 50_000)
    )
    train = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
    feeds = {words: random.integers(50_000, size=128), context: random.integers(50_000, size=(128, 1))}
    return _step(tf, train, feeds)


def one_add(tf: Any) -> Step:
    """One addition of two fed numbers: what a session costs."""
    x, y = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    return _step(tf, x + y, {x: 1.0, y: 2.0})


class _LSTMCell:
    """An LSTM of 128 units as plain ops: TensorFlow's own cells are in a package of their own now."""

    state_size, output_size = (128, 128), 128

    def __init__(self, tf: Any) -> None:
        random = np.random.default_rng(7)
        self._tf = tf
        self._kernel = tf.Variable(_floats(random, 256, 512) * np.float32(0.06))
        self._bias = tf.Variable(np.zeros(512, np.float32))

    def zero_state(self, batch: int, dtype: Any) -> Any:
        return self._tf.zeros([batch, 128], dtype), self._tf.zeros([batch, 128], dtype)

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        tf, (c, h) = self._tf, state
        gates = tf.nn.bias_add(tf.matmul(tf.concat([inputs, h], 1), self._kernel), self._bias)
        i, j, f, o = tf.split(gates, 4, axis=1)
        c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
        h = tf.tanh(c) * tf.sigmoid(o)
        return h, (c, h)


def recurrent(is_training: bool) -> Callable[[Any], Step]:
    """`dynamic_rnn` over 50 steps of an LSTM of 128 units, batch 32."""

    def build(tf: Any) -> Step:
        x = tf.placeholder(tf.float32, [32, 50, 128])
        outputs, _ = tf.nn.dynamic_rnn(_LSTMCell(tf), x, dtype=tf.float32)
        loss = tf.reduce_mean(tf.square(outputs))
        step = tf.train.GradientDescentOptimizer(0.01).minimize(loss) if is_training else loss
        return _step(tf, step, {x: _floats(np.random.default_rng(7), 32, 50, 128)})

    return build


# name -> (how to build it, the ratio that is aimed at; None where none is)
PROGRAMS: dict[str, tuple[Callable[[Any], Step], float | None]] = {
    "linear regression, one fed sample, SGD": (linear_regression, 15.0),
    "linear model, batch 20 x 8, Adagrad": (adagrad, 8.0),
    "MLP 784-300-100-10, batch 64, SGD": (mlp("GradientDescentOptimizer", 0.01, 64), 2.0),
    "MLP 784-300-100-10, batch 64, Adam": (mlp("AdamOptimizer", 0.001, 64), 1.2),
    "MLP 784-300-100-10, batch 512, Adam": (mlp("AdamOptimizer", 0.001, 512), 1.2),
    "chain of 2,000 additions of 10 numbers": (chain, 0.9),
    "chain of 40 operations on 10^6 numbers": (large_chain, 1.5),
    "one fed addition": (one_add, 15.0),
    "word2vec, 50,000 words, batch 128, NCE": (word2vec, 1.5),
    "dynamic_rnn, LSTM 128, 50 steps, batch 32": (recurrent(False), 1.0),
    "dynamic_rnn, LSTM 128, 50 steps, batch 32, SGD": (recurrent(True), 1.0),
    **CONVOLUTION,
    **PIPELINES,
    **FAMILIES,
}


def _floats(random: np.random.Generator, *shape: int) -> np.ndarray:
    return random.standard_normal(shape).astype(np.float32)


def _step(tf: Any, fetches: Any, feeds: dict[Any, Any]) -> Step:
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return lambda: session.run(fetches, feed_dict=feeds)
