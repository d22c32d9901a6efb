"""Adam's kin. Source: `tf.contrib.opt.{AdaMaxOptimizer,NadamOptimizer,LazyAdamOptimizer}`, TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.graph.convert import IndexedSlices
from tfexp.graph.dependencies import group
from tfexp.graph.scopes import colocate_with, control_dependencies
from tfexp.graph.tensor import Tensor
from tfexp.ops import training
from tfexp.ops.array_gather import gather
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_binary import maximum
from tfexp.ops.elementwise_unary import abs as absolute
from tfexp.ops.elementwise_unary import sqrt
from tfexp.ops.scatter import scatter_sub, scatter_update
from tfexp.train.adam import AdamOptimizer


class AdaMaxOptimizer(AdamOptimizer):
    """Steps by the first moment over the largest gradient, which fades by `beta2` (Kingma and Ba 2014, section 7.1).

    Of a sparse gradient only the rows that have one decay and move.
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "AdaMax",
    ):
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)

    def _create_slots(self, var_list: list[Any]) -> None:
        first = min(var_list, key=lambda v: v.name)
        self._create_non_slot_variable(self._beta1, "beta1_power", first)
        for v in var_list:
            self._zeros_slot(v, "m", self._name)
            self._zeros_slot(v, "v", self._name)

    def _beta1_power(self) -> Any:
        return self._get_non_slot_variable("beta1_power", self._lr_t._graph)

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        dtype = var.dtype.base_dtype
        scalars = (
            self._beta1_power(),
            self._lr_t,
            self._beta1_t,
            self._beta2_t,
            self._epsilon_t,
        )
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        numbers = (cast(scalar, dtype) for scalar in scalars)
        return training.apply_ada_max.operation(var, m, v, *numbers, grad, use_locking=self._use_locking)

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        dtype, rows = var.dtype.base_dtype, grad.indices
        rate: Any = cast(self._lr_t, dtype) / (1 - cast(self._beta1_power(), dtype))  # type: ignore[operator]
        beta1, beta2, epsilon = (cast(t, dtype) for t in (self._beta1_t, self._beta2_t, self._epsilon_t))
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_rows = beta1 * gather(m, rows) + (1 - beta1) * grad.values  # type: ignore[operator]
        v_rows = maximum(beta2 * gather(v, rows), absolute(grad.values))  # type: ignore[operator]
        step = rate * m_rows / (v_rows + epsilon)
        locking = self._use_locking
        return group(
            scatter_sub(var, rows, step, use_locking=locking),
            scatter_update(m, rows, m_rows, use_locking=locking),
            scatter_update(v, rows, v_rows, use_locking=locking),
        )

    def _finish(self, update_ops: list[Any], name_scope: str) -> Any:
        with control_dependencies(update_ops):
            power = self._beta1_power()
            with colocate_with(power):
                advance = power.assign(power * self._beta1_t, use_locking=self._use_locking)
        return group(*update_ops, advance, name=name_scope)


class NadamOptimizer(AdamOptimizer):
    """Adam with Nesterov's momentum: the step takes the gradient in twice (Dozat 2015).

    With a sparse gradient the moments of all rows decay, but only the rows that have one move.
    """

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        dtype = var.dtype.base_dtype
        scalars = (
            *self._get_beta_accumulators(),
            self._lr_t,
            self._beta1_t,
            self._beta2_t,
            self._epsilon_t,
        )
        return training.apply_adam.operation(
            var,
            self.get_slot(var, "m"),
            self.get_slot(var, "v"),
            *(cast(scalar, dtype) for scalar in scalars),
            grad,
            use_locking=self._use_locking,
            use_nesterov=True,
        )

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        dtype, rows = var.dtype.base_dtype, grad.indices
        beta1_power, beta2_power = (cast(power, dtype) for power in self._get_beta_accumulators())
        beta1: Any = cast(self._beta1_t, dtype)
        beta2: Any = cast(self._beta2_t, dtype)
        rate: Any = cast(self._lr_t, dtype) * sqrt(1 - beta2_power) / (1 - beta1_power)  # type: ignore[operator]
        share: Any = grad.values * (1 - beta1)
        m = self._decay_and_add(self.get_slot(var, "m"), beta1, lambda: share, rows)
        v = self._decay_and_add(self.get_slot(var, "v"), beta2, lambda: grad.values * grad.values * (1 - beta2), rows)
        ahead = share + beta1 * gather(m, rows)
        step = rate * ahead / (sqrt(gather(v, rows)) + cast(self._epsilon_t, dtype))  # type: ignore[operator]
        return group(scatter_sub(var, rows, step, use_locking=self._use_locking), m, v)


class LazyAdamOptimizer(AdamOptimizer):
    """Adam that, given a sparse gradient, touches only the rows that have one: quick for large embeddings, and not the same.

    The moments of other rows do not decay meanwhile. Dense gradients are Adam's.
    """

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        dtype, rows, locking = var.dtype.base_dtype, grad.indices, self._use_locking
        beta1_power, beta2_power = (cast(power, dtype) for power in self._get_beta_accumulators())
        beta1: Any = cast(self._beta1_t, dtype)
        beta2: Any = cast(self._beta2_t, dtype)
        rate: Any = cast(self._lr_t, dtype) * sqrt(1 - beta2_power) / (1 - beta1_power)  # type: ignore[operator]
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_rows = beta1 * gather(m, rows) + (1 - beta1) * grad.values
        v_rows = beta2 * gather(v, rows) + (1 - beta2) * grad.values * grad.values
        step = rate * m_rows / (sqrt(v_rows) + cast(self._epsilon_t, dtype))  # type: ignore[operator]
        return group(
            scatter_sub(var, rows, step, use_locking=locking),
            scatter_update(m, rows, m_rows, use_locking=locking),
            scatter_update(v, rows, v_rows, use_locking=locking),
        )
