"""Adam, AMSGrad and AdaMax. Source: `tf.keras.optimizers`, TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.graph.dependencies import group
from tfexp.graph.scopes import control_dependencies
from tfexp.keras import backend
from tfexp.keras.optimizers.optimizer import ApplyState, Optimizer
from tfexp.ops import training, training_keras
from tfexp.ops.array_gather import gather
from tfexp.ops.array_identity import identity
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_binary import maximum
from tfexp.ops.elementwise_binary import pow as power_of
from tfexp.ops.elementwise_unary import abs as abs_
from tfexp.ops.elementwise_unary import sqrt


class WithMoments(Optimizer):
    """What the family shares: a fading mean of gradients `m`, one of their sizes `v`, both corrected for a start at 0."""

    epsilon: float

    def __init__(self, learning_rate: Any, beta_1: Any, beta_2: Any, epsilon: float | None, name: str, **kwargs: Any):
        super().__init__(name, **kwargs)
        self._set_rate(learning_rate, kwargs)
        self._set_hyper("beta_1", beta_1)
        self._set_hyper("beta_2", beta_2)
        self.epsilon = epsilon or backend.epsilon()

    def _create_slots(self, var_list: list[Any]) -> None:
        for name in ("m", "v"):
            for var in var_list:
                self.add_slot(var, name)

    def _prepare_local(self, var_device: str, var_dtype: Any, apply_state: ApplyState) -> None:
        super()._prepare_local(var_device, var_dtype, apply_state)
        step = cast(self.iterations + 1, var_dtype)
        beta_1: Any = identity(self._get_hyper("beta_1", var_dtype))
        beta_2: Any = identity(self._get_hyper("beta_2", var_dtype))
        apply_state[var_device, var_dtype] |= {
            "epsilon": backend.constant(self.epsilon, var_dtype),
            "beta_1_t": beta_1,
            "beta_1_power": power_of(beta_1, step),
            "one_minus_beta_1_t": 1 - beta_1,
            "beta_2_t": beta_2,
            "beta_2_power": power_of(beta_2, step),
            "one_minus_beta_2_t": 1 - beta_2,
        }

    def set_weights(self, weights: Any) -> None:
        own = self.weights
        # Files of older versions hold the largest second moments, too, also where these are not used.
        if len(weights) == 3 * ((len(own) - 1) // 2) + 1:
            weights = weights[: len(own)]
        super().set_weights(weights)

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            **self._serialized("learning_rate", "decay", "beta_1", "beta_2"),
            "epsilon": self.epsilon,
        }


class Adam(WithMoments):
    """Steps by the bias-corrected first moment over the root of the second (Kingma and Ba 2014).

    `amsgrad`: over the largest second moment so far (Reddi et al. 2018). `epsilon` is the paper's "epsilon hat".
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: Any = 0.9,
        beta_2: Any = 0.999,
        epsilon: float | None = 1e-7,
        amsgrad: bool = False,
        name: str = "Adam",
        **kwargs: Any,
    ):
        super().__init__(learning_rate, beta_1, beta_2, epsilon, name, **kwargs)
        self.amsgrad = amsgrad

    def _create_slots(self, var_list: list[Any]) -> None:
        super()._create_slots(var_list)
        if self.amsgrad:
            for var in var_list:
                self.add_slot(var, "vhat")

    def _resource_apply_dense(self, grad: Any, var: Any, apply_state: ApplyState | None = None) -> Any:
        c = self._coefficients(var, apply_state)
        slots = [self.get_slot(var, name) for name in (("m", "v", "vhat") if self.amsgrad else ("m", "v"))]
        scalars = [c[key] for key in ("beta_1_power", "beta_2_power", "lr_t", "beta_1_t", "beta_2_t", "epsilon")]
        rule = training_keras.apply_adam_with_amsgrad if self.amsgrad else training.apply_adam
        return rule.operation(var, *slots, *scalars, grad, use_locking=self._use_locking)

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any, apply_state: ApplyState | None = None) -> Any:
        """The moments of all rows decay, those of `indices` also take in the gradient; all rows move."""
        c = self._coefficients(var, apply_state)
        m = self._decayed_and_added(self.get_slot(var, "m"), c["beta_1_t"], indices, grad * c["one_minus_beta_1_t"])
        squares = (grad * grad) * c["one_minus_beta_2_t"]
        v = self._decayed_and_added(self.get_slot(var, "v"), c["beta_2_t"], indices, squares)
        updates, size = [m, v], v
        if self.amsgrad:
            vhat = self.get_slot(var, "vhat")
            size = maximum(vhat, v)
            with control_dependencies([size]):
                updates.append(vhat.assign(size))
        rate = c["lr_t"] * sqrt(1 - c["beta_2_power"]) / (1 - c["beta_1_power"])
        return group(var.assign_sub(rate * m / (sqrt(size) + c["epsilon"])), *updates)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "amsgrad": self.amsgrad}


class Adamax(WithMoments):
    """Adam with the largest gradient, fading, in place of the second moment (Kingma and Ba 2014, section 7.1)."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: Any = 0.9,
        beta_2: Any = 0.999,
        epsilon: float | None = 1e-7,
        name: str = "Adamax",
        **kwargs: Any,
    ):
        super().__init__(learning_rate, beta_1, beta_2, epsilon, name, **kwargs)

    def _resource_apply_dense(self, grad: Any, var: Any, apply_state: ApplyState | None = None) -> Any:
        c = self._coefficients(var, apply_state)
        slots = [self.get_slot(var, "m"), self.get_slot(var, "v")]
        scalars = [c[key] for key in ("beta_1_power", "lr_t", "beta_1_t", "beta_2_t", "epsilon")]
        return training.apply_ada_max.operation(var, *slots, *scalars, grad, use_locking=self._use_locking)

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any, apply_state: ApplyState | None = None) -> Any:
        """Rows that have no gradient stay as they are, with their moments."""
        c = self._coefficients(var, apply_state)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_rows: Any = gather(m, indices) * c["beta_1_t"] + grad * c["one_minus_beta_1_t"]  # type: ignore[operator]
        v_rows: Any = maximum(gather(v, indices) * c["beta_2_t"], abs_(grad))  # type: ignore[operator]
        slots = [self._resource_scatter_update(m, indices, m_rows), self._resource_scatter_update(v, indices, v_rows)]
        rate = c["lr_t"] / (1 - c["beta_1_power"])
        return group(self._resource_scatter_add(var, indices, -rate * (m_rows / (v_rows + c["epsilon"]))), *slots)
