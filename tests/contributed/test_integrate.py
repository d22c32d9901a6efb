"""tf.contrib.integrate: equations whose solutions are known."""

import numpy as np
import pytest

import tfexp as tf

integrate = tf.contrib.integrate


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def run(fetches):
    with tf.Session() as session:
        return session.run(fetches)


def test_decay_and_rotation_are_exact_to_the_tolerance():
    times = np.linspace(0, 1, 3)
    decay = integrate.odeint(lambda y, t: -y, tf.constant([1.0, 3.0], tf.float64), times)
    turn = integrate.odeint(lambda y, t: 2j * np.pi * y, tf.constant(1, tf.complex128), times, rtol=1e-8)
    assert decay.shape.as_list() == [3, 2] and turn.shape.as_list() == [3]
    decay, turn = run([decay, turn])
    np.testing.assert_allclose(decay, np.exp(-times)[:, None] * [1, 3], rtol=1e-5)
    np.testing.assert_allclose(turn, np.exp(2j * np.pi * times), atol=1e-6)


def test_what_it_did_is_said_too():
    options = {"first_step": 0.5}
    y, info = integrate.odeint(
        lambda y, t: -10 * y + 0 * t,
        tf.constant(1.0, tf.float64),
        [0.0, 1.0],
        method="dopri5",
        options=options,
        full_output=True,
    )
    y, info = run([y, info])
    accepted = info["error_ratio"] <= 1
    assert info["num_func_evals"] == 1 + 6 * len(accepted) and not accepted[0] and accepted[-1]
    assert (np.diff(info["integrate_points"][accepted]) > 0).all() and info["integrate_points"][-1] == 1.0
    assert y[-1] == pytest.approx(np.exp(-10), abs=1e-8)


def test_solutions_have_gradients():
    rate = tf.constant(0.5, tf.float64)
    end = integrate.odeint(lambda y, t: -rate * y, tf.constant(2.0, tf.float64), [0.0, 1.0])[-1]
    slope, value = run([tf.gradients(end, rate)[0], end])
    assert slope == pytest.approx(-value, rel=1e-4)


@pytest.mark.parametrize(("method", "order"), [("midpoint", 2), ("rk4", 4)])
def test_fixed_steps_have_their_order(method, order):
    def error(dt):
        y = integrate.odeint_fixed(lambda y, t: y * tf.cos(t), tf.constant(1.0, tf.float64), [0.0, 1.0, 2.0], dt, method)
        return np.abs(run(y) - np.exp(np.sin([0, 1, 2]))).max()

    assert error(0.2) / error(0.1) == pytest.approx(2**order, rel=0.4)
    assert error(None) > error(0.5) > 0


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: integrate.odeint(lambda y, t: y, 1, [0.0, 1.0]), TypeError, "`y0` must have a floating point"),
        (lambda: integrate.odeint(lambda y, t: y, 1.0, tf.constant([0, 1])), TypeError, "`t` must have a floating point"),
        (lambda: integrate.odeint(lambda y, t: y, 1.0, [[0.0]]), ValueError, "`t` must be a vector"),
        (lambda: integrate.odeint(lambda y, t: y, 1.0, [0.0], method="euler"), ValueError, "can be only 'dopri5'"),
        (lambda: integrate.odeint(lambda y, t: y, 1.0, [0.0], options={"a": 1}), ValueError, "without specifying `method`"),
        (
            lambda: integrate.odeint(lambda y, t: y, 1.0, [0.0], method="dopri5", options={"a": 1}),
            ValueError,
            r"unknown options: \['a'\]",
        ),
        (
            lambda: integrate.odeint_fixed(lambda y, t: y, 1.0, [0.0], method="euler"),
            ValueError,
            "method not supported: 'euler'",
        ),
    ],
)
def test_what_they_refuse(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_what_fails_as_it_runs():
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be monotonic increasing"):
        run(integrate.odeint(lambda y, t: y, tf.constant(1.0), [1.0, 0.0]))
    few = {"max_num_steps": 3, "first_step": 1e-3}
    with pytest.raises(tf.errors.InvalidArgumentError, match="max_num_steps exceeded"):
        run(integrate.odeint(lambda y, t: -1e3 * y, tf.constant(1.0), [0.0, 1.0], method="dopri5", options=few))
