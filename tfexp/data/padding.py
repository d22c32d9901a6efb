"""How elements of a padded batch are filled up: shapes and values as nodes."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.shape import TensorShape, as_shape
from tfexp.data.structure import Component
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.shape_inference import static_value_as_shape
from tfexp.graph.tensor import Tensor


def padded_shape(value: Any, component: Component) -> tuple[Tensor, np.ndarray]:
    """A padded shape as the int64 tensor of the node, unknown sizes as -1, and what is known of it."""
    if isinstance(value, Tensor):
        if value.shape.rank not in (1, None):
            raise ValueError(
                f"Padded shape {value} must be a 1-D tensor of tf.int64 values, but its shape was {value.shape}."
            )
        if value.dtype.base_dtype != dtypes.int64:
            raise TypeError(
                f"Padded shape {value} must be a 1-D tensor of tf.int64 values, but its element type was {value.dtype.name}."
            )
        known = static_value_as_shape(value)
        if known.rank is None:
            return value, np.full(component.shape.rank or 0, -1)
        return value, _sizes(known, component)
    given = np.empty(0) if isinstance(value, TensorShape) else np.asarray(value)
    if given.size and given.dtype.kind in "fSU":  # no sizes: it is said as of a tensor
        return padded_shape(convert_to_tensor(value), component)
    dims = _sizes(as_shape(_without_negative(value)), component)
    return constant(dims.astype(np.int64), dtype=dtypes.int64), dims


def _sizes(shape: TensorShape, component: Component) -> np.ndarray:
    """Its sizes, unknown ones as -1; ValueError where it has not the rank of the component."""
    dims = shape.as_list()
    if component.shape.rank is not None and len(dims) != component.shape.rank:
        raise ValueError(
            f"The padded shape {shape} is not compatible with the corresponding input component shape {component.shape}."
        )
    return np.array([-1 if size is None else int(size) for size in dims], int)


def _without_negative(value: Any) -> Any:
    if isinstance(value, TensorShape):
        return value
    return [None if d is None or int(getattr(d, "value", d) or 0) == -1 else d for d in value]


def padding_value(value: Any, component: Component) -> Tensor:
    """What fills up a component: 0, or the empty string, where nothing is given. ValueError, TypeError else."""
    if value is None:
        value = "" if component.dtype is dtypes.string else np.zeros((), component.dtype.as_numpy_dtype)
    padding = convert_to_tensor(value, name="padding_value")
    if padding.shape.rank not in (0, None):
        raise ValueError(f"Padding value should be a scalar, but is not: {padding}")
    if padding.dtype != component.dtype:
        raise TypeError(f"Padding value tensor ({padding}) does not match output type: {component.dtype!s}")
    return padding
