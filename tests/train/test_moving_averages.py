"""`tf.train.ExponentialMovingAverage` against the recurrence that defines it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.train.moving_averages import assign_moving_average


def test_the_name_of_an_average_to_come_is_free() -> None:
    v = tf.Variable(1.0, name="v")
    first, second = (tf.train.ExponentialMovingAverage(0.5) for _ in range(2))
    first.apply([v])
    assert second.average_name(v) == second.average_name(v) == "v/ExponentialMovingAverage_1"
    assert sorted(second.variables_to_restore()) == ["v/ExponentialMovingAverage", "v/ExponentialMovingAverage_1"]


def test_averages_of_variables_and_tensors() -> None:
    v = tf.Variable([1.0, 2.0], name="v")
    t = tf.multiply(v, 10.0, name="t")
    ema = tf.train.ExponentialMovingAverage(0.75)
    assert ema.average(v) is None and ema.average_name(v) == "v/ExponentialMovingAverage"
    update = ema.apply([v, t])
    assert ema.average(v).op.name == ema.average_name(v)
    assert tf.moving_average_variables() == [v]
    expected_v, expected_t = np.array([1.0, 2.0]), np.zeros(2)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for step in range(4):
            session.run(v.assign([step, 1.0]))
            session.run(update)
            value = np.array([step, 1.0])
            expected_v = 0.75 * expected_v + 0.25 * value
            expected_t = 0.75 * expected_t + 0.25 * 10 * value
        np.testing.assert_allclose(session.run(ema.average(v)), expected_v, rtol=1e-6)
        np.testing.assert_allclose(session.run(ema.average(t)), expected_t, rtol=1e-6)


def test_a_decay_that_grows_with_the_updates() -> None:
    count = tf.Variable(0, trainable=False)
    v = tf.Variable(0.0)
    ema = tf.train.ExponentialMovingAverage(0.3, num_updates=count)
    update = ema.apply()  # the trainable variables
    expected = 0.0
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for n in range(5):
            session.run([count.assign(n), v.assign(n + 1.0)])
            session.run(update)
            decay = min(0.3, (1 + n) / (10 + n))
            expected = decay * expected + (1 - decay) * (n + 1.0)
        np.testing.assert_allclose(session.run(ema.average(v)), expected, rtol=1e-6)


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
def test_zero_debias(dtype: Any) -> None:
    """A constant's corrected average is the constant from the first update on (Adam's bias correction)."""
    t = tf.placeholder_with_default(tf.constant([3.0, -5.0], dtype), [2])
    ema = tf.train.ExponentialMovingAverage(0.9, zero_debias=True)
    update = ema.apply([t])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(update)
            np.testing.assert_allclose(session.run(ema.average(t)), [3.0, -5.0], rtol=1e-5)
    assert [v.op.name.rpartition("/")[2] for v in tf.global_variables()][1:] == ["biased", "local_step"]


def test_averages_are_restored_into_the_variables(tmp_path: Path) -> None:
    """The use that `variables_to_restore` is for: evaluate with the averages."""
    v, other = tf.Variable([1.0], name="v"), tf.Variable(7.0, name="other", trainable=False)
    ema = tf.train.ExponentialMovingAverage(0.5)
    update = ema.apply([v])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(v.assign([2.0]))
        session.run(update)
        path = tf.train.Saver().save(session, str(tmp_path / "m"))
        saver = tf.train.Saver(ema.variables_to_restore())
        session.run(other.assign(0.0))
        saver.restore(session, path)
        assert session.run([v, other]) == [[1.5], 7.0]
    assert sorted(ema.variables_to_restore()) == ["other", "v/ExponentialMovingAverage"]


def test_apply_again_and_refusals() -> None:
    v = tf.Variable(1.0)
    ema = tf.train.ExponentialMovingAverage(0.5, name="Mine")
    first, second = ema.apply([v]), ema.apply([v])
    assert ema.name == "Mine" and ema.average(v).op.name == "Variable/Mine"
    assert (first.name, second.name) == ("Mine", "Mine_1")
    assert len(tf.global_variables()) == 2
    with pytest.raises(TypeError, match="must be half, float, or double"):
        ema.apply([tf.Variable(1)])




def test_a_variable_may_have_several_corrected_averages() -> None:
    v = tf.Variable(0.0, name="v")
    first, second = (assign_moving_average(v, value, 0.9, zero_debias=True) for value in (1.0, 3.0))
    names = [variable.op.name for variable in tf.global_variables()]
    assert names == ["v", "v/biased", "v/local_step", "v/biased_1", "v/local_step_1"]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose([session.run(first), session.run(second)], [1.0, 3.0], rtol=1e-6)
