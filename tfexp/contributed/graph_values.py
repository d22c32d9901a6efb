"""`tf.contrib.framework`: a graph's placeholders and global step, zeros for variables, nested `py_func`. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tfexp.core import nest
from tfexp.graph.graph import Graph
from tfexp.graph.scopes import control_dependencies, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import state
from tfexp.ops.array_fill import zeros
from tfexp.ops.check import Assert
from tfexp.ops.logical import logical_not
from tfexp.ops.py_func import py_func as plain_py_func
from tfexp.ops.variable_base import Variable
from tfexp.train.global_step import assert_global_step, get_global_step


def get_placeholders(graph: Graph) -> list[Tensor]:
    """The placeholders of a graph, less those with a default."""
    return [op.outputs[0] for op in graph.get_operations() if op.type == "Placeholder"]


def assert_or_get_global_step(graph: Graph | None = None, global_step_tensor: Any = None) -> Any:
    """The tensor, once it has been seen that it can be a global step; the graph's, if None. TypeError for others."""
    if global_step_tensor is None:
        return get_global_step(graph)
    assert_global_step(global_step_tensor)
    return global_step_tensor


def py_func(
    func: Callable[..., Any],
    args: Any = (),
    kwargs: Mapping[str, Any] | None = None,
    output_types: Any = None,
    output_shapes: Any = None,
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """func(*args, **kwargs) of arrays, at run time; both and its result may be nested, the result as `output_types` is.

    TypeError for arguments that are no list or tuple, or no dict. See `tf.py_func`.
    """
    if not isinstance(args, (list, tuple)):
        raise TypeError(f"args must be list and not {type(args)}. args: {args}")
    if kwargs is not None and not isinstance(kwargs, Mapping):
        raise TypeError(f"kwargs must be dict and not {type(kwargs)}. args: {kwargs}")
    given = (list(args), dict(kwargs or {}))

    def flat_function(*values: Any) -> Any:
        arguments, named = nest.pack_sequence_as(given, list(values))
        result = func(*arguments, **named)
        return None if output_types is None else nest.flatten(result)

    kinds = [] if output_types is None else nest.flatten(output_types)
    results = plain_py_func(flat_function, nest.flatten(given), kinds, stateful=stateful, name=name)
    if output_types is None:
        return results
    if output_shapes is not None:
        for result, shape in zip(results, nest.flatten(output_shapes), strict=True):
            result.set_shape(shape)
    return nest.pack_sequence_as(output_types, results)


def zero_initializer(ref: Any, use_locking: bool = True, name: str = "zero_initializer") -> Tensor:
    """Zeros, assigned to a variable. InvalidArgumentError where it has a value, TypeError for what is no variable."""
    if not (isinstance(ref, Variable) or state.is_reference(ref)):
        raise TypeError(f"zero_initializer wants a variable, not {ref!r}")
    with name_scope(name):
        is_new = logical_not(state.is_variable_initialized(ref))
        with control_dependencies([Assert(is_new, [f"{ref.name}: input is already initialized"])]):
            start = zeros(ref.get_shape(), ref.dtype.base_dtype)
        made: Tensor = state.assign(ref, start, use_locking=use_locking)
        return made
