"""The functions that data sets call: Python functions of elements, traced into graph functions."""

from __future__ import annotations

import re
import weakref
from collections.abc import Callable
from typing import Any

from tensorboard.compat.proto.attr_value_pb2 import AttrValue, NameAttrList

from tfexp.data.structure import as_tensor, as_values, component_of, flatten, flatten_up_to, kind_of, map_leaves, pack_as
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.function_graph import FunctionGraph, function_name
from tfexp.graph.scopes import get_default_graph, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_identity import identity


class DatasetFunction:
    """`function` of elements of that structure as a function of the graph's library.

    `named` is the node's attribute, `captured` what every call gets besides the element, `result` the structure of what
    comes out. With `unpack` (and always for a plain tuple) the parts of the element are the
    arguments. TypeError for results that are neither tensors nor values of a kind (`structure`).
    """

    def __init__(
        self,
        function: Callable[..., Any],
        transformation: str,
        element: Any,
        unpack: bool = False,
    ):
        label = transformation.removesuffix("()").replace(".", "_")
        name = re.sub(r"\W", "", getattr(function, "__name__", type(function).__name__))
        graph = FunctionGraph(function_name(f"{label}_{name}"), get_default_graph())
        components = flatten(element)
        with graph.as_default():
            inputs = [graph.argument(c.node_dtype, c.node_shape, f"args_{i}") for i, c in enumerate(components)]
            values = as_values(inputs, element)
            plain_tuple = type(values) is tuple
            result = function(*values) if unpack or plain_tuple else function(values)
            outputs, self.result = self._outputs(result, transformation)
        made, self.captured = graph.finish(inputs, outputs)
        if graph.outer.is_eager:  # a data set that is there has it bound, and nobody else looks for it
            weakref.finalize(self, graph.outer._functions.pop, made.name, None)
        self.named = NameAttrList(name=made.name, attr={"_tf_data_function": AttrValue(b=True)})

    def _outputs(self, result: Any, transformation: str) -> tuple[list[Tensor], Any]:
        """The results as nodes of the function, and their structure."""
        if isinstance(result, list):
            result = tuple(result)  # what ops with several outputs return
        leaves = flatten(result)
        tensors, components = [], []
        for leaf in leaves:
            if kind_of(leaf) is not None:
                tensors.append(as_tensor(leaf))
                components.append(component_of(leaf))
                continue
            try:
                tensor = convert_to_tensor(leaf)
            except (TypeError, ValueError) as error:
                raise TypeError(
                    f"Unsupported return value from function passed to {transformation}: {result!r} ({error})."
                ) from None
            tensors.append(tensor)
            components.append(component_of(tensor))
        if not leaves or any(leaf is None for leaf in leaves):
            raise TypeError(f"Unsupported return value from function passed to {transformation}: {result!r}.")
        with name_scope(None):
            outputs = [identity(tensor) for tensor in tensors]
        return outputs, pack_as(result, components)


def stateful_function(
    function: Callable[..., Any],
    transformation: str,
    state: Any,
    *element: Any,
    next_state: Callable[[Any], Any] = lambda result: result,
) -> DatasetFunction:
    """`function(state, *element)` whose result has the next state in it, as a graph function.

    A state that changes its shape is taken for one of which less is known. TypeError where it changes its types or classes.
    """
    while True:
        traced = DatasetFunction(function, transformation, (state, *element), unpack=True)
        found = next_state(traced.result)
        for what, aspect in (("classes", "value_class"), ("types", "dtype")):
            expected, got = (map_leaves(lambda c, a=aspect: getattr(c, a), one) for one in (state, found))
            if not _same(expected, got):
                raise TypeError(
                    f"The element {what} for the new state must match the initial state. Expected {expected}; got {got}."
                )
        known = map_leaves(lambda old, new: old.most_specific(new), state, found)
        if flatten(known) == flatten(state):
            return traced
        state = known


def _same(one: Any, other: Any) -> bool:
    try:
        return all(a == b for a, b in zip(flatten_up_to(one, other), flatten(one), strict=True))
    except (TypeError, ValueError):
        return False
