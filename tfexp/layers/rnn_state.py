"""The shapes of states and outputs of recurrent cells, and zeros of those shapes."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes, nest
from tfexp.core.shape import TensorShape
from tfexp.graph.convert import constant
from tfexp.graph.scopes import get_default_graph
from tfexp.graph.shape_inference import static_value
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import expand_dims
from tfexp.ops.array_fill import zeros
from tfexp.ops.array_join import concat


def _known(part: Any) -> tuple[Tensor | None, list[int | None] | None]:
    """A part of a shape as a vector, None if it is not fully known, and the dimensions that are known of it."""
    if not isinstance(part, Tensor):
        dims = TensorShape(part if isinstance(part, (list, tuple, TensorShape)) else [part])
        vector = constant(dims.as_list(), dtypes.int32) if dims.is_fully_defined() else None
        return vector, None if dims.ndims is None else dims.as_list()
    value = static_value(part)
    if part.get_shape().ndims == 0:
        return expand_dims(part, 0), [None if value is None else int(value)]
    if part.get_shape().ndims != 1:
        raise ValueError(f"A part of a shape must be either a scalar or vector, but saw tensor: {part}")
    if value is None:
        count = part.get_shape()[0].value
        return part, None if count is None else [None] * count
    return part, [int(v) for v in value]


def joined_shape(prefix: Any, suffix: Any) -> Tensor:
    """The shape `prefix` and then `suffix`, each a number, shape or tensor, as a vector. ValueError where one is unknown."""
    (first, _), (rest, _) = _known(prefix), _known(suffix)
    if first is None or rest is None:
        raise ValueError(f"Provided a prefix or suffix of None: {prefix} and {suffix}")
    return concat([first, rest], 0)


def static_shape(prefix: Any, suffix: Any) -> TensorShape:
    """What is known of that shape. (TensorFlow makes the constants of both parts for it, and so does this.)"""
    (_, first), (_, rest) = _known(prefix), _known(suffix)
    return TensorShape(None) if first is None or rest is None else TensorShape([*first, *rest])


def zeros_of(batch_size: Any, size: Any, dtype: Any) -> Tensor:
    """[batch_size, *size] zeros."""
    made = zeros(joined_shape(batch_size, size), dtype=dtype)
    made.set_shape(static_shape(batch_size, size))
    return made


def zero_states(sizes: Any, batch_size: Any, dtype: Any) -> Any:
    """Zeros for each size in the structure `sizes`; `dtype` is one for all, or a structure like `sizes`."""
    if nest.is_nested(dtype):
        return nest.map_structure(lambda size, kind: zeros_of(batch_size, size, kind), sizes, dtype)
    return map_sizes(lambda size: zeros_of(batch_size, size, dtype), sizes)


def map_sizes(function: Any, sizes: Any) -> Any:
    return nest.map_structure(function, sizes)


def state_dtype(explicit: Any, state: Any) -> Any:
    """The type of outputs: the explicit one, else that of all states. ValueError where these differ or are none."""
    if explicit is not None:
        return explicit
    if not nest.is_nested(state):
        return dtypes.as_dtype(state.dtype).base_dtype
    found = [dtypes.as_dtype(leaf.dtype).base_dtype for leaf in nest.flatten(state)]
    if not found:
        raise ValueError("Unable to infer dtype from empty state.")
    if any(kind is not found[0] for kind in found):
        raise ValueError("State has tensors of different inferred_dtypes. Unable to infer a single representative dtype.")
    return found[0]


def outside_of_loops() -> bool:
    """Whether no loop is being built: then variables may be read where they are used."""
    context = get_default_graph()._get_control_flow_context()
    return context is None or context.while_context() is None
