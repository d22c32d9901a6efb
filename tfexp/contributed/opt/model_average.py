"""Each worker trains variables of its own; from time to time all take the mean of everybody's (McDonald et al. 2010).

Source: `tf.contrib.opt.{ModelAverageOptimizer,ModelAverageCustomGetter}`, TF 1.15.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfexp.contributed.opt.centre import CentredGetter, StartHook, step_and_meet
from tfexp.contributed.opt.wrapper import OptimizerWrapper
from tfexp.core import dtypes
from tfexp.graph.collections import GraphKeys
from tfexp.graph.dependencies import group
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import control_dependencies
from tfexp.graph.scopes import device as device_
from tfexp.ops import state
from tfexp.ops.accumulator import ConditionalAccumulator
from tfexp.ops.array_fill import fill
from tfexp.ops.queue import FIFOQueue
from tfexp.ops.variable_lists import trainable_variables
from tfexp.ops.variable_scope import get_variable
from tfexp.train.optimizer import Optimizer
from tfexp.train.session_hooks import SessionRunHook

# Tokens of one kind are all taken before the next kind is there: no worker takes what is meant for one that is late.
_PHASES = ("mean_is_made", "mean_is_taken", "mean_is_over")
_NEVER_STALE = 2**62  # everybody waits for everybody: whatever comes belongs to the mean that is waited for


class ModelAverageCustomGetter(CentredGetter):
    """The `custom_getter` of a worker's model, whose trainable variables are local to it, beside the mean of all."""


class ModelAverageOptimizer(OptimizerWrapper):
    """`opt` trains the worker's variables; every `interval_steps` steps all workers take the mean of theirs.

    All `num_worker` workers wait for each other then. The chief makes the means, which are the global variables, and counts
    them in the global step. Workers start with what `make_session_run_hook` gives.
    """

    def __init__(
        self,
        opt: Optimizer,
        num_worker: int,
        is_chief: bool,
        ma_custom_getter: ModelAverageCustomGetter,
        interval_steps: int = 100,
        use_locking: bool = True,
        name: str = "ModelAverageOptimizer",
    ):
        super().__init__(opt, use_locking, name)
        self._workers, self._is_chief, self._getter, self._interval = num_worker, is_chief, ma_custom_getter, interval_steps
        with device_(ma_custom_getter._worker_device):
            self._local_step = get_variable(
                "local_step", initializer=0, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES]
            )

    def apply_gradients(self, grads_and_vars: Iterable[Any], global_step: Any = None, name: str | None = None) -> Any:
        """The op that takes a step of the worker's and, at the end of each interval, the mean. ValueError without a step."""
        pairs = list(grads_and_vars)
        if not pairs:
            raise ValueError("Must supply at least one variable")
        if global_step is None:
            raise ValueError("Global step is required: it counts how often the workers took their mean")
        moved = [v for g, v in pairs if g is not None]
        return step_and_meet(
            self._opt, pairs, self._local_step, self._interval, lambda: self._averaged(moved, global_step), name
        )

    def _averaged(self, variables: list[Any], global_step: Any) -> Operation:
        put, take = [], []
        for variable in variables:
            centre, value = self._getter.centre(variable), variable.read_value()
            with device_(centre.device):
                shape, kind = variable.get_shape(), variable.dtype.base_dtype
                mean = ConditionalAccumulator(kind, shape, shared_name=f"{variable.op.name}/model_average")
                put.append(mean.apply_grad(value, _NEVER_STALE))
                take.append((centre, mean))
        with device_(global_step.device):
            tokens = fill([self._workers], True)
            queues = [FIFOQueue(-1, [dtypes.bool], shapes=[[]], shared_name=f"{name}_token_q") for name in _PHASES]
            is_made, is_taken, is_over = queues
            sent = [self._mean(take, put, global_step, is_made, tokens)] if self._is_chief else put
            with control_dependencies(sent):
                made = is_made.dequeue()
        with control_dependencies([made]):
            taken = [state.assign(v, self._getter.centre(v).read_value(), use_locking=self._use_locking) for v in variables]
        with device_(global_step.device), control_dependencies(taken):
            told = is_taken.enqueue(True)
            with control_dependencies([told]):
                if self._is_chief:
                    with control_dependencies([is_taken.dequeue_many(self._workers)]):
                        told = is_over.enqueue_many([tokens])
            with control_dependencies([told]):
                over: Operation = is_over.dequeue().op
                return over

    def _mean(self, take: list[Any], put: list[Any], global_step: Any, is_made: FIFOQueue, tokens: Any) -> Operation:
        """What the chief does: once the variables of all are there, the mean; and a token for each worker."""
        new = []
        with control_dependencies(put):
            for centre, mean in take:
                with device_(centre.device):
                    new.append(state.assign(centre, mean.take_grad(self._workers), use_locking=self._use_locking))
        with control_dependencies(new):
            counted = state.assign_add(global_step, 1, use_locking=self._use_locking)
        with control_dependencies([counted]):
            return is_made.enqueue_many([tokens])

    def get_init_op(self) -> Operation:
        """The op that gives the worker's variables the values of the global ones. ValueError without any."""
        variables = trainable_variables()
        if not variables:
            raise ValueError("there are no trainable variables to give the global values to")
        started: Operation = group(*(state.assign(v, self._getter.centre(v).read_value()) for v in variables))
        return started

    def make_session_run_hook(self) -> SessionRunHook:
        """The hook that starts a worker: its local variables, then the values of the global ones."""
        return StartHook(self.get_init_op)
