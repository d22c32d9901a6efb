"""`tf.constant` as version 2 has it. Source: `tf.constant` of TF 2.0."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.shape import TensorShape
from tfexp.graph import convert
from tfexp.graph.scopes import get_default_graph
from tfexp.graph.tensor import Tensor


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const") -> Tensor:
    """A constant; of a `shape` only a single value is repeated (TypeError for others that do not fill it)."""
    if shape is not None and not get_default_graph().is_eager:
        wanted = TensorShape(shape)
        if np.size(value) not in (1, wanted.num_elements()):
            raise TypeError(f"Expected Tensor's shape: {tuple(wanted.as_list())}, got {np.shape(value)}.")
    return convert.constant(value, dtype, shape, name)
