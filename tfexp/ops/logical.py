"""Logic on bool tensors. No gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.op import define_op
from tfexp.graph.tensor import Tensor
from tfexp.ops.shape_rules import broadcasting, shape_preserving

logical_and = define_op("LogicalAnd(x: bool, y: bool) -> (z: bool) #commutative")
logical_or = define_op("LogicalOr(x: bool, y: bool) -> (z: bool) #commutative")
logical_not = define_op("LogicalNot(x: bool) -> (y: bool)")
broadcasting(logical_and).not_differentiable().ufunc(np.logical_and)
broadcasting(logical_or).not_differentiable().ufunc(np.logical_or)
shape_preserving(logical_not).not_differentiable().ufunc(np.logical_not)


def logical_xor(x: Any, y: Any, name: str = "LogicalXor") -> Tensor:
    """(x or y) and not (x and y). `tf.logical_xor`."""
    return logical_and(logical_or(x, y), logical_not(logical_and(x, y)), name=name)
