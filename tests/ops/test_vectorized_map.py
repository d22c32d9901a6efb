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


@pytest.mark.parametrize("use_resource", [False, True])
def test_the_function_may_differentiate_what_the_graph_has_computed(use_resource: bool) -> None:
    value = np.arange(6.0).reshape(2, 3)
    with tf.Graph().as_default(), tf.Session() as session:
        x, w = tf.constant(value), tf.Variable(2.0, dtype=tf.float64, use_resource=use_resource)
        y = tf.reduce_sum(x * x * w, 1)
        of_rows = tf.vectorized_map(lambda i: tf.gradients(tf.gather(y, i), [x, w]), tf.range(2))
        of_examples = tf.vectorized_map(lambda row: tf.gradients(tf.reduce_sum(row * row * w), [row, w]), x)
        session.run(tf.global_variables_initializer())
        found, alone = session.run([of_rows, of_examples])
        np.testing.assert_array_equal(found[0], np.eye(2)[:, :, None] * 4 * value)
        np.testing.assert_array_equal(alone[0], 4 * value)
        for weights in (found[1], alone[1]):
            np.testing.assert_array_equal(weights, (value**2).sum(1))


def test_what_the_function_changes_is_changed_in_each_row() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        counts = [tf.Variable(0, use_resource=use_resource) for use_resource in (False, True)]

        def count(row: tf.Tensor) -> tf.Tensor:
            with tf.control_dependencies([count.assign_add(1) for count in counts]):
                return row + 1

        result = tf.vectorized_map(count, tf.range(3))
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(session.run(result), [1, 2, 3])
        assert session.run(counts) == [3, 3]


def test_it_works_in_loops_and_branches_and_functions() -> None:
    def squares(factor: tf.Tensor) -> Any:
        return tf.vectorized_map(lambda row: row * row * factor + c, x)

    with tf.Graph().as_default() as graph, tf.Session() as session:
        x, c = tf.constant([1.0, 2.0, 3.0]), tf.constant(1.0)
        in_branch = tf.cond(c > 0, lambda: squares(c), lambda: x)
        _, in_loop = tf.while_loop(lambda i, y: i < 2.5, lambda i, y: (i + 1, y + squares(i)), (1.0, x))
        in_function = tf.function(squares)(c)
        assert sum(op.type == "LoopCond" for op in graph.get_operations()) == 1
        for y, expected in ((in_branch, [2, 5, 10]), (in_loop, [6, 16, 32]), (in_function, [2, 5, 10])):
            np.testing.assert_array_equal(session.run(y), expected)
        for y, expected in ((in_branch, [2, 4, 6]), (in_loop, [7, 13, 19]), (in_function, [2, 4, 6])):
            np.testing.assert_array_equal(session.run(tf.gradients(y, x)[0]), expected)


def test_eager_gradients_flow_to_variables() -> None:
    with eager_mode():
        x, w = tf.constant([1.0, 2.0, 3.0]), tf.Variable(2.0)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = tf.vectorized_map(lambda row: row * row * w, x)
        np.testing.assert_array_equal(tape.gradient(y, x).numpy(), [4, 8, 12])
        assert tape.gradient(y, w).numpy() == 14
