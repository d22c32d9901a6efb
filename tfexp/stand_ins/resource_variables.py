"""`ResourceVariable` as `tensorflow.python.ops.resource_variable_ops` has it: constructed in graphs and eagerly alike."""

from __future__ import annotations

from typing import Any

from tfexp.graph.scopes import executing_eagerly
from tfexp.ops.eager_variables import EagerVariable
from tfexp.ops.resource_variables import ResourceVariable as GraphVariable


class _OfBothModes(type(GraphVariable)):  # type: ignore[misc]  # its metaclass is a class like any other
    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return EagerVariable(*args, **kwargs) if executing_eagerly() else GraphVariable(*args, **kwargs)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, (EagerVariable, GraphVariable))


def is_resource_variable(value: Any) -> bool:
    """Whether it is a variable behind a handle, or one that has its value at once."""
    return isinstance(value, (EagerVariable, GraphVariable))


class ResourceVariable(GraphVariable, metaclass=_OfBothModes):
    """Calling it makes a variable of a graph, or where ops run at once one that has its value. It has no instances."""


BaseResourceVariable = ResourceVariable
