"""`tf.vectorized_map`: what `tf.map_fn` gives, all rows at once where that can be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.runtime.eager import eager_mode


@pytest.mark.parametrize(
    ("function", "at_once"),
    [
        (lambda rows: rows[0] * tf.sin(rows[1]), True),
        (lambda rows: {"sum": rows[0] + rows[1], "outer": tf.expand_dims(rows[0], 1) * rows[1]}, True),
        (lambda rows: tf.reduce_max(rows[0]) - 2.0, True),
        (lambda rows: tf.cond(rows[0][0] > 0.5, lambda: rows[0], lambda: rows[1]), True),
        (lambda rows: rows[0] + 0 * tf.random.uniform([3]), False),
    ],
)
def test_it_gives_what_a_map_gives(function: Callable[[Any], Any], at_once: bool) -> None:
    rng = np.random.default_rng(5)
    values = [rng.random((5, 3)), rng.random((5, 3))]
    with tf.Graph().as_default() as graph, tf.Session() as session:
        rows = tuple(tf.constant(value, tf.float32) for value in values)
        found = tf.vectorized_map(function, rows)
        assert any(op.type == "Enter" for op in graph.get_operations()) != at_once
        dtype = {"sum": tf.float32, "outer": tf.float32} if isinstance(found, dict) else tf.float32
        expected = tf.map_fn(function, rows, dtype=dtype)
        pairs = zip(tf.nest.flatten(found), tf.nest.flatten(expected), strict=True)
        for one, other in pairs:
            np.testing.assert_allclose(*session.run([one, other]), rtol=1e-6)
        gradients = [tf.gradients(t, rows[0])[0] for t in (found, expected) if not isinstance(found, dict)]
        if gradients:
            np.testing.assert_allclose(*session.run(gradients), rtol=1e-6)


def test_what_does_not_depend_on_the_rows_is_repeated() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        rows = tf.placeholder(tf.float32, [None, 2])
        repeated = tf.vectorized_map(lambda row: tf.constant([7, 8, 9]), rows)
        np.testing.assert_array_equal(session.run(repeated, {rows: np.zeros((4, 2))}), [[7, 8, 9]] * 4)
        with pytest.raises(ValueError, match="elems must have a first dimension"):
            tf.vectorized_map(lambda row: row, tf.constant(1.0))


def test_it_runs_eagerly_and_tapes_watch_it() -> None:
    with eager_mode():
        x = tf.constant([1.0, 2.0, 3.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.vectorized_map(lambda row: row**3, x)
        np.testing.assert_array_equal(y.numpy(), [1, 8, 27])
        np.testing.assert_array_equal(tape.gradient(y, x).numpy(), [3, 12, 27])
