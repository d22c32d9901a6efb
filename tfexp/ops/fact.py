"""`tf.user_ops.my_fact`: the op that TensorFlow ships as an example of one's own."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.op import define_op
from tfexp.core.shape import TensorShape
from tfexp.graph.tensor import Tensor

fact_op = define_op("Fact() -> (fact: string)")


@fact_op.shape
def _() -> TensorShape:
    return TensorShape([])


@fact_op.kernel("CPU")
def _(ctx: Any) -> np.ndarray:
    return np.array(b"0! == 1", object)


def my_fact() -> Tensor:
    """A fact of mathematics, a string."""
    result: Tensor = fact_op()
    return result
