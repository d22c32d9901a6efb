"""FTRL-proximal (McMahan et al. 2013). Source: `tf.train.FtrlOptimizer`."""

from __future__ import annotations

from typing import Any

from tfexp.graph.convert import IndexedSlices, convert_to_tensor
from tfexp.graph.tensor import Tensor
from tfexp.ops import training
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_binary import maximum
from tfexp.ops.initializers import Initializer
from tfexp.ops.initializers import ones_initializer as ones
from tfexp.ops.update import Updates
from tfexp.train.optimizer import Optimizer, call_if_callable


class _FilledInitializer(Initializer):
    """ones * value: how TensorFlow fills FTRL's accumulator."""

    def __init__(self, value: float):
        self.value = value

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        return ones()(shape, dtype) * self.value


class FtrlOptimizer(Optimizer):
    """Follow the regularized leader, with l1 sparsity and per-coordinate learning rates."""

    def __init__(
        self,
        learning_rate: Any,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "Ftrl",
        accum_name: str | None = None,
        linear_name: str | None = None,
        l2_shrinkage_regularization_strength: float = 0.0,
        beta: float | None = None,
    ):
        super().__init__(use_locking, name)
        for label, value in (
            ("initial_accumulator_value", initial_accumulator_value),
            ("l1_regularization_strength", l1_regularization_strength),
            ("l2_regularization_strength", l2_regularization_strength),
            ("l2_shrinkage_regularization_strength", l2_shrinkage_regularization_strength),
        ):
            if value < 0.0:
                raise ValueError(f"{label} {value:f} needs to be positive or zero")
        if learning_rate_power > 0.0:
            raise ValueError(f"learning_rate_power {learning_rate_power:f} needs to be negative or zero")
        self._learning_rate, self._power = learning_rate, learning_rate_power
        self._initial_accumulator_value = initial_accumulator_value
        self._l1, self._l2, self._shrinkage = (
            l1_regularization_strength,
            l2_regularization_strength,
            l2_shrinkage_regularization_strength,
        )
        self._beta = 0.0 if beta is None else beta
        self._accum_name, self._linear_name = accum_name, linear_name

    def _create_slots(self, var_list: list[Any]) -> None:
        for v in var_list:
            dtype = v.dtype.base_dtype
            initializer = _FilledInitializer(self._initial_accumulator_value)
            self._get_or_make_slot_with_initializer(
                v, initializer, v.get_shape(), dtype, "accum", self._accum_name or self._name
            )
            self._zeros_slot(v, "linear", self._linear_name or self._name)

    def _prepare(self) -> None:
        rate = call_if_callable(self._learning_rate)
        self._learning_rate_tensor = convert_to_tensor(rate, name="learning_rate")
        self._l1_tensor = convert_to_tensor(self._l1, name="l1_regularization_strength")
        # beta acts as an l2 penalty that is scaled by the learning rate.
        self._l2_tensor = self._l2 + self._beta / (2.0 * maximum(rate, 1e-36))
        self._beta_tensor = convert_to_tensor(self._beta, name="beta")
        self._shrinkage_tensor = convert_to_tensor(self._shrinkage, name="l2_shrinkage_regularization_strength")
        self._power_tensor = convert_to_tensor(self._power, name="learning_rate_power")

    def _slots_of(self, var: Any) -> list[Any]:
        return [var, self.get_slot(var, "accum"), self.get_slot(var, "linear")]

    def _hyperparameters(self, var: Any) -> list[Any]:
        scalars = [self._learning_rate_tensor, self._l1_tensor, self._l2_tensor]
        if self._shrinkage > 0.0:
            scalars.append(self._shrinkage_tensor)
        return [cast(scalar, var.dtype.base_dtype) for scalar in [*scalars, self._power_tensor]]

    def _updates(self) -> Updates:
        return training.ftrl_v2 if self._shrinkage > 0.0 else training.ftrl

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        return self._updates().dense(*self._slots_of(var), grad, *self._hyperparameters(var), use_locking=self._use_locking)

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        return self._updates().sparse(
            *self._slots_of(var), grad.values, grad.indices, *self._hyperparameters(var), use_locking=self._use_locking
        )
