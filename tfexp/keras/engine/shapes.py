"""Shapes as Keras hands them around: tuples with None for what is unknown, alone or in lists, tuples and dicts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfexp.core import nest
from tfexp.core.shape import Dimension, TensorShape, as_shape


def is_shape(value: Any) -> bool:
    """Whether it is one shape, not a structure of shapes."""
    if isinstance(value, TensorShape):
        return True
    sizes = (int, np.integer, Dimension, type(None))
    return isinstance(value, (list, tuple)) and all(isinstance(size, sizes) for size in value)


def map_shapes(function: Callable[[Any], Any], shapes: Any) -> Any:
    """The structure with `function(shape)` for each shape; None stays None."""
    if shapes is None:
        return None
    if is_shape(shapes):
        return function(shapes)
    if isinstance(shapes, dict):
        return {key: map_shapes(function, shape) for key, shape in shapes.items()}
    return type(shapes)(map_shapes(function, shape) for shape in shapes)


def as_tuples(shapes: Any) -> Any:
    """Shapes as tuples of numbers and None; one of unknown rank is None."""
    return map_shapes(lambda shape: None if (full := as_shape(shape)).rank is None else tuple(full.as_list()), shapes)


def shapes_of(inputs: Any) -> Any:
    """The structure with the TensorShape of each tensor; None where anything in it, say a name beside a tensor, has none."""
    if all(hasattr(leaf, "get_shape") for leaf in nest.flatten(inputs)):
        return nest.map_structure(lambda leaf: leaf.get_shape(), inputs)
    return None


def as_tensor_shapes(shapes: Any) -> Any:
    """Shapes as TensorShapes."""
    return map_shapes(as_shape, shapes)
