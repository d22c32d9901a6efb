"""Accumulated gradient normalization (Hermans, Spanakis and Möckel 2017): workers' steps and those of a centre.

Source: `tf.contrib.opt.{AGNOptimizer,AGNCustomGetter}`, TF 1.15.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfexp.contributed.opt.centre import CentredGetter, StartHook, step_and_meet
from tfexp.contributed.opt.wrapper import OptimizerWrapper
from tfexp.graph.collections import GraphKeys
from tfexp.graph.dependencies import group
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import colocate_with, control_dependencies
from tfexp.graph.scopes import device as device_
from tfexp.ops import state
from tfexp.ops.array_fill import zeros_like
from tfexp.ops.variable_lists import trainable_variables
from tfexp.ops.variable_scope import get_variable
from tfexp.train.optimizer import Optimizer
from tfexp.train.session_hooks import SessionRunHook


class AGNCustomGetter(CentredGetter):
    """The `custom_getter` of a worker's model: the centre's variables, and sums of gradients beside the worker's own.

    The worker's own are local to it, on `worker_device`, as are the sums, `grad_variable/<name>`.
    """

    _beside = "grad_variable"

    def sum(self, variable: Any) -> Any:
        """The variable's sum of gradients."""
        return self._of(self._besides, variable)


class AGNOptimizer(OptimizerWrapper):
    """`optimizer` trains the worker's variables; after `communication_period` steps it takes one with the centre's.

    That one is with the mean of the worker's gradients, and from then on the worker's variables have the centre's values
    again. The global step counts the centre's steps. `num_worker` is not used: workers do not wait for each other. They
    start with what `make_session_run_hook` gives.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        num_worker: int,
        custom_getter: AGNCustomGetter,
        communication_period: int = 10,
        use_locking: bool = True,
        name: str = "AGNOptimizer",
    ):
        super().__init__(optimizer, use_locking, name)
        self._getter, self._period = custom_getter, communication_period
        with device_(custom_getter._worker_device):
            self._local_step = get_variable(
                "local_step", initializer=0, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES]
            )

    def apply_gradients(self, grads_and_vars: Iterable[Any], global_step: Any = None, name: str | None = None) -> Any:
        """The op that takes a step of the worker's and, at the end of each period, one of the centre's."""
        pairs = [(g, v) for g, v in grads_and_vars if g is not None]
        variables = [v for _, v in pairs]

        def sum_up() -> list[Any]:
            # A branch cannot make the variables that the centre's steps need.
            self._opt._create_slots([self._getter.centre(v) for v in variables])
            return [state.assign_add(self._getter.sum(v), g, use_locking=self._use_locking) for g, v in pairs]

        return step_and_meet(
            self._opt, pairs, self._local_step, self._period, lambda: self._exchange(variables, global_step), name, sum_up
        )

    def _exchange(self, variables: list[Any], global_step: Any) -> Operation:
        sums = [self._getter.sum(v) for v in variables]
        means: list[Any] = [s.read_value() / self._period for s in sums]
        step = self._opt.apply_gradients(zip(means, [self._getter.centre(v) for v in variables], strict=True))
        with control_dependencies([step]):
            updates = [state.assign(v, self._getter.centre(v).read_value()) for v in variables]
            updates += [state.assign(s, zeros_like(s)) for s in sums]
            if global_step is not None:
                with colocate_with(global_step):
                    updates.append(state.assign_add(global_step, 1, use_locking=self._use_locking))
        exchanged: Operation = group(*updates)
        return exchanged

    def get_init_op(self, task_index: int) -> Operation:
        """The op that gives any worker's variables the values of the centre. ValueError without any."""
        variables = trainable_variables()
        if not variables:
            raise ValueError("there are no trainable variables to give the values of the centre to")
        started = [state.assign(v, self._getter.centre(v).read_value()) for v in variables]
        emptied = [state.assign(s, zeros_like(s)) for s in map(self._getter.sum, variables)]
        together: Operation = group(*started, *emptied)
        return together

    def make_session_run_hook(self, is_chief: bool, task_index: int) -> SessionRunHook:
        """The hook that starts a worker, chief or not: its local variables, then the values of the centre."""
        return StartHook(lambda: self.get_init_op(task_index))
