"""Gradients that come too late are dropped. Source: `tf.contrib.opt.DropStaleGradientOptimizer`, TF 1.15."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfexp.contributed.opt.wrapper import OptimizerWrapper
from tfexp.core import dtypes
from tfexp.graph.control_flow import cond
from tfexp.graph.convert import IndexedSlices, constant, convert_to_tensor
from tfexp.graph.scopes import colocate_with, control_dependencies
from tfexp.ops import state
from tfexp.ops.array_identity import identity
from tfexp.ops.cast import cast
from tfexp.ops.initializers import zeros_initializer
from tfexp.ops.summary import scalar
from tfexp.ops.variable_scope import get_variable
from tfexp.train.global_step import get_global_step
from tfexp.train.optimizer import Optimizer


class DropStaleGradientOptimizer(OptimizerWrapper):
    """Applies gradients only if at most `staleness` steps were taken since they began to be computed.

    Gradients that are dropped make no step; the variable `stale_counter` counts them, and a summary shows their share.
    """

    def __init__(self, opt: Optimizer, staleness: int, use_locking: bool = False, name: str = "DropStaleGradient"):
        super().__init__(opt, use_locking, name)
        self._staleness = staleness
        self._computed_at: Any = None

    def compute_gradients(self, loss: Any, *args: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        """As `opt`'s, once the global step was read. ValueError where the graph has none."""
        loss, step = convert_to_tensor(loss), get_global_step()
        if step is None:
            raise ValueError(f"{self._name}: the graph has no global step to tell how stale gradients are by")
        with colocate_with(loss):
            # A value of its own: the variable's buffer would follow later updates.
            self._computed_at = step + 0
        with control_dependencies([self._computed_at]):
            return super().compute_gradients(identity(loss), *args, **kwargs)

    def apply_gradients(self, grads_and_vars: Iterable[Any], global_step: Any = None, name: str | None = None) -> Any:
        """Applies the gradients or drops them; how many were dropped. ValueError without `global_step`."""
        if global_step is None:
            raise ValueError(f"{self._name}: apply_gradients needs the global_step, to tell how stale gradients are by")
        pairs = list(grads_and_vars)
        arrived = [
            part
            for g, _ in pairs
            if g is not None
            for part in ([g.values, g.indices] if isinstance(g, IndexedSlices) else [g])
        ]
        with colocate_with(global_step):
            dropped = get_variable("stale_counter", [], initializer=zeros_initializer(), trainable=False)
            with control_dependencies(arrived):
                late = (global_step + 0) - self._computed_at

        def accepted() -> Any:
            with control_dependencies([self._opt.apply_gradients(pairs, global_step=global_step, name=name)]):
                return identity(constant(0.0))

        counted = cond(late <= self._staleness, accepted, lambda: identity(constant(1.0)))
        update = state.assign_add(dropped, counted, use_locking=self._use_locking)
        scalar("Gradient_staleness_percentage", dropped / cast(global_step + 1, dtypes.float32))
        return update
