"""An optimizer's steps from the gradients of all shards of a TPU. Source: `tf.tpu.CrossShardOptimizer`, TF 1.15."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfexp.contributed.opt.wrapper import OptimizerWrapper
from tfexp.graph.scopes import colocate_with
from tfexp.ops.cross_replica import cross_replica_sum, shards_or_one
from tfexp.ops.losses import Reduction
from tfexp.train.optimizer import Optimizer


class CrossShardOptimizer(OptimizerWrapper):
    """Sums the gradients of the shards before `opt` applies them; with the mean as `reduction` the loss is divided by their
    number.

    `group_assignment`: rows of shards that are summed each by themselves. TypeError for an `opt` that is no optimizer,
    ValueError for another reduction than SUM and MEAN, or groups that have not the same size or not every shard once.
    """

    def __init__(
        self,
        opt: Optimizer,
        reduction: str = Reduction.MEAN,
        name: str = "CrossShardOptimizer",
        group_assignment: list[list[int]] | None = None,
    ):
        if reduction not in (Reduction.SUM, Reduction.MEAN):
            raise ValueError(f"Unsupported reduction: {reduction}.")
        if not isinstance(opt, Optimizer):
            raise TypeError(f"CrossShardOptimizer only works with tf.train.Optimizer, got {opt!r}")
        super().__init__(opt, use_locking=False, name=name)
        self._reduction = reduction
        self._groups = group_assignment

    def compute_gradients(self, loss: Any, *args: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        """Of this shard's part of the loss; arguments as those of the optimizer."""
        shards = shards_or_one("CrossShardOptimizer")
        group = shards if self._groups is None else _group_size(self._groups, shards)
        if self._reduction == Reduction.MEAN and shards > 1:
            loss = loss * (1.0 / group)
        return self._opt.compute_gradients(loss, *args, **kwargs)

    def apply_gradients(self, grads_and_vars: Iterable[Any], global_step: Any = None, name: str | None = None) -> Any:
        """The op that takes the step of the optimizer, with the sums over the shards."""
        summed: list[tuple[Any, Any]] = []
        for grad, variable in grads_and_vars:
            if grad is None:
                summed.append((None, variable))
                continue
            with colocate_with(grad):
                summed.append((cross_replica_sum(grad, self._groups), variable))
        return self._opt.apply_gradients(summed, global_step, name)


def _group_size(groups: list[list[int]], shards: int) -> int:
    if sorted(shard for group in groups for shard in group) != list(range(shards)):
        raise ValueError(f"group_assignment must have each of the {shards} shards once, and is {groups}")
    sizes = {len(group) for group in groups}
    if len(sizes) != 1:
        raise ValueError(f"All groups of group_assignment must have one size; they have {sorted(sizes)}")
    return sizes.pop()
