"""Adadelta (Zeiler 2012). Source: `tf.train.AdadeltaOptimizer`."""

from __future__ import annotations

from typing import Any

from tfexp.graph.convert import IndexedSlices, convert_to_tensor
from tfexp.graph.tensor import Tensor
from tfexp.ops import training
from tfexp.ops.cast import cast
from tfexp.train.optimizer import Optimizer, call_if_callable


class AdadeltaOptimizer(Optimizer):
    """Steps scaled by the ratio of the running RMS of past updates to that of past gradients."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: Any = 0.95,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "Adadelta",
    ):
        super().__init__(use_locking, name)
        self._lr, self._rho, self._epsilon = learning_rate, rho, epsilon

    def _create_slots(self, var_list: list[Any]) -> None:
        for v in var_list:
            self._zeros_slot(v, "accum", self._name)
            self._zeros_slot(v, "accum_update", self._name)

    def _prepare(self) -> None:
        self._lr_t = convert_to_tensor(call_if_callable(self._lr), name="lr")
        self._rho_t = convert_to_tensor(call_if_callable(self._rho), name="rho")
        self._epsilon_t = convert_to_tensor(call_if_callable(self._epsilon), name="epsilon")

    def _operands(self, var: Any) -> list[Any]:
        scalars = (self._lr_t, self._rho_t, self._epsilon_t)
        return [
            var,
            self.get_slot(var, "accum"),
            self.get_slot(var, "accum_update"),
            *(cast(scalar, var.dtype.base_dtype) for scalar in scalars),
        ]

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        return training.adadelta.dense(*self._operands(var), grad, use_locking=self._use_locking)

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        return training.adadelta.sparse(*self._operands(var), grad.values, grad.indices, use_locking=self._use_locking)
