"""Synchronous replicas that each make exactly one gradient a step: the runner's `update=sync`.

In `tf.train.SyncReplicasOptimizer` the tokens of a step are anyone's, so a fast replica takes two and makes two gradients of
a step, in which a slow one then has no part. Here each replica has a queue of its own, and a step puts one token into each:
the next step, and whether the replica's gradient was in the mean. A replica that was too slow takes up the newest of its
tokens. What a replica hands in counts once all of it is there: it then adds its vote, and the chief takes the votes first,
so that a step is made as a whole or not at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.graph.convert import IndexedSlices, convert_to_tensor
from tfexp.graph.dependencies import group
from tfexp.graph.scopes import control_dependencies, device, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import state
from tfexp.ops.accumulator import ConditionalAccumulator, SparseConditionalAccumulator
from tfexp.ops.array_join import concat
from tfexp.ops.cast import cast
from tfexp.ops.queue import FIFOQueue
from tfexp.ops.reduce import reduce_max, reduce_sum
from tfexp.ops.scatter import scatter_add
from tfexp.ops.uninitialized import report_uninitialized_variables
from tfexp.ops.variable_lists import global_variables
from tfexp.ops.variables import Variable
from tfexp.train.optimizer import Optimizer
from tfexp.train.sync_replicas import SyncReplicasOptimizer, UpdateRunner

__all__ = ["OncePerStep"]


class OncePerStep(SyncReplicasOptimizer):
    """Applies the mean of the gradients of at least `replicas_to_aggregate` of `total_num_replicas` with `opt`.

    Used as a SyncReplicasOptimizer; its train op answers with the next step, too. `replica` is the number of the one whose
    graph this is. After `apply_gradients` there are:

    - `used`, fetched with the train op: how many of this replica's gradients were in a mean since the last answer (0, 1)
    - `take_up`: an answer alone, without handing in a gradient: for a replica whose answer was of a step before its own
    - `dropped`, int64 [total_num_replicas]: the gradients of each that came too late, as the replicas say by `count_dropped`
    - `closed`: whether this replica's tokens have been closed, which the chief's queue runner does when it is stopped
    - `hold` and `release`: between them, no step is made. None where every replica has a part in every step: then none is
      made while the chief does something else.
    """

    def __init__(self, opt: Optimizer, replicas_to_aggregate: int, total_num_replicas: int, replica: int):
        super().__init__(opt, replicas_to_aggregate, total_num_replicas)
        self._replica = replica
        self._permits: FIFOQueue | None = None
        self.used: Any = None
        self.take_up: Any = None
        self.dropped: Any = None
        self.count_dropped: Any = None
        self.closed: Any = None
        self.hold: Any = None
        self.release: Any = None

    def apply_gradients(self, grads_and_vars: Iterable[Any], global_step: Any = None, name: str | None = None) -> Tensor:
        pairs = [(grad, variable) for grad, variable in grads_and_vars if grad is not None]
        if not pairs:
            raise ValueError("Must supply at least one variable that has a gradient")
        if global_step is None:
            raise ValueError("Global step is required to check staleness")
        self._global_step = global_step
        replicas = self._total_num_replicas
        local_step = self._local_step(global_step)
        self.local_step_init_op = state.assign(local_step._ref(), global_step)
        self.ready_for_local_init_op = report_uninitialized_variables(global_variables())
        with name_scope(None, self._name):
            with device(global_step.device):
                votes = ConditionalAccumulator(
                    dtypes.float32, [replicas], shared_name="sync_votes", name="votes", reduction_type="SUM"
                )
                counted = cast(votes.take_grad(self._replicas_to_aggregate), dtypes.int64)
                self._tokens = [
                    FIFOQueue(-1, [dtypes.int64, dtypes.int64], [(), ()], name=f"tokens_{i}", shared_name=f"sync_tokens_{i}")
                    for i in range(replicas)
                ]
                may_update = self._permit(counted)
            accumulators, handed_in, means = self._summed(pairs, local_step, may_update)
            with device(global_step.device), name_scope(""):
                with control_dependencies(handed_in):
                    vote = votes.apply_grad(np.eye(replicas, dtype=np.float32)[self._replica], local_step=local_step)
                with control_dependencies([vote]):
                    newest, self.used = self._answer()
                train_op: Tensor = state.assign(local_step._ref(), newest)
                self.take_up = self._again(local_step)
                self.closed = self._tokens[self._replica].is_closed()
                update = self._opt.apply_gradients(means, global_step)
                self._chief_queue_runner = UpdateRunner(
                    self._tokens[0],
                    [self._end_of_step(update, counted)],
                    cancel_op=group(*(queue.close(cancel_pending_enqueues=True) for queue in self._tokens)),
                )
                counts: Any = Variable(np.zeros(replicas, np.int64), trainable=False, collections=[], name="dropped")
                self.dropped, start = counts, counts.initializer
                self.count_dropped = scatter_add(counts, [self._replica], [1], use_locking=True)
            beginnings = [start]
            for accumulator, where in [*accumulators, (votes, global_step.device)]:
                with device(where):
                    beginnings.append(accumulator.set_global_step(global_step, name="SetGlobalStep"))
            self.chief_init_op = group(self.local_step_init_op, *beginnings)
            if self._permits is None:
                self._init_tokens = group()
        return train_op

    def get_init_tokens_op(self, num_tokens: int = -1) -> Any:
        """A node that the chief runs once, before the first step, for which nobody needs a token."""
        if self._chief_queue_runner is None:
            raise ValueError("get_init_tokens_op() should be called after apply_gradients().")
        return self._init_tokens

    def _permit(self, counted: Any) -> list[Any]:
        """What an update waits for: enough votes and, where replicas are spare, that nobody holds the updates."""
        if self._replicas_to_aggregate == self._total_num_replicas:
            return [counted]
        self._permits = FIFOQueue(1, [dtypes.bool], [()], name="permit", shared_name="sync_permit")
        self.hold, self.release = self._permits.dequeue(), self._permits.enqueue((True,))
        with control_dependencies([self._permits.dequeue_many(self._permits.size())]):  # of a chief before this one
            self._init_tokens = self._permits.enqueue((True,))
        with control_dependencies([counted]):
            return [self._permits.dequeue()]

    def _summed(
        self, pairs: Sequence[Any], local_step: Any, may_update: Sequence[Any]
    ) -> tuple[list[tuple[Any, Any]], list[Any], list[tuple[Any, Any]]]:
        """The accumulators with their devices, the ops that hand gradients in, and the means with their variables.

        A row's mean is over all gradients, not only over those that have the row: so it is that of one large batch.
        """
        accumulators: list[tuple[Any, Any]] = []
        handed_in: list[Any] = []
        means: list[tuple[Any, Any]] = []
        for grad, variable in pairs:
            mean: Any
            with device(variable.device):
                shared = f"{variable.name}/sync_gradients"
                if isinstance(grad, IndexedSlices):
                    rows = SparseConditionalAccumulator(grad.dtype, shape=(), shared_name=shared, reduction_type="SUM")
                    handed_in.append(rows.apply_indexed_slices_grad(grad, local_step=local_step))
                    with control_dependencies(may_update):
                        count = rows.num_accumulated()
                    with control_dependencies([count]):
                        total = rows.take_indexed_slices_grad(self._replicas_to_aggregate)
                    mean = IndexedSlices(total.values / cast(count, grad.dtype), total.indices, total.dense_shape)
                    accumulators.append((rows, variable.device))
                else:
                    dense = ConditionalAccumulator(grad.dtype, shape=variable.get_shape(), shared_name=shared)
                    handed_in.append(dense.apply_grad(grad, local_step=local_step))
                    with control_dependencies(may_update):
                        mean = dense.take_grad(self._replicas_to_aggregate)
                    accumulators.append((dense, variable.device))
            means.append((mean, variable))
        return accumulators, handed_in, means

    def _answer(self) -> tuple[Any, Any]:
        """The next step, and whether this replica's gradient was used; waits for a token."""
        queue = self._tokens[self._replica]
        step, used = queue.dequeue()
        if self._replicas_to_aggregate == self._total_num_replicas:
            return step, used
        with control_dependencies([step]):
            later = queue.size()
        later_steps, later_used = queue.dequeue_many(later)
        return (
            reduce_max(concat([[step], later_steps], 0)),
            convert_to_tensor(used + reduce_sum(later_used)),
        )

    def _again(self, local_step: Any) -> tuple[Any, Any]:
        newest, used = self._answer()
        return state.assign(local_step._ref(), newest), used

    def _end_of_step(self, update: Any, counted: Any) -> Any:
        """A node that answers all replicas once the update is made."""
        with control_dependencies([update]):
            step = self._global_step.read_value()
        ends = [queue.enqueue((cast(step, dtypes.int64), counted[i])) for i, queue in enumerate(self._tokens)]
        if self._permits is not None:
            with control_dependencies(ends):
                ends.append(self._permits.enqueue((True,)))
        return group(*ends)
