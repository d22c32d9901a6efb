"""Loss scales, and the optimizer that uses one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfexp as tf

experimental = tf.train.experimental


def test_a_dynamic_scale_grows_with_luck_and_shrinks_without() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        scale = experimental.DynamicLossScale(4.0, increment_period=2, multiplier=2.0)
        assert experimental.DynamicLossScale.from_config(scale.get_config()).initial_loss_scale == 4
        grad = tf.placeholder(tf.float32, [2])
        update, apply = scale.update([grad, None])
        session.run(tf.global_variables_initializer())
        seen = []
        for value in (1, 1, 1, np.inf, np.nan, np.nan, np.nan):
            good, _ = session.run([apply, update], {grad: [0, value]})
            seen.append((bool(good), float(session.run(scale()))))
    assert seen == [(True, 4), (True, 8), (True, 8), (False, 4), (False, 2), (False, 1), (False, 1)]


def test_steps_are_those_of_the_optimizer_and_left_out_where_gradients_overflow() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [])
        w = tf.get_variable("w", initializer=1.0)
        step = tf.train.get_or_create_global_step()
        optimizer = experimental.MixedPrecisionLossScaleOptimizer(tf.train.MomentumOptimizer(0.5, 0.9), "dynamic")
        train = optimizer.minimize(w * x, global_step=step)
        session.run(tf.global_variables_initializer())
        session.run(train, {x: 1.0})
        assert session.run([w, step]) == [0.5, 1]
        session.run(train, {x: np.inf})
        assert session.run([w, step]) == [0.5, 1]
        assert optimizer.get_slot_names() == ["momentum"]
        assert optimizer.get_slot(w, "momentum") is not None


def test_fixed_scales_and_sparse_gradients() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        table = tf.get_variable("table", initializer=tf.ones([3, 2]))
        optimizer = experimental.MixedPrecisionLossScaleOptimizer(tf.train.GradientDescentOptimizer(1.0), 8)
        pairs = optimizer.compute_gradients(tf.reduce_sum(tf.gather(table, [1])))
        assert isinstance(pairs[0][0], tf.IndexedSlices)
        train = optimizer.apply_gradients(pairs)
        session.run(tf.global_variables_initializer())
        session.run(train)
        np.testing.assert_array_equal(session.run(table), [[1, 1], [0, 0], [1, 1]])


def rewritten(optimizer: Any) -> Any:
    return experimental.enable_mixed_precision_graph_rewrite(optimizer, 8)


def test_what_cannot_be_is_refused() -> None:
    for call, text in (
        (lambda: experimental.FixedLossScale(0.5), "at least 1"),
        (lambda: experimental.FixedLossScale("2"), "int or float"),
        (lambda: experimental.MixedPrecisionLossScaleOptimizer(None, 2), "instance of Optimizer"),
        (lambda: experimental.MixedPrecisionLossScaleOptimizer(tf.train.AdamOptimizer(), None), "or 'dynamic'"),
        (lambda: experimental.enable_mixed_precision_graph_rewrite(3), "must be an instance of a tf.train.Optimizer"),
        (lambda: rewritten(rewritten(tf.train.AdamOptimizer())), "must not already be an instance"),
    ):
        with pytest.raises(ValueError, match=text):
            call()
