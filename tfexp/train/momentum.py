"""Momentum, plain and Nesterov. Source: `tf.train.MomentumOptimizer`."""

from __future__ import annotations

from typing import Any

from tfexp.graph.convert import IndexedSlices, convert_to_tensor
from tfexp.graph.tensor import Tensor
from tfexp.ops import training
from tfexp.ops.cast import cast
from tfexp.train.optimizer import Optimizer, call_if_callable


class MomentumOptimizer(Optimizer):
    """accum = momentum * accum + grad; var -= learning_rate * accum (Polyak 1964; Nesterov: Sutskever et al. 2013)."""

    def __init__(
        self,
        learning_rate: Any,
        momentum: Any,
        use_locking: bool = False,
        name: str = "Momentum",
        use_nesterov: bool = False,
    ):
        super().__init__(use_locking, name)
        self._learning_rate, self._momentum, self._use_nesterov = learning_rate, momentum, use_nesterov

    def _create_slots(self, var_list: list[Any]) -> None:
        for v in var_list:
            self._zeros_slot(v, "momentum", self._name)

    def _prepare(self) -> None:
        self._learning_rate_tensor = convert_to_tensor(call_if_callable(self._learning_rate), name="learning_rate")
        self._momentum_tensor = convert_to_tensor(call_if_callable(self._momentum), name="momentum")

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        dtype = var.dtype.base_dtype
        return training.momentum.dense.operation(
            var,
            self.get_slot(var, "momentum"),
            cast(self._learning_rate_tensor, dtype),
            grad,
            cast(self._momentum_tensor, dtype),
            use_locking=self._use_locking,
            use_nesterov=self._use_nesterov,
        )

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        dtype = var.dtype.base_dtype
        return training.momentum.sparse.operation(
            var,
            self.get_slot(var, "momentum"),
            cast(self._learning_rate_tensor, dtype),
            grad.values,
            grad.indices,
            cast(self._momentum_tensor, dtype),
            use_locking=self._use_locking,
            use_nesterov=self._use_nesterov,
        )
