"""Update ops that exist on handles only: Keras's momentum and AMSGrad, against their formulas in double precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.golden.training_cases import drawn
from tfexp.ops import training_keras

SHAPE = (5, 3)


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as g:
        yield g


def resource(seed: int, low: float = -1.0) -> Any:
    return tf.Variable(drawn(seed, *SHAPE, dtype="float64", low=low, high=low + 1.5), use_resource=True)


def constants(*values: float) -> list[Any]:
    return [tf.constant(value, tf.float64) for value in values]


def ran(op: Any, variables: list[Any]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The variables before and after."""
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        before = session.run(variables)
        session.run(op)
        return before, session.run(variables)


@pytest.mark.parametrize("nesterov", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_keras_momentum(nesterov: bool, sparse: bool) -> None:
    variables = [resource(1), resource(2)]
    rate, momentum = 0.25, 0.75
    rows = np.array([4, 1]) if sparse else np.arange(5)
    grad = drawn(3, len(rows), 3, dtype="float64")
    lr, decay = constants(rate, momentum)
    if sparse:
        op = training_keras.keras_momentum.sparse(*variables, lr, grad, rows, decay, use_nesterov=nesterov)
    else:
        op = training_keras.keras_momentum.dense(*variables, lr, grad, decay, use_nesterov=nesterov)
    (var, accum), after = ran(op, variables)
    accum[rows] = momentum * accum[rows] - rate * grad
    var[rows] += momentum * accum[rows] - rate * grad if nesterov else accum[rows]
    np.testing.assert_allclose(after, [var, accum], rtol=1e-12)


def test_amsgrad_keeps_the_largest_second_moment() -> None:
    variables = [resource(1), resource(2), resource(3, low=0.0), resource(4, low=0.0)]
    power1, power2, rate, beta1, beta2, epsilon = 0.9, 0.99, 0.1, 0.9, 0.99, 1e-3
    grad = drawn(5, *SHAPE, dtype="float64")
    scalars = constants(power1, power2, rate, beta1, beta2, epsilon)
    op = training_keras.apply_adam_with_amsgrad(*variables, *scalars, grad)
    (var, m, v, vhat), after = ran(op, variables)
    m = beta1 * m + (1 - beta1) * grad
    v = beta2 * v + (1 - beta2) * grad**2
    assert (v > vhat).any() and (v < vhat).any()
    vhat = np.maximum(v, vhat)
    var = var - rate * np.sqrt(1 - power2) / (1 - power1) * m / (np.sqrt(vhat) + epsilon)
    np.testing.assert_allclose(after, [var, m, v, vhat], rtol=1e-12)


def test_rules_on_handles_refuse_reference_variables() -> None:
    v = tf.Variable(tf.zeros(SHAPE))
    with pytest.raises(TypeError, match="ResourceApplyKerasMomentum updates resource variables only"):
        training_keras.keras_momentum.dense(v, v, 0.1, tf.zeros(SHAPE), 0.9)
