"""What `tensorflow.python.framework.constant_op` has beside `tf.constant` of version 2. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.graph.tensor import Tensor


def is_constant(tensor_or_op: Any) -> bool:
    """Whether it is a Const node, or a tensor of one."""
    return (tensor_or_op.op if isinstance(tensor_or_op, Tensor) else tensor_or_op).type == "Const"
