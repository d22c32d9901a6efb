"""`tf.timestamp`: the time of a run. TF 1.15."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from tfexp.core.op import define_op
from tfexp.core.shape import TensorShape
from tfexp.graph.tensor import Tensor

timestamp_op = define_op("Timestamp() -> (ts: double) #stateful").not_differentiable()


@timestamp_op.shape
def _() -> TensorShape:
    return TensorShape([])


@timestamp_op.kernel("CPU")
def _(ctx: Any) -> np.ndarray:
    return np.array(time.time())


def timestamp(name: str | None = None) -> Tensor:
    """Seconds since 1970 when it runs, a float64. `tf.timestamp`."""
    result: Tensor = timestamp_op(name=name)
    return result
