"""Learning-rate schedules against their formulas, computed with NumPy in double precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.runtime.eager import eager_mode

STEPS = [0, 1, 2, 3, 5, 7, 10, 11, 29]


def polynomial(t: float) -> float:
    return (0.5 - 0.05) * (1 - min(t, 10) / 10) ** 2 + 0.05


def polynomial_cycle(t: float) -> float:
    length = 10 * (1.0 if t == 0 else np.ceil(t / 10))
    return (0.5 - 0.05) * (1 - t / length) ** 0.5 + 0.05


def cosine(t: float) -> float:
    return 0.5 * ((1 - 0.1) * 0.5 * (1 + np.cos(np.pi * min(t, 10) / 10)) + 0.1)


def restarts(t: float, growth: float) -> float:
    start, length, height = 0.0, 3.0, 1.0
    while t - start >= length:
        start, length, height = start + length, length * growth, height * 0.5
    return 0.5 * ((1 - 0.1) * 0.5 * height * (1 + np.cos(np.pi * (t - start) / length)) + 0.1)


def linear_cosine(t: float) -> float:
    t = min(t, 10)
    return 0.5 * ((0.2 + (10 - t) / 10) * 0.5 * (1 + np.cos(np.pi * 2 * 1.5 * t / 10)) + 0.01)


SCHEDULES: dict[str, tuple[Callable[[Any], Any], Callable[[float], float]]] = {
    "exponential": (lambda s: tf.train.exponential_decay(0.5, s, 10, 0.9), lambda t: 0.5 * 0.9 ** (t / 10)),
    "exponential stairs": (
        lambda s: tf.train.exponential_decay(0.5, s, 3, 0.9, staircase=True),
        lambda t: 0.5 * 0.9 ** (t // 3),
    ),
    "exponential of tensors": (
        lambda s: tf.train.exponential_decay(tf.constant(0.5, tf.float64), s, tf.constant(10), tf.constant(0.9)),
        lambda t: 0.5 * np.float64(np.float32(0.9)) ** (t / 10),
    ),
    "natural": (lambda s: tf.train.natural_exp_decay(0.5, s, 10, 0.3), lambda t: 0.5 * np.exp(-0.3 * t / 10)),
    "natural stairs": (
        lambda s: tf.train.natural_exp_decay(0.5, s, 3, 0.3, staircase=True),
        lambda t: 0.5 * np.exp(-0.3 * (t // 3)),
    ),
    "inverse": (lambda s: tf.train.inverse_time_decay(0.5, s, 10, 0.3), lambda t: 0.5 / (1 + 0.3 * t / 10)),
    "inverse stairs": (
        lambda s: tf.train.inverse_time_decay(0.5, s, 3, 0.3, staircase=True),
        lambda t: 0.5 / (1 + 0.3 * (t // 3)),
    ),
    "polynomial": (lambda s: tf.train.polynomial_decay(0.5, s, 10, 0.05, power=2.0), polynomial),
    "polynomial cycle": (
        lambda s: tf.train.polynomial_decay(0.5, s, 10, 0.05, power=0.5, cycle=True),
        polynomial_cycle,
    ),
    "cosine": (lambda s: tf.train.cosine_decay(0.5, s, 10, alpha=0.1), cosine),
    "cosine restarts": (
        lambda s: tf.train.cosine_decay_restarts(0.5, s, 3, t_mul=2.0, m_mul=0.5, alpha=0.1),
        lambda t: restarts(t, 2.0),
    ),
    "cosine restarts, equal periods": (
        lambda s: tf.train.cosine_decay_restarts(0.5, s, 3, t_mul=1.0, m_mul=0.5, alpha=0.1),
        lambda t: restarts(t, 1.0),
    ),
    "linear cosine": (
        lambda s: tf.train.linear_cosine_decay(0.5, s, 10, num_periods=1.5, alpha=0.2, beta=0.01),
        linear_cosine,
    ),
    "piecewise": (
        lambda s: tf.train.piecewise_constant(s, [3, 7], [1.0, 0.5, 0.25]),
        lambda t: 1.0 if t <= 3 else 0.5 if t <= 7 else 0.25,
    ),
    "piecewise, one boundary": (
        lambda s: tf.train.piecewise_constant(s, [5], [1.0, 0.5]),
        lambda t: 1.0 if t <= 5 else 0.5,
    ),
}


@pytest.mark.parametrize("kind", SCHEDULES)
@pytest.mark.parametrize("dtype", [tf.int32, tf.int64])
def test_schedule(kind: str, dtype: Any) -> None:
    build, formula = SCHEDULES[kind]
    step = tf.Variable(tf.zeros([], dtype), trainable=False)
    forward = tf.placeholder(dtype, [])
    assign = tf.assign(step, forward)
    rate = build(step)
    assert rate.get_shape().ndims in (0, None)
    with tf.Session() as session:
        got = []
        for t in STEPS:
            session.run(assign, {forward: t})
            got.append(session.run(rate))
    np.testing.assert_allclose(got, [formula(t) for t in STEPS], rtol=2e-6)


def test_noise_shrinks_with_the_steps() -> None:
    tf.set_random_seed(5)
    step = tf.placeholder(tf.int32, [])
    plain = tf.train.linear_cosine_decay(1.0, step, 100, num_periods=0.0, beta=0.0)
    noisy = tf.train.noisy_linear_cosine_decay(
        1.0, step, 100, initial_variance=0.25, variance_decay=2.0, num_periods=0.0, beta=0.0
    )
    with tf.Session() as session:
        deviations = {
            t: np.std([np.subtract(*session.run([noisy, plain], {step: t})) for _ in range(400)]) for t in (0, 4, 9)
        }
    # The variance is 0.25 / (1 + t) ** 2, so that of t = 4 is the 25th part.
    np.testing.assert_allclose([deviations[0], deviations[4], deviations[9]], [0.5, 0.1, 0.05], rtol=0.15)


def test_a_schedule_drives_an_optimizer() -> None:
    step = tf.train.get_or_create_global_step()
    v = tf.Variable(1.0)
    rate = tf.train.exponential_decay(1.0, step, 1, 0.5)
    train = tf.train.GradientDescentOptimizer(rate).minimize(v, global_step=step)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(train)
        assert session.run(v) == 1.0 - (1.0 + 0.5 + 0.25)


def test_what_is_refused() -> None:
    train = tf.train
    for build in (
        lambda: train.exponential_decay(0.1, None, 10, 0.9),
        lambda: train.natural_exp_decay(0.1, None, 10, 0.9),
        lambda: train.inverse_time_decay(0.1, None, 10, 0.9),
        lambda: train.polynomial_decay(0.1, None, 10),
        lambda: train.cosine_decay(0.1, None, 10),
        lambda: train.cosine_decay_restarts(0.1, None, 10),
        lambda: train.linear_cosine_decay(0.1, None, 10),
        lambda: train.noisy_linear_cosine_decay(0.1, None, 10),
    ):
        with pytest.raises(ValueError, match="global_step is required"):
            build()
    step = tf.constant(1)
    with pytest.raises(ValueError, match="length of boundaries should be 1 less than the length of values"):
        train.piecewise_constant(step, [1, 2], [1.0, 2.0])
    with pytest.raises(ValueError, match=r"Boundaries .* must have the same dtype as x .<dtype: 'int32'>"):
        train.piecewise_constant(step, [1.5], [1.0, 2.0])
    with pytest.raises(ValueError, match=r"same dtype \(<dtype: 'float32'> vs <dtype: 'int32'>\)"):
        train.piecewise_constant(step, [1], [1.0, 2])


def test_rates_follow_the_step_in_eager_execution() -> None:
    with eager_mode():
        step = tf.Variable(0, trainable=False)
        rate = tf.train.piecewise_constant(step, [1], [0.5, 0.25])
        halved = tf.train.natural_exp_decay(8.0, step, 1, np.log(2.0))
        weight = tf.Variable(10.0)
        optimizer = tf.train.GradientDescentOptimizer(rate)
        seen = []
        for _ in range(3):
            optimizer.minimize(lambda: 4 * weight, step, [weight])
            seen.append((float(weight), float(halved())))
        np.testing.assert_allclose(seen, [(8, 4), (6, 2), (5, 1)], rtol=1e-6)
        with pytest.raises(ValueError, match="global_step is required for cosine_decay"):
            tf.train.cosine_decay(1.0, None, 10)
