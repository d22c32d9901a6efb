"""Which variables have no value yet: a report by name, and a check that fails."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import constant
from tfexp.graph.scopes import colocate_with, device, get_default_graph, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import array, state
from tfexp.ops.array_join import stack
from tfexp.ops.array_mask import boolean_mask
from tfexp.ops.logical import logical_not
from tfexp.ops.variable_lists import global_variables, local_variables


def _all_of(var_list: Sequence[Any] | None) -> list[Any]:
    """`var_list`, or all variables of the graph; in graphs that old, whatever is a variable's node."""
    if var_list is not None:
        return list(var_list)
    found = global_variables() + local_variables()
    if found:
        return found
    kinds = ("Variable", "VariableV2", "AutoReloadVariable")
    return [op.outputs[0] for op in get_default_graph().get_operations() if op.type in kinds]


def report_uninitialized_variables(
    var_list: Sequence[Any] | None = None, name: str = "report_uninitialized_variables"
) -> Tensor:
    """A 1-D string tensor: the names of the variables without a value, of `var_list` or of all. Source: TF 1.15."""
    variables = _all_of(var_list)
    with name_scope(name):
        # What asks runs where the variable is, the bookkeeping on the client's CPU.
        flags = [state.is_variable_initialized(variable) for variable in variables]
        with device("/cpu:0"):
            if not variables:
                return constant([], dtype=dtypes.string)
            uninitialized = logical_not(stack(flags))
            names = constant([variable.op.name for variable in variables], dtype=dtypes.string)
            return boolean_mask(names, uninitialized)


def assert_variables_initialized(var_list: Sequence[Any] | None = None) -> Any:
    """A tensor whose evaluation fails with FailedPreconditionError while a variable has no value; None without variables.

    `report_uninitialized_variables` says which. Source: `tf.assert_variables_initialized`, TF 1.15.
    """
    variables = _all_of(var_list)
    if not variables:
        return None
    ranks = []
    for variable in variables:
        with colocate_with(variable.op):
            ranks.append(array.rank_internal(variable, optimize=False))
    return ranks[0] if len(ranks) == 1 else stack(ranks)
