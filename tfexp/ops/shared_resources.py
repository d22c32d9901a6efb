"""Resources that are made by a node of the graph, as variables are: which there are, initialising them, which are missing.

They stand in the collections `resources` and `local_resources`. Source: what `tf.train.Scaffold` makes, TF 1.15.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tfexp.core import dtypes
from tfexp.graph.collections import GraphKeys
from tfexp.graph.convert import constant
from tfexp.graph.dependencies import group
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import device, get_collection, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_join import stack
from tfexp.ops.array_mask import boolean_mask
from tfexp.ops.logical import logical_not


class Resource(NamedTuple):
    """A resource's handle, the operation that makes it, and a bool tensor: whether it has been made."""

    handle: Any
    create: Any
    is_initialized: Any


def shared_resources() -> list[Resource]:
    """Those that a distributed job shares."""
    return get_collection(GraphKeys.RESOURCES)


def local_resources() -> list[Resource]:
    """Those of one process."""
    return get_collection(GraphKeys.LOCAL_RESOURCES)


def initialize_resources(resource_list: Sequence[Resource], name: str = "init") -> Operation:
    """An operation that makes them all; one that does nothing for an empty list."""
    return group(*[resource.create for resource in resource_list], name=name)


def report_uninitialized_resources(
    resource_list: Sequence[Resource] | None = None, name: str = "report_uninitialized_resources"
) -> Tensor:
    """A 1-D string tensor: the handles' names of those (None: of all) that have not been made."""
    resources = shared_resources() + local_resources() if resource_list is None else list(resource_list)
    with name_scope(name), device("/cpu:0"):
        if not resources:
            return constant([], dtype=dtypes.string)
        missing = logical_not(stack([resource.is_initialized for resource in resources]))
        return boolean_mask(constant([resource.handle.name for resource in resources], dtype=dtypes.string), missing)
