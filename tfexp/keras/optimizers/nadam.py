"""Nadam. Source: `tf.keras.optimizers.Nadam`, TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.graph.dependencies import group
from tfexp.keras.optimizers.adam import WithMoments
from tfexp.keras.optimizers.optimizer import ApplyState, Coefficients
from tfexp.keras.optimizers.schedules import LearningRateSchedule
from tfexp.ops.array_gather import gather
from tfexp.ops.array_identity import identity
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_binary import pow as power_of
from tfexp.ops.elementwise_unary import sqrt
from tfexp.ops.variable_base import VariableAggregation

_FADING = 0.96  # of the momentum's schedule, as in the paper


class Nadam(WithMoments):
    """Adam with Nesterov's momentum, which warms up by a schedule (Dozat 2016). ValueError for a scheduled rate."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: Any = 0.9,
        beta_2: Any = 0.999,
        epsilon: float | None = 1e-7,
        name: str = "Nadam",
        **kwargs: Any,
    ):
        kwargs["decay"] = kwargs.pop("schedule_decay", 0.004)
        if isinstance(kwargs.get("lr", learning_rate), LearningRateSchedule):
            raise ValueError(
                "The Nadam optimizer does not support tf.keras.optimizers.LearningRateSchedules as the learning rate."
            )
        super().__init__(learning_rate, beta_1, beta_2, epsilon, name, **kwargs)
        self._m_cache: Any = None  # the product of the momenta so far

    def _create_slots(self, var_list: list[Any]) -> None:
        if self._m_cache is None:
            self._m_cache = self.add_weight(
                "momentum_cache",
                shape=[],
                dtype=var_list[0].dtype.base_dtype,
                initializer="ones",
                aggregation=VariableAggregation.ONLY_FIRST_REPLICA,
            )
            self._weights.append(self._m_cache)
        super()._create_slots(var_list)

    def _prepare(self, var_list: list[Any]) -> ApplyState:
        # For variables of several places the product goes on by one factor all the same.
        self._m_cache_read = identity(self._m_cache)
        return super()._prepare(var_list)

    def _decayed_lr(self, var_dtype: Any) -> Any:
        return self._get_hyper("learning_rate", var_dtype)  # `decay` is the momentum's

    def _prepare_local(self, var_device: str, var_dtype: Any, apply_state: ApplyState) -> None:
        super()._prepare_local(var_device, var_dtype, apply_state)
        c = apply_state[var_device, var_dtype]
        now, following = (cast(self.iterations + ahead, var_dtype) for ahead in (1, 2))
        momentum, next_momentum = (
            c["beta_1_t"] * (1.0 - 0.5 * power_of(cast(_FADING, var_dtype), self._initial_decay * step))  # type: ignore[operator]
            for step in (now, following)
        )
        product: Any = cast(self._m_cache_read, var_dtype) * momentum
        if var_dtype == self._m_cache.dtype.base_dtype:
            product = identity(self._m_cache.assign(product))
        c |= {
            "m_t": momentum,
            "m_t_1": next_momentum,
            "one_minus_m_schedule_new": 1.0 - product,
            "one_minus_m_schedule_next": 1.0 - product * next_momentum,
            "v_t_prime_denominator": 1.0 - c["beta_2_power"],
        }

    def _resource_apply_dense(self, grad: Any, var: Any, apply_state: ApplyState | None = None) -> Any:
        c = self._coefficients(var, apply_state)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_t = m.assign(c["beta_1_t"] * m + c["one_minus_beta_1_t"] * grad)
        v_t = v.assign(c["beta_2_t"] * v + c["one_minus_beta_2_t"] * (grad * grad))
        moved = var.assign(var - self._step(grad, m_t, v_t, c))
        return group(moved, m_t, v_t)

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any, apply_state: ApplyState | None = None) -> Any:
        """The moments of all rows decay; only those of `indices` move."""
        c = self._coefficients(var, apply_state)
        m = self._decayed_and_added(self.get_slot(var, "m"), c["beta_1_t"], indices, grad * c["one_minus_beta_1_t"])
        squares = (grad * grad) * c["one_minus_beta_2_t"]
        v = self._decayed_and_added(self.get_slot(var, "v"), c["beta_2_t"], indices, squares)
        step = self._step(grad, gather(m, indices), gather(v, indices), c)
        return group(self._resource_scatter_add(var, indices, -step), m, v)

    def _step(self, grad: Any, m: Any, v: Any, c: Coefficients) -> Any:
        ahead = c["m_t_1"] * (m / c["one_minus_m_schedule_next"])
        mean = (1.0 - c["m_t"]) * (grad / c["one_minus_m_schedule_new"]) + ahead
        return c["lr_t"] * mean / (sqrt(v / c["v_t_prime_denominator"]) + c["epsilon"])

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "decay": self._initial_decay}
