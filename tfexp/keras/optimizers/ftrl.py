"""FTRL. Source: `tf.keras.optimizers.Ftrl`, TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.keras.optimizers.optimizer import ApplyState, Optimizer
from tfexp.ops import training
from tfexp.ops.array_identity import identity
from tfexp.ops.cast import cast
from tfexp.ops.initializers import constant_initializer

_HYPERS = ("learning_rate_power", "l1_regularization_strength", "l2_regularization_strength")


class Ftrl(Optimizer):
    """Follow the regularised leader, with l1 and l2 penalties (McMahan et al. 2013), and l2 shrinkage of the gradients."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        name: str = "Ftrl",
        l2_shrinkage_regularization_strength: float = 0.0,
        **kwargs: Any,
    ):
        super().__init__(name, **kwargs)
        for key, value in (
            ("initial_accumulator_value", initial_accumulator_value),
            ("l1_regularization_strength", l1_regularization_strength),
            ("l2_regularization_strength", l2_regularization_strength),
            ("l2_shrinkage_regularization_strength", l2_shrinkage_regularization_strength),
        ):
            if value < 0.0:
                raise ValueError(f"`{key}` needs to be positive or zero. Received: {key}={value}.")
        if learning_rate_power > 0.0:
            raise ValueError(
                f"`learning_rate_power` needs to be negative or zero. Received: learning_rate_power={learning_rate_power}."
            )
        self._set_rate(learning_rate, kwargs)
        self._set_hyper("learning_rate_power", learning_rate_power)
        self._set_hyper("l1_regularization_strength", l1_regularization_strength)
        self._set_hyper("l2_regularization_strength", l2_regularization_strength)
        self._initial_accumulator_value = initial_accumulator_value
        self._l2_shrinkage_regularization_strength = l2_shrinkage_regularization_strength

    def _create_slots(self, var_list: list[Any]) -> None:
        for var in var_list:
            initial = constant_initializer(self._initial_accumulator_value, dtype=var.dtype.base_dtype)
            self.add_slot(var, "accumulator", initial)
            self.add_slot(var, "linear")

    def _prepare_local(self, var_device: str, var_dtype: Any, apply_state: ApplyState) -> None:
        super()._prepare_local(var_device, var_dtype, apply_state)
        state = apply_state[var_device, var_dtype]
        state |= {name: identity(self._get_hyper(name, var_dtype)) for name in _HYPERS}
        state["l2_shrinkage"] = cast(self._l2_shrinkage_regularization_strength, var_dtype)

    def _rule_and_inputs(self, var: Any, apply_state: ApplyState | None) -> tuple[Any, list[Any], list[Any]]:
        """The rule of an op, its inputs before and behind the gradient."""
        c = self._coefficients(var, apply_state)
        variables = [var, self.get_slot(var, "accumulator"), self.get_slot(var, "linear")]
        penalties = [c["lr_t"], c["l1_regularization_strength"], c["l2_regularization_strength"]]
        if self._l2_shrinkage_regularization_strength <= 0.0:
            return training.ftrl, variables, [*penalties, c["learning_rate_power"]]
        return training.ftrl_v2, variables, [*penalties, c["l2_shrinkage"], c["learning_rate_power"]]

    def _resource_apply_dense(self, grad: Any, var: Any, apply_state: ApplyState | None = None) -> Any:
        rule, before, behind = self._rule_and_inputs(var, apply_state)
        return rule.dense.operation(*before, grad, *behind, use_locking=self._use_locking)

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any, apply_state: ApplyState | None = None) -> Any:
        rule, before, behind = self._rule_and_inputs(var, apply_state)
        return rule.sparse.operation(*before, grad, indices, *behind, use_locking=self._use_locking)

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            **self._serialized("learning_rate", "decay"),
            "initial_accumulator_value": self._initial_accumulator_value,
            **self._serialized(*_HYPERS),
            "l2_shrinkage_regularization_strength": self._l2_shrinkage_regularization_strength,
        }
