"""Averages of the variables over their training (Polyak and Juditsky 1992), kept by the optimizer, saved in their place.

Source: `tf.contrib.opt.MovingAverageOptimizer`, TF 1.15.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tfexp.contributed.opt.wrapper import OptimizerWrapper
from tfexp.graph.dependencies import group
from tfexp.graph.scopes import control_dependencies
from tfexp.ops.variable_lists import global_variables
from tfexp.train.moving_averages import ExponentialMovingAverage
from tfexp.train.optimizer import Optimizer
from tfexp.train.saver import Saver


class MovingAverageOptimizer(OptimizerWrapper):
    """Moves averages of all variables after each step of `opt` (with them at once, unless `sequential_update`).

    `swapping_saver()` saves each average under its variable's name, so that evaluation restores averages.
    """

    def __init__(
        self, opt: Optimizer, average_decay: float = 0.9999, num_updates: Any = None, sequential_update: bool = True
    ):
        super().__init__(opt, use_locking=False, name="MovingAverage")
        self._ema = ExponentialMovingAverage(average_decay, num_updates=num_updates)
        self._sequential = sequential_update
        self._averaged: dict[str, Any] | None = None  # the variables by name

    def apply_gradients(self, grads_and_vars: Iterable[Any], global_step: Any = None, name: str | None = None) -> Any:
        """The op that takes the step of `opt` and moves the averages of the variables that have a gradient."""
        pairs = list(grads_and_vars)
        step = self._opt.apply_gradients(pairs, global_step=global_step, name=name)
        variables = [v for g, v in pairs if g is not None]
        self._averaged = {v.op.name: v for v in variables}
        with control_dependencies([step] if self._sequential else []):
            moved = self._ema.apply(variables)
        return group(step, moved, name="train_with_avg")

    def swapping_saver(self, var_list: Any = None, name: str = "swapping_saver", **kwargs: Any) -> Saver:
        """A Saver (`kwargs` are its arguments) under whose keys averages and variables have changed places.

        var_list: the variables, a list or {key: variable}; all if None. RuntimeError before `apply_gradients`, ValueError
        where a variable is in the list but its average is not.
        """
        if self._averaged is None:
            raise RuntimeError("Must call apply_gradients or minimize before creating the swapping_saver")
        named = self._named(global_variables() if var_list is None else var_list)
        keys = {variable: key for key, variable in named.items()}
        swapped = dict(named)
        for variable in self._averaged.values():
            average = self._ema.average(variable)
            if variable not in keys:
                continue
            if average not in keys:
                raise ValueError(
                    f"Variable {average.op.name} to swap is not part of variables to save: it has the average of "
                    f"{variable.op.name}. This breaks MovingAverageOptimizer."
                )
            swapped[keys[variable]], swapped[keys[average]] = average, variable
        return Saver(swapped, name=name, **kwargs)

    @staticmethod
    def _named(variables: Any) -> dict[str, Any]:
        if isinstance(variables, dict):
            return dict(variables)
        listed: Sequence[Any] = list(variables)
        return {v.op.name: v for v in listed}
