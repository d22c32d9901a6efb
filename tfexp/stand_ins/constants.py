"""`tf.constant` of version 2, which `tensorflow.python.framework.constant_op` has. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.shape import TensorShape
from tfexp.graph import convert
from tfexp.graph.tensor import Tensor


def is_constant(tensor_or_op: Any) -> bool:
    """Whether it is a Const node, or a tensor of one."""
    return (tensor_or_op.op if isinstance(tensor_or_op, Tensor) else tensor_or_op).type == "Const"


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const") -> Tensor:
    """A constant; of a `shape` only a single value is repeated (TypeError for others that do not fill it)."""
    if shape is not None:
        wanted = TensorShape(shape)
        if np.size(value) not in (1, wanted.num_elements()):
            raise TypeError(f"Expected Tensor's shape: {tuple(wanted.as_list())}, got {np.shape(value)}.")
    return convert.constant(value, dtype, shape, name)
