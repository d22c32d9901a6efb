"""Momentum with a rate for each layer (You et al. 2017). Source: `tf.contrib.opt.LARSOptimizer`, TF 1.15."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.tensor import Tensor
from tfexp.ops import training
from tfexp.ops.array_mask import where
from tfexp.ops.cast import cast
from tfexp.ops.norm import norm
from tfexp.train.momentum import MomentumOptimizer


class LARSOptimizer(MomentumOptimizer):
    """Layer-wise adaptive rate scaling: each variable's rate is in proportion to its norm over that of its gradient.

    rate = learning_rate * eeta * |var| / (|grad| + weight_decay * |var| + epsilon), where both norms are positive; the
    gradient has weight_decay * var added. Variables with a name that holds one of `skip_list` take plain momentum, and so do
    those with sparse gradients, which have no norms.
    """

    def __init__(
        self,
        learning_rate: Any,
        momentum: float = 0.9,
        weight_decay: float = 0.0001,
        eeta: float = 0.001,
        epsilon: float = 0.0,
        name: str = "LARSOptimizer",
        skip_list: Sequence[str] | None = None,
        use_nesterov: bool = False,
    ):
        if momentum < 0.0:
            raise ValueError(f"momentum should be positive: {momentum}")
        if weight_decay < 0.0:
            raise ValueError(f"weight_decay should be positive: {weight_decay}")
        super().__init__(learning_rate, momentum, name=name, use_nesterov=use_nesterov)
        self._weight_decay, self._eeta, self._epsilon, self._skip_list = weight_decay, eeta, epsilon, skip_list

    def compute_lr(self, grad: Any, var: Any) -> tuple[Any, Any]:
        """(the rate of a variable, its gradient with the decay of weights)."""
        dtype = var.dtype.base_dtype
        rate: Any = cast(self._learning_rate_tensor, dtype)
        if self._skip_list is not None and any(part in var.name for part in self._skip_list):
            return rate, grad
        length: Any = norm(var, ord=2)
        slope: Any = norm(grad, ord=2)
        trust = self._eeta * length / (slope + self._weight_decay * length + self._epsilon)
        one = convert_to_tensor(1.0, dtype)
        trust = where(length > 0, where(slope > 0, trust, one), one)
        return rate * trust, grad + self._weight_decay * var

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        dtype = var.dtype.base_dtype
        rate, whole = self.compute_lr(grad, var)
        return training.momentum.dense.operation(
            var,
            self.get_slot(var, "momentum"),
            convert_to_tensor(1.0, dtype),
            whole * rate,
            cast(self._momentum_tensor, dtype),
            use_locking=self._use_locking,
            use_nesterov=self._use_nesterov,
        )
