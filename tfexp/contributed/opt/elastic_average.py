"""Elastic averaging SGD (Zhang, Choromanska and LeCun 2014): workers' variables and a centre.

Source: `tf.contrib.opt.{ElasticAverageOptimizer,ElasticAverageCustomGetter}`, TF 1.15.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tfexp.contributed.opt.centre import CENTRE, CentredGetter, StartHook, step_and_meet
from tfexp.contributed.opt.wrapper import OptimizerWrapper
from tfexp.core import dtypes
from tfexp.graph.collections import GraphKeys
from tfexp.graph.dependencies import group
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import colocate_with, control_dependencies
from tfexp.graph.scopes import device as device_
from tfexp.ops import state
from tfexp.ops.nn_norm import l2_loss
from tfexp.ops.queue import FIFOQueue
from tfexp.ops.variable_lists import global_variables, trainable_variables
from tfexp.ops.variable_scope import get_variable
from tfexp.train.optimizer import Optimizer
from tfexp.train.saver import Saver
from tfexp.train.session_hooks import SessionRunHook

_BETA = 0.9  # the moving rate, over all workers and a whole period, that the paper recommends


class ElasticAverageCustomGetter(CentredGetter):
    """The `custom_getter` of a worker's model: the centre's variables, and the worker's copies of these beside its own.

    The worker's own are local to it, on `worker_device`, as are the copies, `local_center_variable/<name>`.
    """

    _beside = "local_center_variable"

    def copy(self, variable: Any) -> Any:
        """The worker's copy of the centre's variable."""
        return self._of(self._besides, variable)


class ElasticAverageOptimizer(OptimizerWrapper):
    """`opt` trains the worker's variables; every `communication_period` steps they and the centre draw each other.

    Then x -= moving_rate * (x - centre) for the worker's variables and centre += moving_rate * (x - centre); meanwhile the
    loss has rho * |x - copy of the centre|² / 2 added. moving_rate is 0.9 / communication_period / num_worker if None, and
    rho then moving_rate over the learning rate of `opt`. The global step counts exchanges. synchronous: workers start
    together, once the centre has its values; run what `make_session_run_hook` gives.
    """

    def __init__(
        self,
        opt: Optimizer,
        num_worker: int,
        ea_custom_getter: ElasticAverageCustomGetter,
        communication_period: int = 10,
        moving_rate: float | None = None,
        rho: float | None = None,
        use_locking: bool = True,
        synchronous: bool = False,
        name: str = "ElasticAverageOptimizer",
    ):
        super().__init__(opt, use_locking, name)
        self._workers, self._getter, self._period = num_worker, ea_custom_getter, communication_period
        self._moving_rate = _BETA / communication_period / num_worker if moving_rate is None else moving_rate
        self._rho = self._moving_rate / opt._learning_rate if rho is None else rho  # type: ignore[attr-defined]
        self._synchronous = synchronous
        with device_(ea_custom_getter._worker_device):
            self._local_step = get_variable(
                "local_step", initializer=0, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES]
            )

    def compute_gradients(self, loss: Any, var_list: Any = None, *args: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        """As `opt`'s, of the loss and the pull of the centre."""
        variables = trainable_variables() if var_list is None else list(var_list)
        for variable in variables:
            loss = loss + self._rho * l2_loss(variable - self._getter.copy(variable))
        return super().compute_gradients(loss, variables, *args, **kwargs)

    def apply_gradients(self, grads_and_vars: Iterable[Any], global_step: Any = None, name: str | None = None) -> Any:
        """The op that takes a step of the worker's and, at the end of each period, exchanges with the centre."""
        pairs = list(grads_and_vars)
        moved = [v for g, v in pairs if g is not None]
        return step_and_meet(
            self._opt, pairs, self._local_step, self._period, lambda: self._exchange(moved, global_step), name
        )

    def _exchange(self, variables: list[Any], global_step: Any) -> Operation:
        refreshed = [state.assign(self._getter.copy(v), self._getter.centre(v).read_value()) for v in variables]
        with control_dependencies(refreshed):
            pulls = [self._moving_rate * (v.read_value() - self._getter.copy(v).read_value()) for v in variables]
        # The differences first: both sides move by the same.
        with control_dependencies(pulls):
            updates = []
            for variable, pull in zip(variables, pulls, strict=True):
                updates.append(state.assign_sub(variable, pull, use_locking=self._use_locking))
                updates.append(state.assign_add(self._getter.centre(variable), pull, use_locking=self._use_locking))
            if global_step is not None:
                with colocate_with(global_step):
                    updates.append(state.assign_add(global_step, 1, use_locking=self._use_locking))
        exchanged: Operation = group(*updates)
        return exchanged

    def get_init_op(self, task_index: int) -> Operation:
        """The op that gives the worker's variables and copies the values of the centre. ValueError without any."""
        variables = trainable_variables()
        if not variables:
            raise ValueError("there are no trainable variables to give the values of the centre to")
        started = group(
            *(
                state.assign(mine, self._getter.centre(v).read_value())
                for v in variables
                for mine in (v, self._getter.copy(v))
            )
        )
        return self._together(task_index, started) if self._synchronous else started

    def _together(self, task_index: int, started: Operation) -> Operation:
        """The op that waits until all workers have started: each has a queue, into which all the others put a token."""
        with device_(self._getter.centre(trainable_variables()[0]).device):
            queues = [
                FIFOQueue(self._workers, [dtypes.bool], shapes=[[]], shared_name=f"variable_init_sync_queue{i}")
                for i in range(self._workers)
            ]
        with control_dependencies([started]):
            told = [queue.enqueue(True) for i, queue in enumerate(queues) if i != task_index]
        with control_dependencies(told):
            together: Operation = group(queues[task_index].dequeue_many(self._workers - 1))
        return together

    def make_session_run_hook(self, is_chief: bool, task_index: int) -> SessionRunHook:
        """The hook that starts a worker: its local variables, then the values of the centre."""
        return StartHook(lambda: self.get_init_op(task_index))

    def swapping_saver(self, var_list: Any = None, name: str = "swapping_saver", **kwargs: Any) -> Saver:
        """A Saver that keeps the centre's values under the names of the workers' variables."""
        if var_list is None:
            var_list = [v for v in global_variables() if not v.op.name.startswith(f"{CENTRE}/")] + trainable_variables()
        named = dict(var_list) if isinstance(var_list, Mapping) else {v.op.name: v for v in var_list}
        swapped = {key: self._getter._centres.get(v.name, v) for key, v in named.items()}
        return Saver(swapped, name=name, **kwargs)
