"""The measured programs with convolutions: a CNN's training step, and its parts forward and backward."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Step = Callable[[], Any]
BATCH = 64


def cnn(tf: Any, config: Any = None) -> Step:
    """28x28x1 -> 5x5x32, pool, 5x5x64, pool, 1024, 10; relu, softmax cross-entropy, Adam; batches of 64."""
    random = np.random.default_rng(7)
    x, labels = tf.placeholder(tf.float32, [None, 28, 28, 1]), tf.placeholder(tf.int32, [None])
    h = x
    for depth, units in ((1, 32), (32, 64)):
        w = tf.Variable(_floats(random, 5, 5, depth, units) * np.float32(0.1))
        b = tf.Variable(np.full(units, 0.1, np.float32))
        h = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(h, w, [1, 1, 1, 1], "SAME"), b))
        h = tf.nn.max_pool(h, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    h = tf.reshape(h, [-1, 7 * 7 * 64])
    for n, m in ((7 * 7 * 64, 1024), (1024, 10)):
        w = tf.Variable(_floats(random, n, m) * np.float32(np.sqrt(2 / n)))
        h = tf.matmul(h, w) + tf.Variable(np.zeros(m, np.float32))
        if m == 1024:
            h = tf.nn.relu(h)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=h))
    train = tf.train.AdamOptimizer(1e-4).minimize(loss)
    feeds = {x: _floats(random, BATCH, 28, 28, 1), labels: random.integers(10, size=BATCH).astype(np.int32)}
    session = tf.Session(config=config)
    session.run(tf.global_variables_initializer())
    return lambda: session.run(train, feeds)


def by_onednn(build: Callable[[Any, Any], Step], numba: bool = False) -> Callable[[Any], Step | None]:
    """The program in sessions that let oneDNN compute, and Numba what that has no code for; TensorFlow has oneDNN anyway.

    None where one of them is not installed.
    """

    def built(tf: Any) -> Step | None:
        if tf.__name__ != "tfexp":
            return build(tf, None)
        from tfexp.runtime.jit import has_numba, with_numba
        from tfexp.runtime.libraries import lacks_onednn, with_onednn

        if lacks_onednn() or (numba and not has_numba()):
            return None
        return build(tf, with_numba(with_onednn()) if numba else with_onednn())

    return built


def conv(size: int, window: int, depth: int, units: int, stride: int = 1, backward: bool = False) -> Callable[..., Step]:
    """One convolution of 64 images; or both of its gradients."""

    def build(tf: Any, config: Any = None) -> Step:
        random = np.random.default_rng(7)
        x = tf.Variable(_floats(random, BATCH, size, size, depth))
        w = tf.Variable(_floats(random, window, window, depth, units))
        y = tf.nn.conv2d(x, w, [1, stride, stride, 1], "SAME")
        return _step(tf, tf.gradients(y, [x, w]) if backward else [y], config)

    return build


def pool(kind: str, backward: bool = False) -> Callable[[Any], Step]:
    """2x2 pooling of 64 images of 28x28x32, or its gradient."""

    def build(tf: Any) -> Step:
        x = tf.Variable(_floats(np.random.default_rng(7), BATCH, 28, 28, 32))
        y = getattr(tf.nn, kind)(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
        return _step(tf, tf.gradients(y, [x], y) if backward else [y])

    return build


def batch_norm(tf: Any) -> Step:
    """Fused batch normalisation of 64 images of 28x28x32, forward and backward."""
    random = np.random.default_rng(7)
    x = tf.Variable(_floats(random, BATCH, 28, 28, 32))
    scale, offset = tf.Variable(_floats(random, 32)), tf.Variable(_floats(random, 32))
    y, _, _ = tf.nn.fused_batch_norm(x, scale, offset)
    return _step(tf, tf.gradients(tf.square(y), [x, scale, offset]))


def depthwise(tf: Any, config: Any = None) -> Step:
    """A depthwise 3x3 convolution of 64 images of 28x28x32, forward and backward."""
    random = np.random.default_rng(7)
    x, w = tf.Variable(_floats(random, BATCH, 28, 28, 32)), tf.Variable(_floats(random, 3, 3, 32, 1))
    y = tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME")
    return _step(tf, [y, *tf.gradients(y, [x, w])], config)


# name -> (how to build it, the ratio that is aimed at; None where none is)
PROGRAMS: dict[str, tuple[Callable[[Any], Step | None], float | None]] = {
    "CNN 5x5x32, 5x5x64, 1024, batch 64, Adam": (cnn, 0.75),
    "CNN 5x5x32, 5x5x64, 1024, batch 64, Adam, oneDNN": (by_onednn(cnn), 1.1),
    "CNN 5x5x32, 5x5x64, 1024, batch 64, Adam, oneDNN and Numba": (by_onednn(cnn, numba=True), 1.1),
    "conv 5x5, 28x28x1 -> 32": (conv(28, 5, 1, 32), None),
    "conv 5x5, 14x14x32 -> 64": (conv(14, 5, 32, 64), None),
    "conv 5x5, 14x14x32 -> 64, gradients": (conv(14, 5, 32, 64, backward=True), None),
    "conv 5x5, 14x14x32 -> 64, gradients, oneDNN": (by_onednn(conv(14, 5, 32, 64, backward=True)), None),
    "conv 3x3 stride 2, 28x28x32 -> 64, gradients": (conv(28, 3, 32, 64, 2, backward=True), None),
    "conv 1x1, 14x14x64 -> 64": (conv(14, 1, 64, 64), None),
    "depthwise conv 3x3, 28x28x32, with gradients": (depthwise, None),
    "depthwise conv 3x3, 28x28x32, with gradients, oneDNN": (by_onednn(depthwise), None),
    "max pool 2x2, 28x28x32": (pool("max_pool"), None),
    "max pool 2x2, 28x28x32, gradient": (pool("max_pool", backward=True), None),
    "avg pool 2x2, 28x28x32": (pool("avg_pool"), None),
    "avg pool 2x2, 28x28x32, gradient": (pool("avg_pool", backward=True), None),
    "batch norm, 28x28x32, gradients": (batch_norm, None),
}


def _floats(random: np.random.Generator, *shape: int) -> np.ndarray:
    return random.standard_normal(shape).astype(np.float32)


def _step(tf: Any, values: list[Any], config: Any = None) -> Step:
    """Computes the values and hands out one element of each: all of it would be a copy."""
    first = [tf.reshape(value, [-1])[:1] for value in values]
    session = tf.Session(config=config)
    session.run(tf.global_variables_initializer())
    return lambda: session.run(first)
