"""Names of the constants that arrays and lists become which are given for tensors, and of the nodes around them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.golden.programs.registry import Outcome, Run, program, runs

X = np.float32([[1, 2, 4], [3, 5, 7]])


@program("N: arrays as arguments of images, pools, masks and losses")
def images(tf: Any) -> Outcome:
    image, length = np.arange(24.0).reshape(2, 3, 4), tf.placeholder(tf.int32, None, name="length")
    made = [
        tf.nn.avg_pool(image[None].astype(np.float32), [1, 2, 2, 1], [1, 1, 1, 1], "SAME"),
        tf.sequence_mask(length),
        *tf.tuple([[1.0, 2.0], tf.constant(3.0)]),
    ]
    tf.tables_initializer(name=None)
    return runs(Run(made, {length: [2, 0, 3]}))


@program("N: arrays as arguments of metrics")
def metrics(tf: Any) -> Outcome:
    labels, predictions = [1.0, 1.0, 0.0], np.float32([1, 0, 0])
    pairs = [
        tf.metrics.accuracy(labels, predictions),
        tf.metrics.mean_squared_error(labels, predictions),
        tf.metrics.mean_relative_error(X, tf.placeholder_with_default(X + 1, None), X),
    ]
    return runs(Run(tf.local_variables_initializer()), Run([pair[1] for pair in pairs]), Run([pair[0] for pair in pairs]))
