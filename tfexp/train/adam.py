"""Adam (Kingma and Ba 2014). Source: `tf.train.AdamOptimizer`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.graph.convert import IndexedSlices, convert_to_tensor
from tfexp.graph.dependencies import group
from tfexp.graph.scopes import colocate_with, control_dependencies
from tfexp.graph.tensor import Tensor
from tfexp.ops import scatter, state, training
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_unary import sqrt
from tfexp.ops.resource_variables import is_resource_variable
from tfexp.train.optimizer import Optimizer, call_if_callable


class AdamOptimizer(Optimizer):
    """Steps by the bias-corrected first moment over the root of the second. `epsilon` is the paper's "epsilon hat"."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
    ):
        super().__init__(use_locking, name)
        self._lr, self._beta1, self._beta2, self._epsilon = learning_rate, beta1, beta2, epsilon

    def _get_beta_accumulators(self) -> tuple[Any, Any]:
        graph = self._lr_t._graph
        return self._get_non_slot_variable("beta1_power", graph), self._get_non_slot_variable("beta2_power", graph)

    def _create_slots(self, var_list: list[Any]) -> None:
        # One place for the powers, the same in every worker's graph.
        first = min(var_list, key=lambda v: v.name)
        self._create_non_slot_variable(self._beta1, "beta1_power", first)
        self._create_non_slot_variable(self._beta2, "beta2_power", first)
        for v in var_list:
            self._zeros_slot(v, "m", self._name)
            self._zeros_slot(v, "v", self._name)

    def _prepare(self) -> None:
        self._lr_t = convert_to_tensor(call_if_callable(self._lr), name="learning_rate")
        self._beta1_t = convert_to_tensor(call_if_callable(self._beta1), name="beta1")
        self._beta2_t = convert_to_tensor(call_if_callable(self._beta2), name="beta2")
        self._epsilon_t = convert_to_tensor(call_if_callable(self._epsilon), name="epsilon")

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        scalars = [
            *self._get_beta_accumulators(),
            self._lr_t,
            self._beta1_t,
            self._beta2_t,
            self._epsilon_t,
        ]
        return training.apply_adam.operation(
            var,
            self.get_slot(var, "m"),
            self.get_slot(var, "v"),
            *(cast(scalar, var.dtype.base_dtype) for scalar in scalars),
            grad,
            use_locking=self._use_locking,
        )

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        """The moments of all rows decay, those of `grad.indices` also take in the gradient; all rows move."""
        dtype = var.dtype.base_dtype
        beta1_power, beta2_power = (cast(power, dtype) for power in self._get_beta_accumulators())
        rate: Any = cast(self._lr_t, dtype)
        beta1: Any = cast(self._beta1_t, dtype)
        beta2: Any = cast(self._beta2_t, dtype)
        epsilon: Any = cast(self._epsilon_t, dtype)
        values: Any = grad.values
        rate = rate * sqrt(1 - beta2_power) / (1 - beta1_power)
        m_t = self._decay_and_add(self.get_slot(var, "m"), beta1, lambda: values * (1 - beta1), grad.indices)
        v_t = self._decay_and_add(self.get_slot(var, "v"), beta2, lambda: (values * values) * (1 - beta2), grad.indices)
        root = sqrt(v_t)
        update = state.assign_sub(var, rate * m_t / (root + epsilon), use_locking=self._use_locking)
        return group(update, m_t, v_t)

    def _decay_and_add(self, slot: Any, decay: Any, addend: Callable[[], Any], indices: Tensor) -> Any:
        rows = addend()
        decayed = state.assign(slot, slot * decay, use_locking=self._use_locking)
        with control_dependencies([decayed]):
            if is_resource_variable(slot):
                added = scatter.scatter_add_op.of_handle(slot.handle, indices, rows)
                with control_dependencies([added]):
                    return slot.value()
            return scatter.scatter_add(slot, indices, rows, use_locking=self._use_locking)

    def _finish(self, update_ops: list[Any], name_scope: str) -> Any:
        """The powers of beta advance once all variables have used them."""
        with control_dependencies(update_ops):
            beta1_power, beta2_power = self._get_beta_accumulators()
            with colocate_with(beta1_power):
                advance = [
                    beta1_power.assign(beta1_power * self._beta1_t, use_locking=self._use_locking),
                    beta2_power.assign(beta2_power * self._beta2_t, use_locking=self._use_locking),
                ]
        return group(*update_ops, *advance, name=name_scope)
