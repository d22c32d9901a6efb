"""`tf.get_static_value`: what a program can know of a value before any run. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.graph.constant_value import constant_value
from tfexp.graph.tensor import Tensor
from tfexp.ops.check_types import is_tensor


def get_static_value(tensor: Any, partial: bool = False) -> Any:
    """The array that a tensor always has, None where that is not known; what is no tensor comes back as it is.

    With `partial`, a stack of values of which some are known is an array of objects: these, and None for the others.
    """
    if not isinstance(tensor, Tensor):
        return None if is_tensor(tensor) else tensor
    if partial and not tensor._graph.is_eager and tensor.op.type == "Pack" and tensor.op.get_attr("axis") == 0:
        parts = [get_static_value(part, partial) for part in tensor.op.inputs]
        if any(part is None or part.dtype == object for part in parts):
            return np.array(parts, object)
    return constant_value(tensor)
