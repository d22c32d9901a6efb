"""Adam that takes the number of steps from a variable of the program's, so that it keeps no powers of its own.

Source: `tf.contrib.opt.{AdamGSOptimizer,LazyAdamGSOptimizer}`, TF 1.15.
"""

from __future__ import annotations

from typing import Any

from tfexp.contributed.opt.adam import LazyAdamOptimizer
from tfexp.core import dtypes
from tfexp.graph.dependencies import group
from tfexp.ops.array_identity import identity
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_binary import pow as power
from tfexp.train.adam import AdamOptimizer


class AdamGSOptimizer(AdamOptimizer):
    """Adam at the step `global_step` + 1, a number or a variable that counts the steps."""

    def __init__(
        self,
        global_step: Any = 0,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
    ):
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)
        self._global_step = global_step

    def _create_slots(self, var_list: list[Any]) -> None:
        for v in var_list:
            self._zeros_slot(v, "m", self._name)
            self._zeros_slot(v, "v", self._name)

    def _prepare(self) -> None:
        super()._prepare()
        # One read for all variables: the step may be on another machine.
        self._step: Any = cast(identity(self._global_step) + 1, dtypes.float32)  # type: ignore[operator]

    def _get_beta_accumulators(self) -> tuple[Any, Any]:
        return power(self._beta1_t, self._step), power(self._beta2_t, self._step)

    def _finish(self, update_ops: list[Any], name_scope: str) -> Any:
        return group(*update_ops, name=name_scope)


class LazyAdamGSOptimizer(AdamGSOptimizer, LazyAdamOptimizer):
    """AdamGSOptimizer that, given a sparse gradient, touches only the rows that have one."""
