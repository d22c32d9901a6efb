"""What `tensorflow.python.ops.math_ops` keeps of reductions beside those that it publishes. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.graph.convert import convert_to_tensor
from tfexp.ops.reduce_gradients import kept_shape


def reduced_shape(input_shape: Any, axes: Any) -> Any:
    """The shape of a reduction along `axes` that keeps them: an array where both arguments are constant, else a tensor."""
    return kept_shape(convert_to_tensor(input_shape), convert_to_tensor(axes))
