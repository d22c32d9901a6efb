"""Games that solve constrained problems, against TensorFlow 1.15's steps and the solutions that are known."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tfexp as tf

constrained = tf.contrib.constrained_optimization
OBJECTIVES = np.array([3.0, 1.0, 2.0, 5.0, 1.0])
CONSTRAINTS = np.array([[0.5, 1.0, -0.1, -1.0, 1.0], [-0.2, 0.3, 0.4, -1.0, 0.3]])


@pytest.fixture
def session() -> Iterator[tf.Session]:
    with tf.Graph().as_default(), tf.Session() as one:
        yield one


class Problem(constrained.ConstrainedMinimizationProblem):
    """The least |w - (1, 2, 3)|² where w0 + w1 <= 1 and 0.5 <= w2 <= 2: (0, 1, 2)."""

    def __init__(self, proxies: bool = False, ops: Any = None):
        self.w = tf.Variable([0.5, 0.5, 0.5], name="w")
        self._proxies, self._ops = proxies, ops

    @property
    def objective(self) -> Any:
        return tf.reduce_sum((self.w - [1.0, 2.0, 3.0]) ** 2)

    @property
    def constraints(self) -> Any:
        return tf.stack([self.w[0] + self.w[1] - 1.0, 0.5 - self.w[2], self.w[2] - 2.0])

    @property
    def proxy_constraints(self) -> Any:
        return 2.0 * self.constraints if self._proxies else None

    @property
    def pre_train_ops(self) -> Any:
        return self._ops


def _descent(rate: float) -> tf.train.Optimizer:
    return tf.train.GradientDescentOptimizer(rate)


MAKE: dict[str, Callable[[], Any]] = {
    "external": lambda: constrained.AdditiveExternalRegretOptimizer(_descent(0.1)),
    "bounded": lambda: constrained.AdditiveExternalRegretOptimizer(_descent(0.1), _descent(0.5), 2.0),
    "swap": lambda: constrained.AdditiveSwapRegretOptimizer(_descent(0.1)),
    "multiplicative": lambda: constrained.MultiplicativeSwapRegretOptimizer(_descent(0.1), _descent(1.0), 0.2, 0.5),
}
# After six steps in TensorFlow, the first two of them unconstrained: w, and the state, or the second column of it.
SIX_STEPS = {
    "bounded": ([0.413888, 1.151744, 2.34464], [1.81152, 0.0, 0.0904]),
    "swap": ([0.819667, 1.542022, 2.305888], [[0.986087], [0.013913], [0.0], [0.0]]),
    "multiplicative": ([0.654396, 1.271162, 2.035047], [[-0.505381], [-1.347692], [-2.995732], [-2.342351]]),
}


@pytest.mark.parametrize("which", SIX_STEPS)
def test_steps_are_tensorflows(which: str, session: tf.Session) -> None:
    problem, step = Problem(proxies=True), tf.train.get_or_create_global_step()
    train = MAKE[which]().minimize(problem, unconstrained_steps=2, global_step=step)
    state = tf.global_variables()[-1]
    assert problem.num_constraints == 3 and state not in tf.trainable_variables()
    session.run(tf.global_variables_initializer())
    for _ in range(6):
        session.run(train)
    w, weights, count = session.run([problem.w, state, step])
    np.testing.assert_allclose(w, SIX_STEPS[which][0], rtol=1e-5)
    np.testing.assert_allclose(
        weights[..., 1:2] if weights.ndim == 2 else weights, SIX_STEPS[which][1], rtol=1e-4, atol=1e-5
    )
    assert count == 6


def test_the_multipliers_find_the_constrained_minimum(session: tf.Session) -> None:
    problem = Problem()
    train = MAKE["external"]().minimize(problem, name="step")
    assert train.name == "step" and tf.global_variables()[-1].op.name == "external_regret_optimizer_state"
    session.run(tf.global_variables_initializer())
    for _ in range(300):
        session.run(train)
    w, multipliers = session.run([problem.w, tf.global_variables()[-1]])
    np.testing.assert_allclose(w, [0.0, 1.0, 2.0], atol=1e-3)
    np.testing.assert_allclose(multipliers, [2.0, 0.0, 2.0], atol=1e-2)


def test_operations_before_a_step(session: tf.Session) -> None:
    count = tf.Variable(0, trainable=False)
    problem = Problem(ops=[count.assign_add(1)])
    both = [MAKE["swap"]().minimize_constrained(problem), MAKE["swap"]().minimize_unconstrained(problem)]
    session.run(tf.global_variables_initializer())
    for train in both:
        session.run(train)
    assert session.run(count) == 2


def test_settings_that_cannot_be(session: tf.Session) -> None:
    with pytest.raises(ValueError, match="global_step cannot be None"):
        MAKE["swap"]().minimize(Problem(), unconstrained_steps=2)
    with pytest.raises(ValueError, match="strictly positive"):
        constrained.AdditiveExternalRegretOptimizer(_descent(0.1), maximum_multiplier_radius=-1.0)
    with pytest.raises(ValueError, match="minimum_multiplier_radius must be"):
        constrained.MultiplicativeSwapRegretOptimizer(_descent(0.1), minimum_multiplier_radius=1.5)
    with pytest.raises(ValueError, match="initial_multiplier_radius must be"):
        constrained.MultiplicativeSwapRegretOptimizer(_descent(0.1), None, 0.5, 0.1)
    with pytest.raises(TypeError, match="abstract"):
        constrained.ConstrainedMinimizationProblem()


def test_the_best_distribution_of_candidates() -> None:
    pytest.importorskip("scipy")
    feasible = constrained.find_best_candidate_distribution(OBJECTIVES, CONSTRAINTS)
    assert np.all(CONSTRAINTS @ feasible < 1e-6) and np.isclose(feasible.sum(), 1) and (feasible > 1e-9).sum() <= 3
    np.testing.assert_allclose(feasible, [0.0, 0.306748, 0.429448, 0.263804, 0.0], atol=1e-5)
    violating = constrained.find_best_candidate_distribution(OBJECTIVES, np.abs(CONSTRAINTS) + 0.1)
    np.testing.assert_allclose(violating, [0.5, 0.0, 0.5, 0.0, 0.0], atol=1e-6)
    looser = constrained.find_best_candidate_distribution(OBJECTIVES, np.abs(CONSTRAINTS) + 0.1, epsilon=0.01)
    assert OBJECTIVES @ looser < OBJECTIVES @ violating
    with pytest.raises(ValueError, match="epsilon"):
        constrained.find_best_candidate_distribution(OBJECTIVES, CONSTRAINTS, -1.0)


def test_the_best_candidate() -> None:
    # Ranks by the constraints' violations: the fourth violates none; with the objectives, which are worst there, the second.
    assert constrained.find_best_candidate_index(OBJECTIVES, CONSTRAINTS) == 3
    assert constrained.find_best_candidate_index(OBJECTIVES, np.zeros([0, 5])) == 1
    assert constrained.find_best_candidate_index(np.array([1.0, 0.5]), np.array([[0.1, 0.2]]), rank_objectives=True) == 1
    with pytest.raises(ValueError, match="objective_vector must have shape"):
        constrained.find_best_candidate_index(OBJECTIVES[:3], CONSTRAINTS)
