"""Keras's optimizers and metrics for a strategy's replicas: gradients are summed, metrics add up over replicas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.distribute.replicas import initialized, number, session, two

# By an op for dense gradients, by several, and with a variable of the optimizer's own.
KINDS: dict[str, dict[str, Any]] = {"SGD": {"momentum": 0.9}, "RMSprop": {"centered": True}, "Adam": {}, "Nadam": {}}
START = np.float32([1.0, 2.0, 3.0])


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as g:
        yield g


def _loss(w: Any, sparse: bool) -> Any:
    return tf.reduce_sum(tf.square(tf.gather(w, [0, 2, 2]) if sparse else w))


def _made(name: str) -> Any:
    return getattr(tf.keras.optimizers, name)(learning_rate=0.1, **KINDS[name])


def _alone(name: str, sparse: bool, steps: int) -> Any:
    """The variable after steps of one replica whose loss is the sum of both replicas' losses."""
    with tf.Graph().as_default():
        w = tf.get_variable("w", initializer=START, use_resource=True)
        train = _made(name).minimize(lambda: 3.0 * _loss(w, sparse), [w])
        with initialized() as opened:
            for _ in range(steps):
                opened.run(train)
            return opened.run(w)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", KINDS)
def test_a_step_is_that_of_the_sum_of_the_losses(name: str, sparse: bool) -> None:
    strategy = two()
    with strategy.scope():
        w = tf.get_variable("w", initializer=START)
        optimizer = _made(name)

        def step() -> Any:
            factor = number()
            return optimizer.minimize(lambda: factor * _loss(w, sparse), [w])

        train = strategy.experimental_run_v2(step)
    with initialized() as opened:
        for _ in range(2):
            opened.run(strategy.group(train))
        first, second, steps = opened.run([*strategy.experimental_local_results(w), optimizer.iterations])
    np.testing.assert_array_equal(first, second)
    np.testing.assert_allclose(first, _alone(name, sparse, 2), rtol=1e-5)
    assert steps == 2


def test_gradients_are_not_applied_across_replicas() -> None:
    with two().scope():
        w = tf.get_variable("w", initializer=START)
        with pytest.raises(RuntimeError, match="cannot be called in cross-replica context"):
            tf.keras.optimizers.SGD().apply_gradients([(tf.constant(START), w)])


def test_metrics_add_up_over_replicas() -> None:
    strategy = two()
    with strategy.scope():
        mean = tf.keras.metrics.Mean()
        update = strategy.experimental_run_v2(lambda: mean.update_state([number(), 0.0]))
        result = mean.result()
    with session() as opened:
        opened.run([variable.initializer for variable in mean.weights])
        opened.run(strategy.experimental_local_results(update))
        assert opened.run(result) == pytest.approx(3.0 / 4)


def test_losses_of_replicas_say_how_they_are_reduced() -> None:
    strategy = two()
    with strategy.scope(), pytest.raises(ValueError, match="for loss reduction when losses are used with"):
        strategy.experimental_run_v2(lambda: tf.keras.losses.MeanSquaredError()([[1.0]], [[2.0]]))
