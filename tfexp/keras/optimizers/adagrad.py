"""Adagrad and Adadelta. Source: `tf.keras.optimizers`, TF 1.15."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from tfexp.keras import backend
from tfexp.keras.optimizers.optimizer import ApplyState, Optimizer
from tfexp.ops import training, training_keras
from tfexp.ops.array_identity import identity
from tfexp.ops.initializers import constant_initializer


def with_step_zero(optimizer: Optimizer, weights: Any) -> Any:
    """Weights as older versions kept them, without the count of steps, with a 0 before them; others as they are."""
    return [np.array(0), *weights] if len(optimizer.weights) == len(weights) + 1 else weights


class Adagrad(Optimizer):
    """accumulator += g ** 2; w -= learning_rate * g / (sqrt(accumulator) + epsilon) (Duchi et al. 2011)."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        initial_accumulator_value: float = 0.1,
        epsilon: float | None = 1e-7,
        name: str = "Adagrad",
        **kwargs: Any,
    ):
        if initial_accumulator_value < 0.0:
            raise ValueError(f"initial_accumulator_value must be non-negative: {initial_accumulator_value}")
        super().__init__(name, **kwargs)
        self._set_rate(learning_rate, kwargs)
        self._initial_accumulator_value = initial_accumulator_value
        self.epsilon = epsilon or backend.epsilon()

    def _create_slots(self, var_list: list[Any]) -> None:
        for var in var_list:
            initial = constant_initializer(self._initial_accumulator_value, dtype=var.dtype.base_dtype)
            self.add_slot(var, "accumulator", initial)

    def set_weights(self, weights: Any) -> None:
        super().set_weights(with_step_zero(self, weights))

    def _resource_apply_dense(self, grad: Any, var: Any, apply_state: ApplyState | None = None) -> Any:
        rate, epsilon = self._scalars(var, apply_state)
        return training_keras.adagrad_v2.dense.operation(
            var, self.get_slot(var, "accumulator"), rate, epsilon, grad, use_locking=self._use_locking
        )

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any, apply_state: ApplyState | None = None) -> Any:
        rate, epsilon = self._scalars(var, apply_state)
        return training_keras.adagrad_v2.sparse.operation(
            var, self.get_slot(var, "accumulator"), rate, epsilon, grad, indices, use_locking=self._use_locking
        )

    def _scalars(self, var: Any, apply_state: ApplyState | None) -> tuple[Any, Any]:
        return self._coefficients(var, apply_state)["lr_t"], backend.constant(self.epsilon, var.dtype.base_dtype)

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Self:
        """Where the config does not say it, as by name (`compile("adagrad")`), the accumulators begin with 0."""
        return super().from_config({"initial_accumulator_value": 0.0, **config}, custom_objects)

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            **self._serialized("learning_rate", "decay"),
            "initial_accumulator_value": self._initial_accumulator_value,
            "epsilon": self.epsilon,
        }


class Adadelta(Optimizer):
    """Steps as large as the last ones over gradients as large as the last ones (Zeiler 2012)."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: Any = 0.95,
        epsilon: float | None = 1e-7,
        name: str = "Adadelta",
        **kwargs: Any,
    ):
        super().__init__(name, **kwargs)
        self._set_rate(learning_rate, kwargs)
        self._set_hyper("rho", rho)
        self.epsilon = epsilon or backend.epsilon()

    def _create_slots(self, var_list: list[Any]) -> None:
        for name in ("accum_grad", "accum_var"):
            for var in var_list:
                self.add_slot(var, name)

    def set_weights(self, weights: Any) -> None:
        super().set_weights(with_step_zero(self, weights))

    def _prepare_local(self, var_device: str, var_dtype: Any, apply_state: ApplyState) -> None:
        super()._prepare_local(var_device, var_dtype, apply_state)
        apply_state[var_device, var_dtype] |= {
            "epsilon": backend.constant(self.epsilon, var_dtype),
            "rho": identity(self._get_hyper("rho", var_dtype)),
        }

    def _inputs(self, var: Any, apply_state: ApplyState | None) -> list[Any]:
        c = self._coefficients(var, apply_state)
        slots = [self.get_slot(var, "accum_grad"), self.get_slot(var, "accum_var")]
        return [var, *slots, c["lr_t"], c["rho"], c["epsilon"]]

    def _resource_apply_dense(self, grad: Any, var: Any, apply_state: ApplyState | None = None) -> Any:
        return training.adadelta.dense.operation(*self._inputs(var, apply_state), grad, use_locking=self._use_locking)

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any, apply_state: ApplyState | None = None) -> Any:
        inputs = self._inputs(var, apply_state)
        return training.adadelta.sparse.operation(*inputs, grad, indices, use_locking=self._use_locking)

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            **self._serialized("learning_rate", "decay", "rho"),
            "epsilon": self.epsilon,
        }
