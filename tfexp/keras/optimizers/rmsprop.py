"""RMSprop. Source: `tf.keras.optimizers.RMSprop`, TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.graph.dependencies import group
from tfexp.keras import backend
from tfexp.keras.optimizers.adagrad import with_step_zero
from tfexp.keras.optimizers.optimizer import ApplyState, Coefficients, Optimizer
from tfexp.ops import training
from tfexp.ops.array_gather import gather
from tfexp.ops.array_identity import identity
from tfexp.ops.elementwise_unary import sqrt, square


class RMSprop(Optimizer):
    """Gradients over the root of the fading mean of their squares; `centered`, of their variance (Hinton 2012, Graves 2013).

    Without momentum `epsilon` stands beside the root, with it under it.
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: Any = 0.9,
        momentum: Any = 0.0,
        epsilon: float | None = 1e-7,
        centered: bool = False,
        name: str = "RMSprop",
        **kwargs: Any,
    ):
        super().__init__(name, **kwargs)
        self._set_rate(learning_rate, kwargs)
        self._set_hyper("rho", rho)
        self._set_momentum(momentum)
        self.epsilon = epsilon or backend.epsilon()
        self.centered = centered

    def _create_slots(self, var_list: list[Any]) -> None:
        for name, wanted in (("rms", True), ("momentum", self._momentum), ("mg", self.centered)):
            for var in var_list if wanted else ():
                self.add_slot(var, name)

    def set_weights(self, weights: Any) -> None:
        super().set_weights(with_step_zero(self, weights))

    def _prepare_local(self, var_device: str, var_dtype: Any, apply_state: ApplyState) -> None:
        super()._prepare_local(var_device, var_dtype, apply_state)
        rho = identity(self._get_hyper("rho", var_dtype))
        apply_state[var_device, var_dtype] |= {
            "epsilon": backend.constant(self.epsilon, var_dtype),
            "rho": rho,
            "momentum": identity(self._get_hyper("momentum", var_dtype)),
            "one_minus_rho": 1.0 - rho,  # type: ignore[operator]
        }

    def _resource_apply_dense(self, grad: Any, var: Any, apply_state: ApplyState | None = None) -> Any:
        c = self._coefficients(var, apply_state)
        if self._momentum:
            rule, inputs = self._with_momentum(var, c)
            return rule.dense.operation(*inputs, grad, use_locking=self._use_locking)
        rms, mean = self._slots_of(var)
        new_rms = rms.assign(c["rho"] * rms + c["one_minus_rho"] * square(grad))
        new_mean = None if mean is None else mean.assign(c["rho"] * mean + c["one_minus_rho"] * grad)
        return var.assign(var - self._step(grad, new_rms, new_mean, c)).op

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any, apply_state: ApplyState | None = None) -> Any:
        c = self._coefficients(var, apply_state)
        if self._momentum:
            rule, inputs = self._with_momentum(var, c)
            return rule.sparse.operation(*inputs, grad, indices, use_locking=self._use_locking)
        rms, mean = self._slots_of(var)
        new_rms = self._decayed_and_added(rms, c["rho"], indices, square(grad) * c["one_minus_rho"])
        updates, mean_rows = [new_rms], None
        if mean is not None:
            updates.append(self._decayed_and_added(mean, c["rho"], indices, grad * c["one_minus_rho"]))
            mean_rows = gather(updates[1], indices)
        step = self._step(grad, gather(new_rms, indices), mean_rows, c)
        return group(*updates, self._resource_scatter_add(var, indices, -step))

    def _slots_of(self, var: Any) -> tuple[Any, Any]:
        return self.get_slot(var, "rms"), self.get_slot(var, "mg") if self.centered else None

    def _step(self, grad: Any, rms: Any, mean: Any, c: Coefficients) -> Any:
        spread = rms if mean is None else rms - square(mean)
        return c["lr_t"] * grad / (sqrt(spread) + c["epsilon"])

    def _with_momentum(self, var: Any, c: Coefficients) -> tuple[Any, list[Any]]:
        """The rule of an op, and its inputs before the gradient."""
        slots = [self.get_slot(var, name) for name in (["mg"] if self.centered else []) + ["rms", "momentum"]]
        rule = training.centered_rms_prop if self.centered else training.rms_prop
        return rule, [var, *slots, c["lr_t"], c["rho"], c["momentum"], c["epsilon"]]

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            **self._serialized("learning_rate", "decay", "rho", "momentum"),
            "epsilon": self.epsilon,
            "centered": self.centered,
        }
