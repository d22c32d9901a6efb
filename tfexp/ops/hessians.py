"""`tf.hessians`: second derivatives, a row at a time. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import constant
from tfexp.graph.gradients import gradients
from tfexp.graph.tensor import Tensor
from tfexp.graph.while_loop import while_loop
from tfexp.ops.array import reshape, shape, size
from tfexp.ops.array_join import concat
from tfexp.ops.tensor_array import TensorArray


def hessians(
    ys: Any,
    xs: Any,
    name: str = "hessians",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
) -> list[Tensor]:
    """For each x, the tensor of all d2 sum(ys) / dx dx, of the shape of x followed by the shape of x again."""
    listed = list(xs) if isinstance(xs, (list, tuple)) else [xs]
    options: dict[str, Any] = {
        "colocate_gradients_with_ops": colocate_gradients_with_ops,
        "gate_gradients": gate_gradients,
        "aggregation_method": aggregation_method,
    }
    found = []
    for grad, x in zip(gradients(ys, listed, **options), listed, strict=True):
        if grad is None:
            raise ValueError(f"No y depends on {x}: it has no Hessian")
        found.append(_hessian(grad, x, options))
    return found


def _hessian(grad: Any, x: Tensor, options: dict[str, Any]) -> Tensor:
    flat = reshape(grad, [-1])
    count = size(x)

    def body(i: Tensor, rows: TensorArray) -> Any:
        return i + 1, rows.write(i, gradients(flat[i], x, **options)[0])

    _, rows = while_loop(lambda i, _: i < count, body, [constant(0, dtype=dtypes.int32), TensorArray(x.dtype, count)])
    dims = shape(x)
    return reshape(rows.stack(), concat([dims, dims], 0))
