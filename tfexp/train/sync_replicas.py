"""`tf.train.SyncReplicasOptimizer`: the gradients of several replicas make one update. Source: TF 1.15; arXiv:1604.00981.

Every replica adds its gradients to one accumulator per variable, then waits for a token, which tells it the next global
step. The chief's queue runner takes the mean as soon as `replicas_to_aggregate` gradients are there, applies it, and hands
out tokens for the next step. Gradients of replicas that come too late carry an older step: the accumulators drop them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import Any

from tfexp.core.errors import OpError, UnavailableError
from tfexp.core.log import get_logger
from tfexp.graph.collections import GraphKeys
from tfexp.graph.convert import IndexedSlices
from tfexp.graph.dependencies import group, no_op
from tfexp.graph.scopes import colocate_with, control_dependencies, device, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import state
from tfexp.ops.accumulator import ConditionalAccumulator, ConditionalAccumulatorBase, SparseConditionalAccumulator
from tfexp.ops.array_fill import fill
from tfexp.ops.queue import FIFOQueue
from tfexp.ops.uninitialized import report_uninitialized_variables
from tfexp.ops.variable_lists import global_variables
from tfexp.ops.variables import Variable
from tfexp.runtime.session import Session
from tfexp.train.coordinator import Coordinator
from tfexp.train.optimizer import Optimizer
from tfexp.train.queue_runner import QueueRunner
from tfexp.train.session_hooks import SessionRunHook
from tfexp.train.session_manager import missing_values

_log = get_logger()

_AGAIN_AFTER = 0.1
"""Seconds before a server that was not reached is tried again."""


class SyncReplicasOptimizer(Optimizer):
    """Applies the mean of `replicas_to_aggregate` gradients with `opt`.

    Of `total_num_replicas` (None: as many) those beyond are spare: the fastest make the step. Fewer replicas than that
    make several gradients each. With `variable_averages`, an ExponentialMovingAverage, `variables_to_average` are averaged
    after every step.

    Used with `make_session_run_hook` in a monitored session; or with a Supervisor, whose `local_init_op` is
    `chief_init_op` for the chief and `local_step_init_op` for the others, whose `ready_for_local_init_op` is the one here,
    and whose chief starts `get_chief_queue_runner()` and runs `get_init_tokens_op()`.
    """

    def __init__(
        self,
        opt: Optimizer,
        replicas_to_aggregate: int,
        total_num_replicas: int | None = None,
        variable_averages: Any = None,
        variables_to_average: Sequence[Any] | None = None,
        use_locking: bool = False,
        name: str = "sync_replicas",
    ):
        super().__init__(use_locking, name)
        total = replicas_to_aggregate if total_num_replicas is None else total_num_replicas
        _log.info("SyncReplicasV2: replicas_to_aggregate=%s; total_num_replicas=%s", replicas_to_aggregate, total)
        self._opt = opt
        self._replicas_to_aggregate, self._total_num_replicas = replicas_to_aggregate, total
        self._variable_averages, self._variables_to_average = variable_averages, variables_to_average
        # Every replica gets a token, and where there are too few of them, one for each gradient that is needed.
        self._tokens_per_step = max(total, replicas_to_aggregate)
        self._global_step: Any = None
        self._chief_queue_runner: QueueRunner | None = None
        self.local_step_init_op: Any = None
        self.chief_init_op: Any = None
        self.ready_for_local_init_op: Any = None

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """As the optimizer within."""
        return self._opt.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars: Iterable[Any], global_step: Any = None, name: str | None = None) -> Tensor:
        """What a replica runs: hand in the gradients, wait for the token of the next step.

        ValueError without variables, or without a global step.
        """
        pairs = list(grads_and_vars)
        if not pairs:
            raise ValueError("Must supply at least one variable")
        if global_step is None:
            raise ValueError("Global step is required to check staleness")
        self._global_step = global_step
        local_step = self._local_step(global_step)
        self.local_step_init_op = state.assign(local_step._ref(), global_step)
        self.ready_for_local_init_op = report_uninitialized_variables(global_variables())
        with name_scope(None, self._name):
            accumulators, handed_in, means = self._accumulated(pairs, local_step)
            with device(global_step.device), name_scope(""):
                update = self._opt.apply_gradients(means, global_step)
                self._token_queue = FIFOQueue(
                    -1, global_step.dtype.base_dtype, shapes=((),), name="sync_token_q", shared_name="sync_token_q"
                )
                with control_dependencies(handed_in):
                    token = self._token_queue.dequeue()
                train_op: Tensor = state.assign(local_step._ref(), token)
                with control_dependencies([update]):
                    next_step = self._put_tokens(self._tokens_per_step)
                if self._variable_averages is not None:
                    with control_dependencies([next_step]):
                        next_step = self._variable_averages.apply(self._variables_to_average)
                self._chief_queue_runner = UpdateRunner(self._token_queue, [next_step])
            beginnings: list[Any] = []
            for accumulator, where in accumulators:
                with device(where):
                    beginnings.append(accumulator.set_global_step(global_step, name="SetGlobalStep"))
            self.chief_init_op = group(self.local_step_init_op, *beginnings)
        return train_op

    def _local_step(self, global_step: Any) -> Any:
        """The replica's own variable: the step that its gradients are for."""
        # Beside a node that is made here, it is on the worker, where variables do not go by themselves.
        with colocate_with(no_op()):
            return Variable(
                0,
                trainable=False,
                collections=[GraphKeys.LOCAL_VARIABLES],
                dtype=global_step.dtype.base_dtype,
                name="sync_rep_local_step",
            )

    def _accumulated(
        self, pairs: Sequence[Any], local_step: Any
    ) -> tuple[list[tuple[ConditionalAccumulatorBase, Any]], list[Any], list[tuple[Any, Any]]]:
        """The accumulators with their devices, the ops that hand gradients in, and the means with their variables."""
        accumulators: list[tuple[ConditionalAccumulatorBase, Any]] = []
        handed_in: list[Any] = []
        means: list[tuple[Any, Any]] = []
        for grad, variable in pairs:
            mean: Any = None
            with device(variable.device):
                shared = f"{variable.name}/grad_accum"
                if isinstance(grad, Tensor):
                    dense = ConditionalAccumulator(grad.dtype, shape=variable.get_shape(), shared_name=shared)
                    handed_in.append(dense.apply_grad(grad, local_step=local_step))
                    mean = dense.take_grad(self._replicas_to_aggregate)
                    accumulators.append((dense, variable.device))
                elif isinstance(grad, IndexedSlices):
                    sparse = SparseConditionalAccumulator(grad.dtype, shape=(), shared_name=shared)
                    handed_in.append(sparse.apply_indexed_slices_grad(grad, local_step=local_step))
                    mean = sparse.take_indexed_slices_grad(self._replicas_to_aggregate)
                    accumulators.append((sparse, variable.device))
                elif grad is not None:
                    raise ValueError(f"Unknown grad type of variable {variable.name}: {grad!r}")
            means.append((mean, variable))
        return accumulators, handed_in, means

    def _put_tokens(self, number: int) -> Any:
        """A node that puts so many tokens with the global step into the queue."""
        tokens = fill([number], self._global_step)
        return self._token_queue.enqueue_many((tokens,))

    def get_chief_queue_runner(self) -> QueueRunner:
        """What the chief runs: the updates. ValueError before `apply_gradients`."""
        if self._chief_queue_runner is None:
            raise ValueError("Should be called after apply_gradients().")
        return self._chief_queue_runner

    def get_init_tokens_op(self, num_tokens: int = -1) -> Any:
        """A node that the chief runs once, before the first step: `num_tokens` (-1: enough) tokens for the queue.

        ValueError before `apply_gradients`, and for fewer than the first step needs.
        """
        if self._chief_queue_runner is None:
            raise ValueError("get_init_tokens_op() should be called after apply_gradients().")
        needed = self._replicas_to_aggregate - self._total_num_replicas
        if num_tokens == -1:
            num_tokens = self._replicas_to_aggregate
        elif num_tokens < needed:
            raise ValueError(
                f"Too few tokens to finish the first step: {num_tokens} (given) vs {needed} (needed), as "
                f"{self._total_num_replicas} replicas make {self._replicas_to_aggregate} gradients"
            )
        if num_tokens <= 0:
            return no_op(name="no_init_tokens")
        with device(self._global_step.device), name_scope(""):
            return self._put_tokens(num_tokens)

    def make_session_run_hook(self, is_chief: bool, num_tokens: int = -1) -> SessionRunHook:
        """The hook that readies a monitored session for this optimizer, and on the chief runs the updates."""
        return _SyncReplicasHook(self, is_chief, num_tokens)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """As the optimizer within."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self) -> list[str]:
        """As the optimizer within."""
        return self._opt.get_slot_names()

    def variables(self) -> list[Any]:
        """As the optimizer within."""
        return self._opt.variables()


class UpdateRunner(QueueRunner):
    """Makes the updates. When training ends it waits for gradients that nobody makes any more, which closing cancels."""

    _ends_with_session = True

    def _close_on_stop(self, sess: Session, coord: Coordinator) -> None:
        """Wake who waits for an update, as soon as that can be said, or with the session's end.

        A connection that is cut may be what ended the updates, while a step that waits for them came over another one.
        """
        coord.wait_for_stop()
        while True:
            try:
                sess.run(self.cancel_op)
            except UnavailableError:
                threading.Event().wait(_AGAIN_AFTER)  # nobody tells a client that a server is back
                continue
            except (OpError, RuntimeError) as error:
                _log.debug("Nobody waits for updates any more: %s", error)
            return


class _SyncReplicasHook(SessionRunHook):
    def __init__(self, optimizer: SyncReplicasOptimizer, is_chief: bool, num_tokens: int):
        self._sync_optimizer, self._is_chief, self._num_tokens = optimizer, is_chief, num_tokens

    def begin(self) -> None:
        optimizer = self._sync_optimizer
        if optimizer.chief_init_op is None:
            raise ValueError("SyncReplicasOptimizer.apply_gradient should be called before using the hook.")
        self._init_op = optimizer.chief_init_op if self._is_chief else optimizer.local_step_init_op
        self._tokens_op = optimizer.get_init_tokens_op(self._num_tokens) if self._is_chief else None
        self._queue_runner = optimizer.get_chief_queue_runner() if self._is_chief else None

    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        ready, why = missing_values(self._sync_optimizer.ready_for_local_init_op, session)
        if not ready:
            raise RuntimeError(
                "Init operations did not make model ready for SyncReplicasOptimizer local_init. Init op: "
                f"{getattr(self._init_op, 'name', self._init_op)}, error: {why}"
            )
        session.run(self._init_op)
        if self._tokens_op is not None:
            session.run(self._tokens_op)
        if self._queue_runner is not None:
            self._queue_runner.create_threads(session, coord=coord, daemon=True, start=True)
