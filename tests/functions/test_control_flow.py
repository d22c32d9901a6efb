"""`tf.cond` and `tf.while_loop` in functions: nodes that call functions, against those of TF1 graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tfexp as tf


def counted(x: Any, w: Any, v: Any) -> Any:
    return tf.while_loop(lambda i, q: i < 3, lambda i, q: (i + 1, tf.sin(q) * w + v), [0, x])[1]


def nested(x: Any, w: Any, v: Any) -> Any:
    def body(i: Any, q: Any) -> Any:
        _, z = tf.while_loop(lambda j, z: j < i, lambda j, z: (j + 1, tf.cos(z) * w), [0, q])
        return i + 1, z + tf.cond(z > 0, lambda: z * w, lambda: w) * v

    return tf.while_loop(lambda i, q: i < 3, body, [0, x])[1]


def limited(x: Any, w: Any, v: Any) -> Any:
    return tf.while_loop(lambda y: y < 100.0, lambda y: y * w * v, [x], maximum_iterations=2)


def arrays(x: Any, w: Any, v: Any) -> Any:
    array = tf.TensorArray(tf.float32, 3).unstack([x, w, x * w])
    out = tf.TensorArray(tf.float32, 0, dynamic_size=True, clear_after_read=False)
    body = lambda i, out: (i + 1, out.write(i, array.read(i) * v * tf.cast(i, tf.float32)))  # noqa: E731
    _, out = tf.while_loop(lambda i, out: i < 3, body, [0, out])
    return tf.reduce_sum(out.stack() ** 2) + tf.reduce_sum(out.gather([1, 2]))


def maps(x: Any, w: Any, v: Any) -> Any:
    rows = tf.map_fn(lambda q: q * x * q * w * v, tf.stack([x, w]))
    return tf.reduce_sum(rows + tf.scan(lambda a, q: a * q, tf.stack([x, w, x]))[1])


def pieces(x: Any, w: Any, v: Any) -> Any:
    split = tf.TensorArray(tf.float32, 2).split(tf.stack([x, w, v, x]), [2, 2])
    return tf.reduce_prod(split.concat()[1:]) * tf.reduce_sum(
        tf.TensorArray(tf.float32, 2).scatter([1, 0], tf.stack([x, w])).read(0)
    )


def chosen(x: Any, w: Any, v: Any) -> Any:
    a, rest = tf.cond(x > 0, lambda: (tf.sin(x) * x * v, [w]), lambda: (x, [x * w]))
    return a * tf.case([(x > 1, lambda: w), (x > -1, lambda: w * x)], default=lambda: v) + rest[0]


@pytest.mark.parametrize("build", [counted, nested, limited, arrays, maps, pieces, chosen])
def test_values_and_gradients_are_those_of_graphs(build: Callable[..., Any]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable(1.2, use_resource=True)
        x, w = tf.placeholder(tf.float32, []), tf.constant(0.8)
        traced = tf.function(lambda x, w: build(x, w, v))(x, w)
        assert traced.op.type in ("StatefulPartitionedCall", "PartitionedCall")
        plain = build(x, w, v)
        first, expected = (tf.gradients(y, [x, w, v]) for y in (traced, plain))
        second = tf.gradients([g for g in first if g is not None], x)[0]
        slope = tf.add_n([g for g in expected if g is not None])
        session.run(v.initializer)
        zero, step = tf.zeros([]), 2e-3
        of_traced, of_plain = ([zero if g is None else g for g in one] for one in (first, expected))
        for value in (0.7, -0.4):
            found, graphs, curvature = session.run([[traced, *of_traced], [plain, *of_plain], second], {x: value})
            np.testing.assert_allclose(found, graphs, rtol=1e-4, atol=1e-6)
            # There is no second order of TF1's loops to compare with.
            above, below = (session.run(slope, {x: value + d}) for d in (step, -step))
            np.testing.assert_allclose(curvature, (above - below) / (2 * step), rtol=0.02, atol=0.05)


def test_they_are_nodes_that_call_functions() -> None:
    with tf.Graph().as_default() as graph:
        concrete = tf.function(lambda x: chosen(x, x, x) + counted(x, x, x)).get_concrete_function(
            tf.TensorSpec([], tf.float32)
        )
        types = [op.type for op in concrete.graph.get_operations()]
        assert types.count("StatelessIf") == 2 and types.count("StatelessWhile") == 1 and "Switch" not in types
        assert any(name.startswith("while_body_") for name in graph._functions)


def test_only_the_branch_that_is_taken_acts() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable(0, use_resource=True)

        @tf.function
        def step(x: Any) -> Any:
            tf.cond(x > 0, lambda: v.assign_add(1).op, lambda: tf.no_op())
            tf.while_loop(lambda i: i < x, lambda i: tf.group(v.assign_add(10).op) and i + 1, [0])
            return v.read_value()

        x = tf.placeholder(tf.int32, [])
        y = step(x)
        session.run(v.initializer)
        assert [session.run(y, {x: n}) for n in (2, -1, 1)] == [21, 21, 32]


def test_loops_keep_to_their_invariants() -> None:
    def grow(invariant: Any) -> Any:
        body = lambda x: tf.concat([x, x], 0)  # noqa: E731
        return tf.function(
            lambda x: tf.while_loop(lambda x: tf.size(x) < 5, body, [x], shape_invariants=[tf.TensorShape(invariant)])
        )(tf.ones([1]))

    with tf.Graph().as_default(), tf.Session() as session:
        grown = grow([None])
        assert grown.shape.as_list() == [None] and session.run(grown).tolist() == [1] * 8
        with pytest.raises(ValueError, match="has shape \\(2,\\) after one iteration"):
            grow([1])
        with pytest.raises(
            ValueError, match="enters the loop with shape \\(1,\\), but the specified shape invariant is \\(3,\\)"
        ):
            grow([3])
        with pytest.raises(TypeError, match="with type <dtype: 'float32'> but has type <dtype: 'int32'> after 1"):
            tf.function(lambda x: tf.while_loop(lambda x: True, lambda x: 1, [x]))(1.0 + tf.zeros([]))
        with pytest.raises(TypeError, match="must have the same type: float32, int32"):
            tf.function(lambda x: tf.cond(x > 0, lambda: x, lambda: 1))(tf.zeros([]))


def test_cells_run_in_functions_as_in_graphs() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        cell, x = tf.nn.rnn_cell.LSTMCell(3), tf.constant(np.linspace(-1, 1, 24).reshape(2, 3, 4), tf.float32)
        plain = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)[0]
        traced = tf.function(lambda x: tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)[0])(x)
        sources = [x, *tf.trainable_variables()]
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(*session.run([plain, traced]), rtol=1e-6)
        for one, other in zip(*(session.run(tf.gradients(y, sources)) for y in (plain, traced)), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("use_resource", [False, True])
def test_rows_of_variables_outside_are_looked_up(use_resource: bool) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        table = tf.get_variable("table", [5, 2], use_resource=use_resource)
        rows = tf.function(lambda ids: tf.nn.embedding_lookup(table, ids))(tf.constant([1, 1, 4]))
        gradient = tf.convert_to_tensor(tf.gradients(rows, table)[0])
        session.run(table.initializer)
        np.testing.assert_array_equal(session.run(gradient)[:, 0], [0, 2, 0, 0, 1])


def test_gradients_go_on_around_functions_that_captured_what_they_go_through():
    x = tf.constant(3.0)
    square = x * x

    def around(make):
        @tf.function
        def outer():
            here = tf.identity(x) * 5.0

            @tf.function
            def inner():
                return make(here)

            return inner()

        return outer()

    with tf.Session() as session:
        both = around(lambda here: tf.gradients([tf.identity(here), tf.identity(square), x], [x]))
        assert session.run(both) == [5 + 6 + 1]
        assert session.run(around(lambda here: tf.gradients(square * here, [here, square, x]))) == [9, 15, 135]
        assert session.run(around(lambda here: tf.gradients(square + here, [x], stop_gradients=[square]))) == [5]
        assert around(lambda here: tf.gradients(here, [square])) == [None]
