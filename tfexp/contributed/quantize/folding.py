"""Batch norms folded into the weights before them: one multiplication and one addition are left, as when it is served.

With r = 1 / sqrt(variance + epsilon), norm(w * x) is (w * gamma * r) * x + (beta - gamma * mean * r). While it learns from a
batch's statistics, weights are scaled by the moving averages, so that what is quantised changes little from step to step,
and the product is scaled back to the batch's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tfexp.contributed.graph_editor.wiring import reroute_ts
from tfexp.contributed.quantize.fake_nodes import step
from tfexp.contributed.quantize.layers_found import ADDITIONS, below, has_weights, reads_variable, scope_of
from tfexp.core import dtypes
from tfexp.graph.control_flow import cond
from tfexp.graph.convert import constant
from tfexp.graph.custom_gradient import RegisterGradient
from tfexp.graph.graph import Graph
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import reshape, shape, size
from tfexp.ops.array_fill import ones, zeros
from tfexp.ops.array_identity import identity
from tfexp.ops.array_order import transpose
from tfexp.ops.cast import cast
from tfexp.ops.comparison import greater_equal
from tfexp.ops.elementwise_binary import add
from tfexp.ops.elementwise_binary import mul as multiply
from tfexp.ops.elementwise_binary import sub as subtract
from tfexp.ops.elementwise_division import truediv
from tfexp.ops.elementwise_unary import reciprocal, rsqrt

_FUSED = ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
_GRADIENT = "FoldFusedBatchNormGrad"


@dataclass(frozen=True)
class _Statistics:
    """A batch's mean and variance, and the moving averages of these with the inputs by which they move."""

    mean: Any
    variance: Any
    moving_mean: Any
    moving_variance: Any
    rates: tuple[tuple[Operation, Tensor], ...]  # (the op that multiplies by a rate, the rate)


@dataclass(frozen=True)
class _BatchNorm:
    layer: Operation
    result: Tensor  # what comes out of the batch norm
    scale: Tensor  # what the weights are multiplied by, of the batch's statistics or the moving averages
    offset: Tensor
    gamma: Tensor
    epsilon: Any
    batch: _Statistics | None  # None where the moving averages are what it normalises with
    scope: str  # where the corrections are


def fold_batch_norms(graph: Graph, is_training: bool, freeze_delay: int | None) -> dict[Operation, Operation]:
    """Fold all batch norms that follow layers; {the addition that stands for a batch norm's: the op of its layer}.

    freeze_delay: the number of steps after which the moving averages are taken instead of a batch's, and stay.
    """
    fused = [(op, layer) for op in graph.get_operations() if op.type in _FUSED and (layer := _layer_before(op.inputs[0]))]
    variances = [_variance(op) for op, _ in fused]
    folded = {}
    for (op, layer), variance in zip(fused, variances, strict=True):
        added, new = _fold(_opened(op, layer, variance), is_training, freeze_delay)
        folded[added] = new
    for norm in list(_unfused(graph)):
        added, new = _fold(norm, is_training, freeze_delay)
        folded[added] = new
    return folded


def _layer_before(tensor: Tensor) -> Operation | None:
    while tensor.op.type == "Reshape":
        tensor = tensor.op.inputs[0]
    return tensor.op if has_weights(tensor.op) else None


# --- batch norms in one node ---------------------------------------------------------------------------------------------


def _variance(op: Operation) -> Tensor:
    """The variance by which a batch is divided: the node gives the unbiased one."""
    if not op.attrs["is_training"]:
        return op.inputs[4]
    # The node's value is not used any more: what is left of its gradient is that of the statistics.
    op._set_attr("_gradient_op_type", _GRADIENT)
    with name_scope(f"{scope_of(op)}/" if scope_of(op) else None):
        count: Any = cast(truediv(size(op.inputs[0]), size(op.outputs[1])), dtypes.float32)
        return multiply(op.outputs[2], (count - 1.0) / count, name="Undo_Bessel_Correction")


def _opened(op: Operation, layer: Operation, variance: Any) -> _BatchNorm:
    is_training = op.attrs["is_training"]
    gamma, beta = op.inputs[1:3]
    mean: Any = op.outputs[1] if is_training else op.inputs[3]
    epsilon, scope = op.attrs["epsilon"], below(scope_of(layer), "BatchNorm_Fold")
    with name_scope(f"{scope}/"):
        root: Any = rsqrt(variance + epsilon)
        scale = gamma * root
        offset = subtract(beta, mean * scale, name="bias")
    batch = _statistics(mean, variance, op.outputs[1:3]) if is_training else None
    return _BatchNorm(layer, _reshaped(op.outputs[0]), scale, offset, gamma, epsilon, batch, scope)


def _reshaped(result: Tensor) -> Tensor:
    """The value after the reshape that undoes what a batch norm of matrices needs before it."""
    consumers = result.consumers()
    return consumers[0].outputs[0] if len(consumers) == 1 and consumers[0].type == "Reshape" else result


def _statistics(mean: Tensor, variance: Tensor, averaged: Any) -> _Statistics | None:
    """The statistics of a batch norm of which moving averages are kept, else None."""
    moves = [_move(tensor) for tensor in averaged]
    if None in moves:
        return None
    (moving_mean, *mean_rate), (moving_variance, *variance_rate) = moves
    return _Statistics(mean, variance, moving_mean, moving_variance, (tuple(mean_rate), tuple(variance_rate)))


def _move(value: Tensor) -> Any:
    """(a variable's value, the op that multiplies its way to `value` by a rate, the rate)."""
    for difference in value.consumers():
        if difference.type == "Sub" and reads_variable(difference.inputs[0]):
            for product in difference.outputs[0].consumers():
                if product.type == "Mul":
                    rate = next(t for t in product.inputs if t.op is not difference)
                    return difference.inputs[0], product, rate
    return None


@RegisterGradient(_GRADIENT)
def _gradient_of_statistics(op: Operation, unused: Any, of_mean: Any, of_variance: Any, *rest: Any) -> Any:
    """d mean / dx = 1 / n and, as the variance is the unbiased one, d variance / dx = 2 (x - mean) / (n - 1)."""
    x, mean = op.inputs[0], op.outputs[1]
    if op.attrs["data_format"] == "NCHW":
        x = transpose(x, [0, 2, 3, 1])
    count: Any = cast(size(x) / size(mean), dtypes.float32)
    slope = of_mean / count + of_variance * (x - mean) * (2.0 / (count - 1.0))
    if op.attrs["data_format"] == "NCHW":
        slope = transpose(slope, [0, 3, 1, 2])
    return slope, None, None, None, None


# --- batch norms of many nodes -------------------------------------------------------------------------------------------


def _unfused(graph: Graph) -> Iterator[_BatchNorm]:
    """The batch norms that `tf.nn.batch_normalization` made: y * scale + (beta - mean * scale)."""
    for op in graph.get_operations():
        if op.type not in ADDITIONS or len(op.inputs) != 2:
            continue
        product, offset = (tensor.op for tensor in op.inputs)
        if product.type != "Mul" or offset.type != "Sub" or offset.inputs[1].op.type != "Mul":
            continue
        layer, scale = _layer_before(product.inputs[0]), product.inputs[1]
        shift = offset.inputs[1].op
        if layer is None or scale not in shift.inputs:
            continue
        mean = next(tensor for tensor in shift.inputs if tensor is not scale)
        root, gamma = _of_scale(scale)
        if root is not None:
            variance, epsilon = root.inputs[0].op.inputs
            gamma = ones(scale.get_shape(), scale.dtype) if gamma is None else gamma
            batch = None if reads_variable(mean) else _statistics(mean, variance, (mean, variance))
            yield _BatchNorm(layer, op.outputs[0], scale, offset.outputs[0], gamma, epsilon, batch, scope_of(layer))


def _of_scale(scale: Tensor) -> tuple[Operation | None, Tensor | None]:
    """(the Rsqrt of a scale, the gamma that it is multiplied with)."""
    if scale.op.type == "Mul":
        for root, gamma in (scale.op.inputs, scale.op.inputs[::-1]):
            if _of_scale(root)[0] is not None:
                return root.op, gamma
        return None, None
    is_root = scale.op.type == "Rsqrt" and scale.op.inputs[0].op.type in ADDITIONS
    return (scale.op if is_root else None), None


# --- folding -------------------------------------------------------------------------------------------------------------


def _fold(norm: _BatchNorm, is_training: bool, freeze_delay: int | None) -> tuple[Operation, Operation]:
    """(the addition that stands for the batch norm's, the layer with scaled weights)."""
    layer = norm.layer
    corrected = _Correction(norm, norm.batch, freeze_delay) if is_training and norm.batch is not None else None
    weights, outer = layer.inputs[1], f"{scope_of(layer)}/" if scope_of(layer) else None
    with name_scope(f"{norm.scope}/" if norm.scope else None):
        scale = _for_weights(norm.scale, layer, "scale_reshape")
        factor = _for_weights(corrected.scale, layer, "correction_reshape") if corrected else None
    with name_scope(outer):
        if factor is not None:
            weights = multiply(factor, weights, name="correction_mult")
        weights = multiply(weights, scale, name="mul_fold")
        attrs = dict(layer.attrs)
        new = layer.graph.add_node(layer.type, [layer.inputs[0], weights], attrs, f"{layer.name}_Fold/")
        value = new.outputs[0]
        if corrected:
            value = multiply(corrected.reciprocal, value, name="post_conv_mul")
            value = add(value, corrected.offset, name="correction_add")
        value = add(value, norm.offset, name="add_fold")
    reroute_ts(value, norm.result)
    return value.op, new


def _for_weights(scale: Tensor, layer: Operation, name: str) -> Tensor:
    """Factors of channels, in the shape in which they fit the weights: [inputs, multiplier] where channels stay apart."""
    if layer.type != "DepthwiseConv2dNative":
        return scale
    weights = layer.inputs[1]
    known = weights.get_shape()[2:]
    return reshape(scale, known if known.is_fully_defined() else shape(weights)[2:], name=name)  # type: ignore[index]


class _Correction:
    """What brings weights from a batch's statistics to the moving averages, and products back.

    scale: r of the moving averages over r of the batch; reciprocal: one over it; offset: what the means differ by.
    """

    def __init__(self, norm: _BatchNorm, batch: _Statistics, freeze_delay: int | None):
        with name_scope(f"{below(norm.scope, 'batch_norm_correction')}/"):
            moving: Any = rsqrt(batch.moving_variance + norm.epsilon)
            current: Any = rsqrt(batch.variance + norm.epsilon)
            self.scale = identity(truediv(moving, current, name="scale_compute"), name="correction_scale")
            self.reciprocal: Any = reciprocal(self.scale, name="reciprocal_compute")
            difference = batch.mean * current - batch.moving_mean * moving
            offset = multiply(norm.gamma, difference, name="offset_compute")
            like = self.scale.get_shape()
            if freeze_delay is None:
                self.offset: Any = zeros(like)
                return
            is_frozen = greater_equal(step(norm.layer.graph), freeze_delay, name="use_moving_average")
            for move, name in zip(batch.rates, ("freeze_moving_mean", "freeze_moving_var"), strict=True):
                _stop(*move, is_frozen, name)
            once = self.reciprocal
            self.reciprocal = cond(is_frozen, lambda: ones(like), lambda: once, name="correction_recip")
            self.offset = cond(is_frozen, lambda: offset, lambda: zeros(like), name="correction_offset")


def _stop(op: Operation, rate: Tensor, is_frozen: Any, name: str) -> None:
    """Let the op multiply by 0 instead of a rate, once that is so."""
    reroute_ts(cond(is_frozen, lambda: constant(0.0), lambda: rate, name=name), rate, can_modify=[op])
