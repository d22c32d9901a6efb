"""Exponential moving averages of variables and tensors. Source: `tf.train.ExponentialMovingAverage`, TF 1.15."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

from tfexp.core import dtypes
from tfexp.graph.collections import GraphKeys
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.dependencies import group
from tfexp.graph.eager_tensor import EagerTensor
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import add_to_collection, colocate_with, get_collection, get_default_graph, init_scope, name_scope
from tfexp.ops import state
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_binary import minimum
from tfexp.ops.elementwise_binary import pow as power
from tfexp.ops.initializers import zeros_initializer
from tfexp.ops.variable_base import graph_of, node_name
from tfexp.ops.variable_lists import moving_average_variables, trainable_variables
from tfexp.ops.variable_scope import VariableScope, get_variable, variable_scope
from tfexp.ops.variables import Variable
from tfexp.train import slot_creator

_AVERAGED = (dtypes.float16, dtypes.float32, dtypes.float64, dtypes.bfloat16)


class ExponentialMovingAverage:
    """Shadow variables that follow: shadow = decay * shadow + (1 - decay) * value, each time that `apply`'s op runs.

    With `num_updates`, the decay is min(decay, (1 + num_updates) / (10 + num_updates)), so that averages move faster at
    first. `zero_debias` corrects the averages of tensors for their start at zero.
    """

    def __init__(
        self,
        decay: Any,
        num_updates: Any = None,
        zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ):
        self._decay, self._num_updates, self._zero_debias, self._name = decay, num_updates, zero_debias, name
        self._averages: dict[Any, tuple[Any, Any]] = {}  # key -> (variable or tensor, its average)

    @property
    def name(self) -> str:
        return self._name

    def apply(self, var_list: Iterable[Any] | None = None) -> Operation:
        """Make shadow variables (the variables start at their initial values, tensors at zero); the op that updates them.

        `var_list`: variables and tensors (the trainable variables if None). TypeError for what is not floating point.
        """
        values = trainable_variables() if var_list is None else list(var_list)
        corrected = set()
        if any(isinstance(value, EagerTensor) for value in values):
            raise TypeError(
                "tf.train.ExponentialMovingAverage does not support non-Variable tensors when eager execution is enabled."
            )
        for value in values:
            if value.dtype.base_dtype not in _AVERAGED:
                raise TypeError(f"The variables must be half, float, or double: {value.name}")
            if _key(value) in self._averages:
                continue
            with init_scope():
                self._averages[_key(value)] = (value, self._new_average(value))
            if self._zero_debias and not isinstance(value, Variable):
                corrected.add(_key(value))
        with name_scope(self._name) as scope:
            decay = convert_to_tensor(self._decay, name="decay")
            if self._num_updates is not None:
                updates: Any = cast(self._num_updates, dtypes.float32, name="num_updates")
                decay = minimum(decay, (1.0 + updates) / (10.0 + updates))
            moved = [
                assign_moving_average(self._averages[_key(v)][1], v, decay, zero_debias=_key(v) in corrected) for v in values
            ]
            done: Operation = group(*moved, name=scope)
            return done

    def _new_average(self, value: Any) -> Any:
        if isinstance(value, Variable):
            initial = value.initialized_value()
            average = slot_creator.create_slot(value, initial, self._name)
            if value not in moving_average_variables():
                add_to_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, value)
            return average
        beside = value.op.type in ("Variable", "VariableV2", "VarHandleOp")
        return slot_creator.create_zeros_slot(value, self._name, colocate_with_primary=beside)

    def average(self, var: Any) -> Any:
        """The shadow variable of `var`, or None."""
        return self._averages.get(_key(var), (None, None))[1]

    def average_name(self, var: Any) -> str:
        """The name that the shadow variable of `var` has or will have: its key in checkpoints."""
        if _key(var) in self._averages:
            name: str = self.average(var).op.name
            return name
        return get_default_graph().unique_name(f"{var.op.name}/{self._name}", mark_as_used=False)

    def variables_to_restore(self, moving_avg_variables: Iterable[Any] | None = None) -> dict[str, Any]:
        """{key: variable} for a Saver that restores averages into the variables themselves.

        Variables that have no averages (all but `moving_avg_variables`, if given) go by their own names.
        """
        from_averages = (
            [*trainable_variables(), *moving_average_variables()]
            if moving_avg_variables is None
            else list(moving_avg_variables)
        )
        found = {self.average_name(v): v for v in dict.fromkeys(from_averages)}
        taken = {*(v.op.name for v in found.values()), *found}
        for v in dict.fromkeys([*get_collection(GraphKeys.GLOBAL_VARIABLES), *moving_average_variables()]):
            if v.op.name not in taken:
                found[v.op.name] = v
        return found


def _key(value: Any) -> Any:
    return graph_of(value), value.name


def assign_moving_average(variable: Any, value: Any, decay: Any, zero_debias: bool = True, name: str | None = None) -> Any:
    """variable -= (1 - decay) * (variable - value). With `zero_debias`, `variable` is corrected for a start at zero.

    Kingma and Ba 2014, section 3: two more variables beside `variable` count the steps and hold the average as it is.
    """
    with name_scope(name, "AssignMovingAvg", [variable, value, decay]) as scope:
        rest: Any = convert_to_tensor(1.0 - decay, name="decay")
        if rest.dtype.base_dtype is not variable.dtype.base_dtype:
            rest = cast(rest, variable.dtype.base_dtype)
        if zero_debias:
            return _assign_corrected(variable, value, rest, scope)
        return state.assign_sub(variable, (variable - value) * rest, name=scope)


def _assign_corrected(variable: Any, value: Any, rest: Any, name: str) -> Any:
    with variable_scope(node_name(variable), values=[variable, value, rest]) as scope, colocate_with(variable):
        dtype, zeros = variable.dtype.base_dtype, zeros_initializer()
        biased = get_variable(_free("biased", scope), variable.get_shape(), dtype, zeros, trainable=False)
        steps = get_variable(_free("local_step", scope), [], dtype, zeros, trainable=False)
    biased_now: Any = state.assign_sub(biased, (biased - value) * rest)
    steps_now = state.assign_add(steps, 1)
    unbiased = biased_now / (1.0 - power(1.0 - rest, steps_now))
    return state.assign(variable, unbiased, name=name)


def _free(name: str, scope: VariableScope) -> str:
    """The name, or if a variable of the scope has it, one with a number: a variable may have several averages."""
    if scope.reuse:
        return name
    taken = {node_name(variable) for variable in scope.global_variables()}
    numbered = itertools.chain([name], (f"{name}_{number}" for number in itertools.count(1)))
    return next(candidate for candidate in numbered if f"{scope.name}/{candidate}" not in taken)
