"""Gradient descent, with or without momentum. Source: `tf.keras.optimizers.SGD`, TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.keras.optimizers.optimizer import ApplyState, Optimizer
from tfexp.ops import training, training_keras
from tfexp.ops.array_identity import identity


class SGD(Optimizer):
    """velocity = momentum * velocity - learning_rate * g; w += velocity, or by `nesterov` momentum * velocity - rate * g."""

    def __init__(
        self, learning_rate: Any = 0.01, momentum: Any = 0.0, nesterov: bool = False, name: str = "SGD", **kwargs: Any
    ):
        super().__init__(name, **kwargs)
        self._set_rate(learning_rate, kwargs)
        self._set_momentum(momentum)
        self.nesterov = nesterov

    def _create_slots(self, var_list: list[Any]) -> None:
        if self._momentum:
            for var in var_list:
                self.add_slot(var, "momentum")

    def _prepare_local(self, var_device: str, var_dtype: Any, apply_state: ApplyState) -> None:
        super()._prepare_local(var_device, var_dtype, apply_state)
        apply_state[var_device, var_dtype]["momentum"] = identity(self._get_hyper("momentum", var_dtype))

    def _resource_apply_dense(self, grad: Any, var: Any, apply_state: ApplyState | None = None) -> Any:
        c = self._coefficients(var, apply_state)
        if not self._momentum:
            return training.apply_gradient_descent.operation(var, c["lr_t"], grad, use_locking=self._use_locking)
        return training_keras.keras_momentum.dense.operation(
            var,
            self.get_slot(var, "momentum"),
            c["lr_t"],
            grad,
            c["momentum"],
            use_locking=self._use_locking,
            use_nesterov=self.nesterov,
        )

    def _resource_apply_sparse_duplicate_indices(self, grad: Any, var: Any, indices: Any, **kwargs: Any) -> Any:
        if self._momentum:
            return super()._resource_apply_sparse_duplicate_indices(grad, var, indices, **kwargs)
        # A sum does not mind in how many parts its terms come.
        return self._resource_apply_sparse(grad, var, indices, **kwargs)

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any, apply_state: ApplyState | None = None) -> Any:
        c = self._coefficients(var, apply_state)
        if not self._momentum:
            return self._resource_scatter_add(var, indices, -grad * c["lr_t"])
        return training_keras.keras_momentum.sparse.operation(
            var,
            self.get_slot(var, "momentum"),
            c["lr_t"],
            grad,
            indices,
            c["momentum"],
            use_locking=self._use_locking,
            use_nesterov=self.nesterov,
        )

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            **self._serialized("learning_rate", "decay", "momentum"),
            "nesterov": self.nesterov,
        }
