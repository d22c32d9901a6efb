"""Objectives minimized under constraints, as games of the model with who weighs the constraints.

Source: `tf.contrib.constrained_optimization`, TF 1.15; Cotter, Jiang and Sridharan, "Two-Player Games for Efficient
Non-Convex Constrained Optimization" (2018).
"""

from __future__ import annotations

import abc
from typing import Any

import numpy as np

from tfexp.graph.control_flow import cond
from tfexp.graph.dependencies import group
from tfexp.graph.scopes import control_dependencies
from tfexp.graph.while_loop import while_loop
from tfexp.ops.array import expand_dims
from tfexp.ops.array_fill import range as range_
from tfexp.ops.array_fill import zeros_like
from tfexp.ops.array_identity import stop_gradient
from tfexp.ops.array_join import concat
from tfexp.ops.cast import cast
from tfexp.ops.cumulative import cumsum
from tfexp.ops.elementwise_binary import maximum
from tfexp.ops.elementwise_unary import exp
from tfexp.ops.logical import logical_and
from tfexp.ops.nn_activation import relu
from tfexp.ops.norm import norm
from tfexp.ops.reduce import reduce_max, reduce_sum
from tfexp.ops.reduce_composite import reduce_logsumexp
from tfexp.ops.sort import sort
from tfexp.ops.tensor_products import tensordot
from tfexp.ops.variables import Variable
from tfexp.train.optimizer import Optimizer


class ConstrainedMinimizationProblem(abc.ABC):
    """To minimize `objective` where no number of `constraints` is positive.

    Source: `tf.contrib.constrained_optimization.ConstrainedMinimizationProblem`.
    """

    @property
    @abc.abstractmethod
    def objective(self) -> Any:
        """A number."""

    @property
    @abc.abstractmethod
    def constraints(self) -> Any:
        """A vector, of a shape that is known."""

    @property
    def num_constraints(self) -> int:
        """ValueError where the shape is not known, or the proxies have another."""
        shapes = [one.shape for one in (self.constraints, self.proxy_constraints) if one is not None]
        if not all(dims.is_fully_defined() for dims in shapes):
            raise ValueError(f"The constraints and proxy constraints must have fully-known shapes: {shapes}")
        if len({dims.num_elements() for dims in shapes}) > 1:
            raise ValueError(f"The constraints and proxy constraints must have the same shape: {shapes}")
        return int(shapes[0].num_elements())

    @property
    def proxy_constraints(self) -> Any:
        """What is differentiated in place of the constraints, or None: for constraints that have no gradients."""
        return None

    @property
    def pre_train_ops(self) -> Any:
        """Operations that run before a step, or None."""
        return None


class ConstrainedOptimizer(abc.ABC):
    """Makes the steps that solve a constrained problem; `optimizer` makes those of the model.

    Source: `tf.contrib.constrained_optimization.ConstrainedOptimizer`.
    """

    def __init__(self, optimizer: Optimizer):
        self._optimizer = optimizer

    @property
    def optimizer(self) -> Optimizer:
        return self._optimizer

    @abc.abstractmethod
    def _minimize_constrained(
        self,
        minimization_problem: ConstrainedMinimizationProblem,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Any:
        """`minimize_constrained`, after the problem's `pre_train_ops`."""

    def minimize_constrained(
        self,
        minimization_problem: ConstrainedMinimizationProblem,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Any:
        """An operation that takes a step towards the constrained minimum; arguments as `Optimizer.minimize` has them."""
        with control_dependencies(minimization_problem.pre_train_ops or []):
            return self._minimize_constrained(
                minimization_problem,
                global_step,
                var_list,
                gate_gradients,
                aggregation_method,
                colocate_gradients_with_ops,
                name,
                grad_loss,
            )

    def minimize_unconstrained(
        self,
        minimization_problem: ConstrainedMinimizationProblem,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Any:
        """An operation that takes a step of the objective alone."""
        with control_dependencies(minimization_problem.pre_train_ops or []):
            return self.optimizer.minimize(
                minimization_problem.objective,
                global_step,
                var_list,
                gate_gradients,
                aggregation_method,
                colocate_gradients_with_ops,
                name,
                grad_loss,
            )

    def minimize(
        self,
        minimization_problem: ConstrainedMinimizationProblem,
        unconstrained_steps: int | None = None,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Any:
        """`minimize_constrained`, from the step `unconstrained_steps` on if that is given; until then the other.

        ValueError for unconstrained_steps without a global_step.
        """
        rest = (var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops, name, grad_loss)
        if unconstrained_steps is None:
            return self.minimize_constrained(minimization_problem, global_step, *rest)
        if global_step is None:
            raise ValueError("global_step cannot be None if unconstrained_steps is provided")
        return cond(
            global_step < unconstrained_steps,
            lambda: self.minimize_unconstrained(minimization_problem, global_step, *rest),
            lambda: self.minimize_constrained(minimization_problem, global_step, *rest),
        )


class _Game(ConstrainedOptimizer):
    """Its state weighs the constraints: a variable, which the optimizer moves the other way."""

    _state_name: str

    def __init__(self, optimizer: Optimizer, constraint_optimizer: Optimizer | None = None):
        super().__init__(optimizer)
        self._constraint_optimizer = constraint_optimizer

    @property
    def constraint_optimizer(self) -> Optimizer | None:
        """That of the weights, where it is another."""
        return self._constraint_optimizer

    @abc.abstractmethod
    def _initial_state(self, num_constraints: int) -> np.ndarray:
        """The state to begin with."""

    @abc.abstractmethod
    def _loss_and_gradient(self, state: Any, objective: Any, constraints: Any, proxies: Any) -> tuple[Any, Any]:
        """(what the model minimizes, the gradient that the state goes against)."""

    @abc.abstractmethod
    def _projected(self, state: Any) -> Any:
        """The nearest state of those that are allowed."""

    def _minimize_constrained(
        self,
        minimization_problem: ConstrainedMinimizationProblem,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Any:
        count = minimization_problem.num_constraints
        objective, constraints = minimization_problem.objective, minimization_problem.constraints
        proxies = minimization_problem.proxy_constraints
        initial = self._initial_state(count).astype(objective.dtype.as_numpy_dtype)
        state: Any = Variable(initial, trainable=False, name=self._state_name)
        proxies = constraints if proxies is None else proxies
        loss, downhill = self._loss_and_gradient(state.read_value(), objective, constraints, proxies)
        steps = self.optimizer.compute_gradients(
            loss, var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops, grad_loss
        )
        of_state = [(downhill, state)]
        # Each player answers what the other did before: no variable moves until all gradients are there.
        with control_dependencies([grad for grad, _ in [*steps, *of_state] if grad is not None]):
            if self._constraint_optimizer is None:
                moved = self.optimizer.apply_gradients([*steps, *of_state], global_step)
            else:
                moved = group(
                    self.optimizer.apply_gradients(steps, global_step), self._constraint_optimizer.apply_gradients(of_state)
                )
        with control_dependencies([moved]):
            return group(state.assign(self._projected(state.read_value())), name=name)


class AdditiveExternalRegretOptimizer(_Game):
    """The Lagrangian: the model minimizes objective + multipliers @ constraints, the multipliers maximize it.

    They are not negative, and sum up to `maximum_multiplier_radius` at most if that is given; ValueError for one that is
    not positive. Source: `tf.contrib.constrained_optimization.AdditiveExternalRegretOptimizer`.
    """

    _state_name = "external_regret_optimizer_state"

    def __init__(
        self,
        optimizer: Optimizer,
        constraint_optimizer: Optimizer | None = None,
        maximum_multiplier_radius: float | None = None,
    ):
        super().__init__(optimizer, constraint_optimizer)
        if maximum_multiplier_radius is not None and maximum_multiplier_radius <= 0.0:
            raise ValueError("maximum_multiplier_radius must be strictly positive")
        self._radius = maximum_multiplier_radius

    def _initial_state(self, num_constraints: int) -> np.ndarray:
        return np.zeros(num_constraints)

    def _loss_and_gradient(self, state: Any, objective: Any, constraints: Any, proxies: Any) -> tuple[Any, Any]:
        return objective + tensordot(stop_gradient(state), cast(proxies, state.dtype), 1), -cast(constraints, state.dtype)

    def _projected(self, state: Any) -> Any:
        return relu(state if self._radius is None else state - maximum(_surplus(state, self._radius), 0.0))


class _SwapRegretOptimizer(_Game):
    """The state is a matrix whose columns are distributions; its fixed point weighs the objective and the constraints."""

    _state_name = "swap_regret_optimizer_state"

    @abc.abstractmethod
    def _matrix(self, state: Any) -> Any:
        """The columns, from what the state holds."""

    def _loss_and_gradient(self, state: Any, objective: Any, constraints: Any, proxies: Any) -> tuple[Any, Any]:
        weights = stop_gradient(_fixed_point(self._matrix(state)))
        loss = tensordot(weights, concat([expand_dims(objective, 0), cast(proxies, state.dtype)], 0), 1)
        payoff = concat([zeros_like(weights[:1]), cast(constraints, state.dtype)], 0)  # type: ignore[index]
        return loss, -expand_dims(payoff, 1) * expand_dims(weights, 0)  # type: ignore[operator]


class AdditiveSwapRegretOptimizer(_SwapRegretOptimizer):
    """The state is the matrix, projected by the Euclidean distance.

    Source: `tf.contrib.constrained_optimization.AdditiveSwapRegretOptimizer`.
    """

    def _initial_state(self, num_constraints: int) -> np.ndarray:
        """All of the weight is the objective's."""
        return np.eye(num_constraints + 1)[:1].T.repeat(num_constraints + 1, 1)

    def _matrix(self, state: Any) -> Any:
        return state

    def _projected(self, state: Any) -> Any:
        return relu(state - _surplus(state, 1.0))


class MultiplicativeSwapRegretOptimizer(_SwapRegretOptimizer):
    """The state is the logarithm of the matrix, so that steps multiply; the columns are divided by their sums.

    No element is less than minimum_multiplier_radius / (1 + the number of constraints); a constraint's elements begin at
    initial_multiplier_radius / that, the minimum if None. ValueError for a minimum that is not within (0, 1), or an initial
    radius that is not between that and 1. Source: `tf.contrib.constrained_optimization.MultiplicativeSwapRegretOptimizer`.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        constraint_optimizer: Optimizer | None = None,
        minimum_multiplier_radius: float = 1e-3,
        initial_multiplier_radius: float | None = None,
    ):
        super().__init__(optimizer, constraint_optimizer)
        if not 0.0 < minimum_multiplier_radius < 1.0:
            raise ValueError("minimum_multiplier_radius must be in the range (0,1)")
        initial = minimum_multiplier_radius if initial_multiplier_radius is None else initial_multiplier_radius
        if not minimum_multiplier_radius <= initial <= 1.0:
            raise ValueError("initial_multiplier_radius must be in the range [minimum_multiplier_radius,1]")
        self._minimum, self._initial = minimum_multiplier_radius, initial

    def _initial_state(self, num_constraints: int) -> np.ndarray:
        size = num_constraints + 1
        column = np.full([size, 1], self._initial / size)
        column[0] = 1.0 - num_constraints * self._initial / size
        return np.log(column).repeat(size, 1)

    def _matrix(self, state: Any) -> Any:
        return exp(state)

    def _projected(self, state: Any) -> Any:
        least = np.log(self._minimum / state.shape[0].value)
        return maximum(state - reduce_logsumexp(state, 0, keepdims=True), least)


def _surplus(x: Any, total: float) -> Any:
    """What, taken from each number of a column and kept from going below 0, leaves `total` (Duchi et al., 2008).

    That of the k largest is (their sum - total) / k; the largest of these is it.
    """
    order = sort(x, axis=0, direction="DESCENDING")
    counts: Any = cast(range_(1, x.shape[0].value + 1), x.dtype)
    counts = counts if x.shape.ndims == 1 else expand_dims(counts, 1)
    return reduce_max((cumsum(order, 0) - total) / counts, 0)  # type: ignore[operator]


def _fixed_point(matrix: Any, epsilon: float = 1e-6, most: int = 100) -> Any:
    """The distribution that a matrix of distributions leaves as it is, by powers."""
    size = matrix.shape[0].value

    def moves(count: Any, point: Any, before: Any) -> Any:
        return logical_and(count < most, norm(point - before) > epsilon)

    def step(count: Any, point: Any, before: Any) -> Any:
        image: Any = tensordot(matrix, point, 1)
        return count + 1, image / reduce_sum(image), point

    start = cast(np.full(size, 1.0 / size), matrix.dtype)
    _, point, _ = while_loop(moves, step, step(0, start, start))
    return point
