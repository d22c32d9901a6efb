"""Optimizers found by search, by whether the gradient agrees with its average in sign (Bello et al. 2017), and decays of it.

Source: `tf.contrib.opt.{AddSignOptimizer,PowerSignOptimizer,get_linear_decay_fn,get_cosine_decay_fn,
get_restart_decay_fn}`, TF 1.15.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import IndexedSlices, convert_to_tensor
from tfexp.graph.dependencies import group
from tfexp.graph.scopes import control_dependencies
from tfexp.graph.tensor import Tensor
from tfexp.ops import state, training
from tfexp.ops.array_gather import gather
from tfexp.ops.array_mask import where
from tfexp.ops.cast import cast
from tfexp.ops.comparison import greater_equal
from tfexp.ops.elementwise_binary import minimum
from tfexp.ops.elementwise_division import floormod
from tfexp.ops.elementwise_trig import cos
from tfexp.ops.elementwise_unary import exp, sign
from tfexp.ops.scatter import scatter_add, scatter_sub
from tfexp.train.optimizer import Optimizer, call_if_callable

Decay = Callable[[Any], Any]


class _SignOptimizer(Optimizer):
    """m = beta * m + (1 - beta) * grad; var -= learning_rate * scale(sign_decay * sign(grad) * sign(m)) * grad.

    sign_decay_fn(global_step) says how much the agreement counts, 1 without it. A sparse gradient lets `m` decay
    everywhere, and moves the rows that have one.
    """

    def __init__(
        self, learning_rate: Any, beta: Any, sign_decay_fn: Decay | None, use_locking: bool, name: str, factor: float
    ):
        super().__init__(use_locking, name)
        self._lr, self._beta, self._sign_decay_fn, self._factor = learning_rate, beta, sign_decay_fn, factor
        self._global_step: Any = None

    def _dense(self) -> Any:
        """The op of dense gradients; its scalars are lr, factor, sign_decay, beta."""
        raise NotImplementedError

    def _scale(self, agreement: Any, factor: Any) -> Any:
        raise NotImplementedError

    def apply_gradients(self, grads_and_vars: Iterable[Any], global_step: Any = None, name: str | None = None) -> Any:
        """As all optimizers'. ValueError without `global_step` where the sign decays with it."""
        if self._sign_decay_fn is not None and global_step is None:
            raise ValueError(f"{self._name}: apply_gradients needs a global_step for sign_decay_fn to decay with")
        self._global_step = global_step
        return super().apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def _create_slots(self, var_list: list[Any]) -> None:
        for v in var_list:
            self._zeros_slot(v, "m", self._name)

    def _prepare(self) -> None:
        self._lr_t = convert_to_tensor(call_if_callable(self._lr), name="learning_rate")
        self._beta_t = convert_to_tensor(call_if_callable(self._beta), name="beta")
        self._factor_tensor = convert_to_tensor(self._factor, name="factor")
        decay = 1.0 if self._sign_decay_fn is None else self._sign_decay_fn(self._global_step)
        self._sign_decay_t = convert_to_tensor(decay, name="sign_decay")

    def _scalars(self, dtype: Any) -> list[Any]:
        tensors = (self._lr_t, self._factor_tensor, self._sign_decay_t, self._beta_t)
        return [cast(tensor, dtype) for tensor in tensors]

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        scalars = self._scalars(var.dtype.base_dtype)
        return self._dense().operation(var, self.get_slot(var, "m"), *scalars, grad, use_locking=self._use_locking)

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        rate, factor, decay, beta = self._scalars(var.dtype.base_dtype)
        values: Any = grad.values
        m, locking = self.get_slot(var, "m"), self._use_locking
        with control_dependencies([state.assign(m, m * beta, use_locking=locking)]):
            added = scatter_add(m, grad.indices, values * (1 - beta), use_locking=locking)
        with control_dependencies([added]):
            averaged = gather(m.read_value(), grad.indices)
        agreement: Any = sign(values) * sign(averaged)  # type: ignore[operator]
        step = rate * self._scale(decay * agreement, factor) * values
        return group(scatter_sub(var, grad.indices, step, use_locking=locking), added)


class AddSignOptimizer(_SignOptimizer):
    """var -= learning_rate * (alpha + sign_decay * sign(grad) * sign(m)) * grad, with m the average of gradients."""

    def __init__(
        self,
        learning_rate: Any = 0.1,
        alpha: float = 1.0,
        beta: Any = 0.9,
        sign_decay_fn: Decay | None = None,
        use_locking: bool = False,
        name: str = "AddSignOptimizer",
    ):
        super().__init__(learning_rate, beta, sign_decay_fn, use_locking, name, alpha)

    def _dense(self) -> Any:
        return training.apply_add_sign

    def _scale(self, agreement: Any, factor: Any) -> Any:
        return factor + agreement


class PowerSignOptimizer(_SignOptimizer):
    """var -= learning_rate * base ** (sign_decay * sign(grad) * sign(m)) * grad, with m the average of gradients."""

    def __init__(
        self,
        learning_rate: Any = 0.1,
        base: float = math.e,
        beta: Any = 0.9,
        sign_decay_fn: Decay | None = None,
        use_locking: bool = False,
        name: str = "PowerSignOptimizer",
    ):
        super().__init__(learning_rate, beta, sign_decay_fn, use_locking, name, math.log(base))

    def _dense(self) -> Any:
        return training.apply_power_sign

    def _scale(self, agreement: Any, factor: Any) -> Any:
        return exp(factor * agreement)


def get_linear_decay_fn(decay_steps: Any) -> Decay:
    """From 1 at step 0 linearly to 0 at `decay_steps`, and 0 afterwards."""

    def decay(global_step: Any) -> Any:
        if global_step is None:
            raise ValueError("global_step is required for linear_decay.")
        return 1.0 - _completed(global_step, decay_steps)

    return decay


def get_cosine_decay_fn(decay_steps: Any, num_periods: float = 0.5, zero_after: float | None = None) -> Decay:
    """(1 + cos) / 2 over `num_periods` periods in `decay_steps`; 0 once `zero_after` periods are over."""

    def decay(global_step: Any) -> Any:
        if global_step is None:
            raise ValueError("global_step is required for cosine_decay.")
        periods = num_periods * _completed(global_step, decay_steps)
        return _zero_after(zero_after, periods, 0.5 * (1.0 + cos(2.0 * math.pi * periods)))  # type: ignore[operator]

    return decay


def get_restart_decay_fn(decay_steps: Any, num_periods: float = 1, zero_after: float | None = None) -> Decay:
    """(1 + cos) / 2 over half a period, `num_periods` times in `decay_steps`; 0 once `zero_after` of them are over."""

    def decay(global_step: Any) -> Any:
        if global_step is None:
            raise ValueError("global_step is required for cosine_decay.")
        periods = num_periods * _completed(global_step, decay_steps)
        part: Any = floormod(periods, convert_to_tensor(1.0))
        return _zero_after(zero_after, periods, 0.5 * (1.0 + cos(math.pi * part)))  # type: ignore[operator]

    return decay


def _completed(global_step: Any, decay_steps: Any) -> Any:
    """The part of `decay_steps` that is over, at most 1."""
    done = cast(global_step, dtypes.float32) / cast(decay_steps, dtypes.float32)  # type: ignore[operator]
    return minimum(done, 1.0)


def _zero_after(limit: float | None, periods: Any, decayed: Any) -> Any:
    return decayed if limit is None else where(greater_equal(periods, limit), 0.0 * decayed, decayed)
