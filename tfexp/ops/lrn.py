"""Local response normalisation: each channel divided by a power of what its neighbours hold. Source: `tf.nn.lrn`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.merged_shape import merged
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array
from tfexp.ops.conv import same_attrs
from tfexp.ops.image_blocks import wide
from tfexp.ops.shape_rules import with_rank

_ATTRS = (
    "{depth_radius: int = 5; bias: float = 1.0; alpha: float = 1.0; beta: float = 0.5; "
    "T: type in [half,bfloat16,float] = float}"
)
lrn_op = define_op(f"LRN(input: T) -> (output: T) {_ATTRS}")
lrn_grad_op = define_op(f"LRNGrad(input_grads: T, input_image: T, output_image: T) -> (output: T) {_ATTRS}")


@lrn_op.shape
def _(input: InputShape) -> TensorShape:
    return with_rank(input, 4)


@lrn_grad_op.shape
def _(input_grads: InputShape, input_image: InputShape, output_image: InputShape) -> TensorShape:
    return merged(with_rank(input_grads, 4), merged(input_image, output_image))


def _band(depth: int, radius: int, dtype: Any) -> Array:
    """A symmetric matrix whose product with a row sums each channel with its neighbours."""
    distance = np.abs(np.arange(depth)[:, None] - np.arange(depth))
    return (distance <= radius).astype(dtype)


def _norms(x: Array, band: Array, bias: float, alpha: float) -> Array:
    """bias + alpha * the sum of squares around each channel; x: [pixels, depth]."""
    sums = np.matmul(np.square(x), band)
    sums *= np.asarray(alpha, x.dtype)
    sums += np.asarray(bias, x.dtype)
    return sums


@lrn_op.kernel("CPU", "XLA")
def _(ctx: Any, input: Array, *, depth_radius: int, bias: float, alpha: float, beta: float) -> Array:
    if input.ndim != 4:
        raise ValueError("in must be 4-dimensional")
    if depth_radius < 0:
        raise ValueError(f"depth_radius must be >= 0, got {depth_radius}")
    dtype, depth = wide(input.dtype), input.shape[-1]
    x = input.astype(dtype, copy=False).reshape(-1, depth) if input.size else np.zeros((0, depth), dtype)
    norms = _norms(x, _band(depth, depth_radius, dtype), bias, alpha)
    power = np.power(norms, np.asarray(-beta, dtype), norms)
    return np.multiply(x, power, power).reshape(input.shape).astype(input.dtype, copy=False)


@lrn_grad_op.kernel("CPU", "XLA")
def _(
    ctx: Any,
    input_grads: Array,
    input_image: Array,
    output_image: Array,
    *,
    depth_radius: int,
    bias: float,
    alpha: float,
    beta: float,
) -> Array:
    if input_grads.ndim != 4:
        raise ValueError("inputs must be 4-dimensional")
    if depth_radius < 0:
        raise ValueError(f"depth_radius must be >= 0, got {depth_radius}")
    if not input_grads.shape == input_image.shape == output_image.shape:
        raise ValueError("input_grads, input_image, and out_image should have the same shape")
    if not input_grads.size:
        return np.zeros_like(input_grads)
    # y_j = x_j n_j^-b with n_j = bias + a sum_k x_k^2, so dy_j/dx_k = [j = k] n_j^-b - 2 a b x_k y_j / n_j for neighbours.
    dtype, depth = wide(input_grads.dtype), input_grads.shape[-1]
    grads, x, y = (a.astype(dtype, copy=False).reshape(-1, depth) for a in (input_grads, input_image, output_image))
    band = _band(depth, depth_radius, dtype)
    norms = _norms(x, band, bias, alpha)
    shared = np.matmul(grads * y / norms, band)
    shared *= x
    shared *= np.asarray(-2 * alpha * beta, dtype)
    shared += grads * np.power(norms, np.asarray(-beta, dtype), norms)
    return shared.reshape(input_grads.shape).astype(input_grads.dtype, copy=False)


@lrn_op.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    result: Tensor = lrn_grad_op(grad, op.inputs[0], op.outputs[0], **same_attrs(op))
    return result


def lrn(
    input: Any,
    depth_radius: int = 5,
    bias: float = 1,
    alpha: float = 1,
    beta: float = 0.5,
    name: str | None = None,
) -> Tensor:
    """input / (bias + alpha * sum of squares over 2 * depth_radius + 1 channels) ** beta.

    input: [batch, rows, columns, depth]. Source: `tf.nn.local_response_normalization`.
    """
    result: Tensor = lrn_op(input, depth_radius=depth_radius, bias=bias, alpha=alpha, beta=beta, name=name)
    return result


local_response_normalization = lrn
