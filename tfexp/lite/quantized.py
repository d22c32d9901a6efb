"""Numbers that are kept as small integers: what is stored as a graph's nodes, and steps on such tensors.

A step whose outputs are quantized is computed with the real numbers that its inputs stand for, and its results are rounded
to what the outputs can keep. TensorFlow Lite multiplies integers instead, which can differ by a step of the output's scale.

A product of real inputs with quantized weights rounds its inputs, too: each example has a scale of its own, by which its
largest magnitude is 127 (TensorFlow Lite's hybrid kernels).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.op import get_op
from tfexp.formats.lite_model import LiteTensor
from tfexp.graph.tensor import Tensor
from tfexp.lite.meanings import Options, activated, nodes_of

# Ops that take real inputs with weights in int8 as they are.
HYBRID = ("CONV_2D", "FULLY_CONNECTED")


def is_quantized(tensor: LiteTensor | None) -> bool:
    """Whether its integers stand for real numbers."""
    return tensor is not None and tensor.quantization is not None and np.issubdtype(tensor.dtype, np.integer)


def dequantized(x: Any, tensor: LiteTensor | None) -> Any:
    """The real numbers that a quantized tensor stands for; others, and what is left out, as they are."""
    if tensor is None or tensor.quantization is None or not is_quantized(tensor):
        return x
    scale, zero_point = tensor.quantization.along(len(tensor.shape))
    whole = get_op("Cast")(x, DstT=dtypes.float32)
    return get_op("Mul")(get_op("Sub")(whole, zero_point.astype(np.float32)), scale.astype(np.float32))


def quantized(x: Tensor, tensor: LiteTensor) -> Tensor:
    """Real numbers as the tensor keeps them; those beyond a quantized tensor's range are its ends."""
    if tensor.quantization is None or not is_quantized(tensor):
        return x
    scale, zero_point = tensor.quantization.along(len(tensor.shape))
    places = get_op("Add")(_rounded(get_op("RealDiv")(x, scale.astype(np.float32))), zero_point.astype(np.float32))
    ends = np.iinfo(tensor.dtype)
    inside = get_op("Minimum")(get_op("Maximum")(places, np.float32(ends.min)), np.float32(ends.max))
    return get_op("Cast")(inside, DstT=dtypes.as_dtype(tensor.dtype))


def _rounded(x: Tensor) -> Tensor:
    """To the nearest whole number; halves away from zero."""
    floor = get_op("Floor")(get_op("Add")(get_op("Abs")(x), np.asarray(0.5, x.dtype.as_numpy_dtype)))
    return get_op("Mul")(get_op("Sign")(x), floor)


def hybrid_product(op: str, inputs: list[Any], options: Options, weights: Any) -> list[Tensor]:
    """FULLY_CONNECTED or CONV_2D of real inputs with quantized weights."""
    x, stored = inputs[:2]
    axes = [-1] if op == "FULLY_CONNECTED" else [1, 2, 3]
    if op == "FULLY_CONNECTED":
        x = get_op("Reshape")(x, [-1, stored.shape.as_list()[1]])
    largest = get_op("Max")(get_op("Abs")(x), axes, keep_dims=True)
    steps = get_op("RealDiv")(largest, np.float32(127))
    divisor = get_op("Maximum")(steps, np.finfo(np.float32).tiny)  # an example of zeros stays one
    whole = _rounded(get_op("RealDiv")(x, divisor))
    # Sums of such products are whole numbers that float64 holds and float32 may not.
    wide = [get_op("Cast")(one, DstT=dtypes.float64) for one in (whole, stored)]
    (sums,) = nodes_of(op, wide, {**options, "activation": "NONE"})
    scales = get_op("Mul")(divisor, weights.quantization.scale.astype(np.float32))
    out = get_op("Mul")(get_op("Cast")(sums, DstT=dtypes.float32), scales)
    if len(inputs) > 2 and inputs[2] is not None:
        out = get_op("Add")(out, inputs[2])
    if options.get("keep_num_dims"):
        out = get_op("Reshape")(out, [*inputs[0].shape.as_list()[:-1], stored.shape.as_list()[0]])
    return [activated(out, options.get("activation", "NONE"))]
