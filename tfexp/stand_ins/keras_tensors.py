"""`tensorflow.python.keras.utils.tf_utils`: what layers and backends ask about tensors and shapes. Source: TF 1.15."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfexp.contributed.smart_cond import smart_cond
from tfexp.contributed.smart_cond import smart_constant_value as constant_value
from tfexp.core import nest
from tfexp.core.shape import Dimension, TensorShape
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.keras.engine.dependencies import is_symbolic as is_symbolic_tensor
from tfexp.ops.variable_base import Variable

__all__ = [
    "constant_value",
    "get_reachable_from_inputs",
    "is_symbolic_tensor",
    "is_tensor_or_tensor_list",
    "shape_type_conversion",
    "smart_cond",
]


def get_reachable_from_inputs(inputs: Any, targets: Any = None) -> set[Any]:
    """The inputs and all operations and tensors that are computed from them; the walk ends once `targets` are found."""
    found = set(nest.flatten(inputs))
    wanted = None if targets is None else set(nest.flatten(targets)) - found
    waiting = list(found)
    while waiting and wanted != set():
        for following in _computed_from(waiting.pop()):
            if following not in found:
                found.add(following)
                waiting.append(following)
                if wanted is not None:
                    wanted.discard(following)
    return found


def _computed_from(value: Any) -> Sequence[Any]:
    if isinstance(value, Operation):
        return value.outputs
    if isinstance(value, Variable):
        return [value.op]
    return value.consumers() if isinstance(value, Tensor) else ()


def is_tensor_or_tensor_list(value: Any) -> bool:
    """Whether it is a tensor or variable, or a list that starts with one."""
    flat = nest.flatten(value)
    return bool(flat) and isinstance(flat[0], (Tensor, Variable))


def is_tensor_or_variable(x: Any) -> bool:
    """Whether it is a tensor, of a graph or with a value, or a variable."""
    return isinstance(x, (Tensor, Variable))


def are_all_symbolic_tensors(tensors: Sequence[Any]) -> bool:
    """Whether each is a tensor of a graph."""
    return all(is_symbolic_tensor(tensor) for tensor in tensors)


class ListWrapper:
    """A list that counts as one element of what is around it."""

    def __init__(self, list_to_wrap: list[Any]):
        self._list = list_to_wrap

    def as_list(self) -> list[Any]:
        return self._list


def convert_inner_node_data(nested: Any, wrap: bool = False) -> Any:
    """A structure with the places [layer, node, tensor, …] inside as `ListWrapper`s; without `wrap` as plain lists."""
    if isinstance(nested, ListWrapper):
        return nested if wrap else nested.as_list()
    if not isinstance(nested, (list, tuple, Mapping)):
        return nested
    if isinstance(nested, list) and [type(one) for one in nested[:3]] == [str, int, int]:
        return ListWrapper(nested) if wrap else nested
    return nest.like(nested, [convert_inner_node_data(part, wrap) for _, part in nest.children(nested)])


def shape_type_conversion(function: Callable[..., Any]) -> Callable[..., Any]:
    """`compute_output_shape` written for tuples: it is given tuples, and its results become `TensorShape`s."""

    @functools.wraps(function)
    def converted(self: Any, input_shape: Any) -> Any:
        if input_shape is not None:
            input_shape = convert_shapes(input_shape)
        output_shape = function(self, input_shape)
        return None if output_shape is None else convert_shapes(output_shape, to_tuples=False)

    return converted


def convert_shapes(input_shape: Any, to_tuples: bool = True) -> Any:
    """Each shape of a structure as a tuple, or as a `TensorShape`. ValueError for a tuple of an unknown rank."""
    make = (lambda shape: tuple(TensorShape(shape).as_list())) if to_tuples else TensorShape
    return _map_shapes(make, input_shape)


def map_structure_with_atomic(is_atomic_fn: Callable[[Any], bool], map_fn: Callable[[Any], Any], nested: Any) -> Any:
    """A structure of the results for what is atomic, or has no parts."""
    if is_atomic_fn(nested) or not nest.is_nested(nested):
        return map_fn(nested)
    parts = [part for _, part in nest.children(nested)]
    return nest.like(nested, [map_structure_with_atomic(is_atomic_fn, map_fn, part) for part in parts])


def _map_shapes(make: Callable[[Any], Any], shapes: Any) -> Any:
    """Each shape of a structure made anew: it is a TensorShape, None, or a sequence of numbers and None."""
    if not isinstance(shapes, (list, tuple, Mapping)):
        return make(shapes)
    parts = [part for _, part in nest.children(shapes)]
    if not isinstance(shapes, Mapping) and all(part is None or isinstance(part, (int, Dimension)) for part in parts):
        return make(shapes)
    return nest.like(shapes, [_map_shapes(make, part) for part in parts])
