"""Adagrad with steps that leave the rates alone. Source: `tf.contrib.opt.RegAdagradOptimizer`, TF 1.15."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from tfexp.graph.convert import IndexedSlices
from tfexp.graph.tensor import Tensor
from tfexp.ops import training
from tfexp.ops.cast import cast
from tfexp.train.adagrad import AdagradOptimizer


class RegAdagradOptimizer(AdagradOptimizer):
    """Adagrad whose accumulators can be kept from what a penalty adds: apply its gradients in `avoid_updating_slots()`."""

    def __init__(
        self,
        learning_rate: Any,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "RegAdagrad",
    ):
        super().__init__(learning_rate, initial_accumulator_value, use_locking, name)
        self._settings = {"use_locking": use_locking, "update_slots": True}

    @contextlib.contextmanager
    def avoid_updating_slots(self) -> Iterator[None]:
        """Within it, steps that are made use the accumulators as they are."""
        before = self._settings
        self._settings = {**before, "update_slots": False}
        try:
            yield
        finally:
            self._settings = before

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        rate, slot = cast(self._learning_rate_tensor, var.dtype.base_dtype), self.get_slot(var, "accumulator")
        return training.adagrad.dense(var, slot, rate, grad, **self._settings)

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        rate, slot = cast(self._learning_rate_tensor, var.dtype.base_dtype), self.get_slot(var, "accumulator")
        return training.adagrad.sparse(var, slot, rate, grad.values, grad.indices, **self._settings)
