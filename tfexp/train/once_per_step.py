"""Synchronous replicas that each make exactly one gradient a step: the runner's `update=sync`.

In `tf.train.SyncReplicasOptimizer` the tokens of a step are anyone's, so a fast replica takes two and makes two gradients of
a step, in which a slow one then has no part. Here each replica has a queue of its own, and a step puts one token into each:
the next round, and whether the replica's gradient was in the mean. A replica that was too slow takes up the newest of its
tokens. What a replica hands in counts once all of it is there: it then adds its vote, and the chief takes the votes first,
so that a step is made as a whole or not at all.

Replicas, the chief and servers may be lost at any time: `generations` says what becomes of the step.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.errors import DeadlineExceededError, OpError
from tfexp.graph.convert import IndexedSlices, convert_to_tensor
from tfexp.graph.dependencies import group
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import control_dependencies, device, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import state
from tfexp.ops.accumulator import ConditionalAccumulator, SparseConditionalAccumulator
from tfexp.ops.array_fill import zeros
from tfexp.ops.array_join import concat
from tfexp.ops.cast import cast
from tfexp.ops.check import assert_op
from tfexp.ops.comparison import equal
from tfexp.ops.queue import FIFOQueue
from tfexp.ops.reduce import reduce_max, reduce_sum
from tfexp.ops.scatter import scatter_add
from tfexp.ops.uninitialized import report_uninitialized_variables
from tfexp.ops.variable_lists import global_variables
from tfexp.ops.variables import Variable
from tfexp.runtime.protos import RunOptions
from tfexp.runtime.session import Session
from tfexp.train.generations import OVER, Generations
from tfexp.train.optimizer import Optimizer
from tfexp.train.sync_replicas import SyncReplicasOptimizer, UpdateRunner
from tfexp.train.whole_updates import WholeUpdates

__all__ = ["OncePerStep"]


_DISBANDED = "the generation of replicas was disbanded"
_BEGUN_WITHIN = 5.0
"""Seconds in which a generation should have begun, the first time that this is tried."""


class OncePerStep(SyncReplicasOptimizer):
    """Applies the mean of the gradients of at least `replicas_to_aggregate` of `total_num_replicas` with `opt`.

    `replica` is the number of the one whose graph this is. Its train op answers with the next round. After
    `apply_gradients` there are:

    - `generations` and `updates`: the marks of who takes part, and of whether an update was cut off
    - `begin_generation`: what the chief runs, by `begin`, before its queue runner is started, in each of its sessions
    - `join`: what another replica runs before it hands in its first gradient; gives the round
    - `used`, fetched with the train op: how many of this replica's gradients were in a mean since the last answer (0, 1)
    - `take_up`: an answer alone, without handing in a gradient: for a replica whose answer was of a round before its own
    - `dropped`, int64 [total_num_replicas]: the gradients of each that came too late, as the replicas say by `count_dropped`
    - `disband`: the updates end, with an error for the queue runner that `disbanded` knows
    - `end`: all replicas but the chief get a token that says that the training is over
    - `hold` and `release`: between them, no step is made. None where every replica has a part in every step: then none is
      made while the chief does something else.
    """

    generations: Generations
    updates: WholeUpdates
    begin_generation: Any
    join: Any
    used: Any
    take_up: Any
    dropped: Any
    count_dropped: Any
    disband: Operation
    end: Operation

    def __init__(self, opt: Optimizer, replicas_to_aggregate: int, total_num_replicas: int, replica: int):
        super().__init__(opt, replicas_to_aggregate, total_num_replicas)
        self._replica = replica
        self._permits: FIFOQueue | None = None
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
        local_round = self._local_step(global_step)
        self.ready_for_local_init_op = report_uninitialized_variables(global_variables())
        with name_scope(None, self._name):
            self.generations = generations = Generations(global_step, replicas, self._replica)
            self.updates = WholeUpdates(global_step)
            with device(global_step.device):
                # One vote of each replica, and one against the generation.
                votes = ConditionalAccumulator(
                    dtypes.float32, [replicas + 1], shared_name="sync_votes", name="votes", reduction_type="SUM"
                )
                vote_of = np.eye(replicas + 1, dtype=np.float32)
                counted = self._counted(votes)
                self._tokens = [
                    FIFOQueue(-1, [dtypes.int64, dtypes.int64], [(), ()], name=f"tokens_{i}", shared_name=f"sync_tokens_{i}")
                    for i in range(replicas)
                ]
                may_update = self._permit(counted)
            accumulators, handed_in, means = self._summed(pairs, local_round, may_update)
            with device(global_step.device), name_scope(""):
                with control_dependencies(handed_in):
                    vote = votes.apply_grad(vote_of[self._replica], local_step=local_round)
                with control_dependencies([vote]):
                    newest, self.used = self._answer()
                train_op: Tensor = state.assign(local_round._ref(), newest)
                self.take_up = self._again(local_round)
                self.join = state.assign(local_round._ref(), generations.join)
                update = self._opt.apply_gradients(means, global_step)
                self._chief_queue_runner = UpdateRunner(
                    self._tokens[0],
                    [self._end_of_step(update, counted)],
                    cancel_op=self._tokens[0].enqueue((np.int64(OVER), np.int64(0))),  # its replica waits for no more
                )
                with control_dependencies([generations.end]):
                    self.end = group(*(queue.enqueue((np.int64(OVER), np.int64(0))) for queue in self._tokens[1:]))
                against = [
                    votes.apply_grad(vote_of[replicas], local_step=generations.last_round)
                    for _ in range(self._replicas_to_aggregate)
                ]
                self.disband = group(*against)
                counts: Any = Variable(np.zeros(replicas, np.int64), trainable=False, collections=[], name="dropped")
                self.dropped = counts
                self.count_dropped = scatter_add(counts, [self._replica], [1], use_locking=True)
            accumulators.append((votes, np.zeros(replicas + 1, np.float32), global_step.device))
            self.begin_generation = self._begin(accumulators, counts.initializer, local_round)
            self.chief_init_op, self.local_step_init_op = self.begin_generation, self.join
        return train_op

    def _begin(self, accumulators: list[tuple[Any, Any, str]], start: Any, local_round: Any) -> Any:
        """A node that empties the accumulators, has them drop what is of earlier rounds, and wakes who waits in one."""
        first = self.generations.next()
        emptied = [start]
        for accumulator, nothing, where in accumulators:
            with device(where):
                with control_dependencies([accumulator.set_global_step(first - 1)]):
                    added = _add(accumulator, nothing, first - 1)
                with control_dependencies([added]):  # so there is something to take, which makes it the first round
                    emptied.append(_take(accumulator, 1))
        with device(self._global_step.device), control_dependencies(emptied):
            begun = [queue.enqueue((first, np.int64(0))) for queue in self._tokens[1:]]
            own: list[tuple[FIFOQueue, Any]] = [(self._tokens[0], (first, np.int64(0)))]
            if self._permits is not None:
                own.append((self._permits, (True,)))
            for queue, element in own:
                with control_dependencies([group(queue.dequeue_many(queue.size()))]):  # what a chief before this one left
                    begun.append(queue.enqueue(element))
        with control_dependencies(begun):
            return state.assign(local_round._ref(), first)

    def begin(self, session: Session, within: float = _BEGUN_WITHIN) -> int:
        """Begin a generation; its first round.

        A step of a former session of the chief's that has not ended everywhere may take what this one puts in, and then
        waits to take out. It is given `within` seconds; then the next generation is begun instead, with twice as many.
        """
        while True:
            try:
                return int(session.run(self.begin_generation, options=RunOptions(timeout_in_ms=int(1e3 * within))))
            except DeadlineExceededError:
                within *= 2

    def disbanded(self, error: OpError) -> bool:
        """Whether this is how the updates end when the generation is disbanded."""
        return _DISBANDED in error.message

    def get_init_tokens_op(self, num_tokens: int = -1) -> Any:
        """Nothing: nobody needs a token for the first step."""
        if self._chief_queue_runner is None:
            raise ValueError("get_init_tokens_op() should be called after apply_gradients().")
        return group()

    def _counted(self, votes: ConditionalAccumulator) -> Any:
        """Whose gradients are in the step: enough of them are, and nobody is against the generation."""
        taken = cast(votes.take_grad(self._replicas_to_aggregate), dtypes.int64)
        with control_dependencies([assert_op(equal(taken[-1], 0), [_DISBANDED])]):
            return taken[:-1]

    def _permit(self, counted: Any) -> list[Any]:
        """What changes to variables wait for: enough votes and, where replicas are spare, that nobody holds the updates."""
        waited_for = [counted]
        if self._replicas_to_aggregate < self._total_num_replicas:
            self._permits = FIFOQueue(1, [dtypes.bool], [()], name="permit", shared_name="sync_permit")
            self.hold, self.release = self._permits.dequeue(), self._permits.enqueue((True,))
            with control_dependencies(waited_for):
                waited_for = [self._permits.dequeue()]
        with control_dependencies(waited_for):
            return [self.updates.begin()]

    def _summed(
        self, pairs: Sequence[Any], local_round: Any, may_update: Sequence[Any]
    ) -> tuple[list[tuple[Any, Any, str]], list[Any], list[tuple[Any, Any]]]:
        """The accumulators, each with a gradient of 0 and its device; the ops that hand in; the means with their variables.

        A row's mean is over all gradients, not only over those that have the row: so it is that of one large batch.
        """
        accumulators: list[tuple[Any, Any, str]] = []
        handed_in: list[Any] = []
        means: list[tuple[Any, Any]] = []
        for grad, variable in pairs:
            mean: Any
            with device(variable.device):
                shared = f"{variable.name}/sync_gradients"
                if isinstance(grad, IndexedSlices):
                    rows = SparseConditionalAccumulator(grad.dtype, shape=(), shared_name=shared, reduction_type="SUM")
                    handed_in.append(rows.apply_indexed_slices_grad(grad, local_step=local_round))
                    with control_dependencies(may_update):
                        count = rows.num_accumulated()
                    with control_dependencies([count]):
                        total = rows.take_indexed_slices_grad(self._replicas_to_aggregate)
                    mean = IndexedSlices(total.values / cast(count, grad.dtype), total.indices, total.dense_shape)
                    nothing = zeros([1, *variable.get_shape().as_list()[1:]], grad.dtype)
                    accumulators.append((rows, nothing, variable.device))
                else:
                    dense = ConditionalAccumulator(grad.dtype, shape=variable.get_shape(), shared_name=shared)
                    handed_in.append(dense.apply_grad(grad, local_step=local_round))
                    with control_dependencies(may_update):
                        mean = dense.take_grad(self._replicas_to_aggregate)
                    nothing = zeros(variable.get_shape(), grad.dtype)
                    accumulators.append((dense, nothing, variable.device))
            means.append((mean, variable))
        return accumulators, handed_in, means

    def _answer(self) -> tuple[Any, Any]:
        """The next round, and whether this replica's gradient was used; waits for a token."""
        queue = self._tokens[self._replica]
        number, used = queue.dequeue()
        if self._replicas_to_aggregate == self._total_num_replicas:
            return number, used
        with control_dependencies([number]):
            later = queue.size()
        later_rounds, later_used = queue.dequeue_many(later)
        return (
            reduce_max(concat([[number], later_rounds], 0)),
            convert_to_tensor(used + reduce_sum(later_used)),
        )

    def _again(self, local_round: Any) -> tuple[Any, Any]:
        newest, used = self._answer()
        return state.assign(local_round._ref(), newest), used

    def _end_of_step(self, update: Any, counted: Any) -> Any:
        """A node that answers all replicas once the update is made."""
        with control_dependencies([update]):
            number = self.generations.round
        ends = [queue.enqueue((number, counted[i])) for i, queue in enumerate(self._tokens)]
        if self._permits is not None:
            with control_dependencies(ends):
                ends.append(self._permits.enqueue((True,)))
        return group(*ends)


def _add(accumulator: Any, nothing: Any, number: Any) -> Any:
    if isinstance(accumulator, SparseConditionalAccumulator):
        return accumulator.apply_grad([0], nothing, local_step=number)
    return accumulator.apply_grad(nothing, local_step=number)


def _take(accumulator: Any, required: int) -> Any:
    if isinstance(accumulator, SparseConditionalAccumulator):
        return accumulator.take_indexed_slices_grad(required).values
    return accumulator.take_grad(required)
