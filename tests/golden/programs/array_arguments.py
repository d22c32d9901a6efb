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
        tf.image.is_jpeg(b"a"),
        tf.image.transpose(image, name="turned"),
        tf.nn.avg_pool(image[None].astype(np.float32), [1, 2, 2, 1], [1, 1, 1, 1], "SAME"),
        tf.sequence_mask(length),
        tf.nn.compute_average_loss(X),
        tf.nn.scale_regularization_loss(tf.constant([3, 4])),
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


@program("N: windows, and row splits of segment ids")
def splits(tf: Any) -> Outcome:
    length, ids = tf.placeholder(tf.int32, [], name="length"), tf.placeholder(tf.int32, [None], name="ids")
    made = [
        tf.signal.hann_window(6),
        tf.signal.hamming_window(5, periodic=tf.constant(False)),
        tf.signal.hann_window(length),
        tf.ragged.segment_ids_to_row_splits([1, 0], 3),
        tf.ragged.segment_ids_to_row_splits(ids, out_type=tf.int32),
    ]
    return runs(Run(made, {length: 4, ids: [0, 2, 2]}))
