"""Batch normalisation in one node: FusedBatchNorm (three versions), its gradient, and TensorFlow 0.x's global one.

Statistics are per channel, in float32 whatever x is. What is given as `batch_variance` is the unbiased estimate, for moving
averages; the gradient gets the biased one, with which the batch was normalised.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.kernel import BindRequest, Call
from tfexp.core.op import Op, define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.gradients import gradients
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.ops import batch_norm_kernels as kernels
from tfexp.ops.array import Array, reshape, size
from tfexp.ops.array_identity import stop_gradient
from tfexp.ops.array_order import transpose
from tfexp.ops.batch_norm_kernels import Passes
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_binary import squared_difference
from tfexp.ops.elementwise_unary import reciprocal, rsqrt
from tfexp.ops.image_blocks import wide
from tfexp.ops.reduce import reduce_mean, reduce_sum
from tfexp.ops.shape_rules import merged_dims, with_rank
from tfexp.ops.windows import channels_second, compiled_from_last, from_last, to_last

_EPSILON = "epsilon: float = 9.999999747378752e-05"
_SAVED = "y: T, batch_mean: {0}, batch_variance: {0}, reserve_space_1: {0}, reserve_space_2: {0}"
_MADE = "x_backprop: T, scale_backprop: {0}, offset_backprop: {0}, reserve_space_{1}: {0}, reserve_space_{2}: {0}"
_TRAINING = "is_training: bool = true"
_FORMAT = "data_format: string in ['NHWC','NCHW'] = 'NHWC'"
_FORMAT_3 = "data_format: string in ['NHWC','NCHW','NDHWC','NCDHW'] = 'NHWC'"
_MIXED = "T: type in [half,bfloat16,float]; U: type in "


def _inputs(of: str) -> str:
    return f"x: T, scale: {of}, offset: {of}, mean: {of}, variance: {of}"


fused_op = define_op(
    f"FusedBatchNorm({_inputs('T')}) -> ({_SAVED.format('T')}) {{T: type in [float]; {_EPSILON}; {_FORMAT}; {_TRAINING}}}"
)
fused_v2_op = define_op(
    f"FusedBatchNormV2({_inputs('U')}) -> ({_SAVED.format('U')}) {{{_MIXED}[float]; {_EPSILON}; {_FORMAT}; {_TRAINING}}}"
)
fused_v3_op = define_op(
    f"FusedBatchNormV3({_inputs('U')}) -> ({_SAVED.format('U')}, reserve_space_3: U) {{{_MIXED}[bfloat16,float]; "
    f"{_EPSILON}; {_FORMAT_3}; {_TRAINING}}}"
)
fused_grad_op = define_op(
    "FusedBatchNormGrad(y_backprop: T, x: T, scale: T, reserve_space_1: T, reserve_space_2: T) -> "
    f"({_MADE.format('T', 3, 4)}) {{T: type in [float]; {_EPSILON}; {_FORMAT}; {_TRAINING}}}"
)
fused_grad_v2_op = define_op(
    "FusedBatchNormGradV2(y_backprop: T, x: T, scale: float, reserve_space_1: U, reserve_space_2: U) -> "
    f"({_MADE.format('U', 3, 4)}) {{{_MIXED}[float]; {_EPSILON}; {_FORMAT}; {_TRAINING}}}"
)
fused_grad_v3_op = define_op(
    "FusedBatchNormGradV3(y_backprop: T, x: T, scale: float, reserve_space_1: U, reserve_space_2: U, reserve_space_3: U) -> "
    f"({_MADE.format('U', 4, 5)}) {{{_MIXED}[float]; {_EPSILON}; {_FORMAT_3}; {_TRAINING}}}"
)
_FORWARD, _BACKWARD = (fused_op, fused_v2_op, fused_v3_op), (fused_grad_op, fused_grad_v2_op, fused_grad_v3_op)


# --- shapes -----------------------------------------------------------------------------------------------------------


def _with_channels(x: InputShape, vectors: list[InputShape], data_format: str) -> tuple[TensorShape, TensorShape]:
    """(x's shape, the shape of a vector over its channels), each with what the other tells."""
    dims = with_rank(x, len(data_format)).as_list()
    axis = 1 if channels_second(data_format) else len(dims) - 1
    channels = dims[axis]
    for vector in vectors:
        channels = merged_dims(channels, with_rank(vector, 1).as_list()[0])
    dims[axis] = channels
    return TensorShape(dims), TensorShape([channels])


def _attach_shapes(forward: Op, backward: Op, reserved: int) -> None:
    @forward.shape
    def _(
        x: InputShape,
        scale: InputShape,
        offset: InputShape,
        mean: InputShape,
        variance: InputShape,
        *,
        data_format: str,
        is_training: bool,
    ) -> list[TensorShape]:
        statistics = [] if is_training else [mean, variance]
        y, channels = _with_channels(x, [scale, offset, *statistics], data_format)
        return [y, *[channels] * 4, *[TensorShape(None)] * reserved]

    @backward.shape
    def _(
        y_backprop: InputShape,
        x: InputShape,
        scale: InputShape,
        first: InputShape,
        second: InputShape,
        *third: InputShape,
        data_format: str,
        is_training: bool,
    ) -> list[TensorShape]:
        with_rank(x, len(data_format))
        y, channels = _with_channels(y_backprop, [scale, first, second], data_format)
        return [y, channels, channels, TensorShape([0]), TensorShape([0])]


# --- kernels ----------------------------------------------------------------------------------------------------------


def _rows(x: Array, data_format: str, copies: int) -> Array:
    """[everything else, that many times the channels], in float32."""
    last = to_last(x, data_format)
    return last.astype(wide(x.dtype), copy=False).reshape(-1, copies * last.shape[-1])


def _back(rows: Array, x: Array, data_format: str) -> Array:
    shape = to_last(x, data_format).shape
    return from_last(rows.reshape(shape).astype(x.dtype, copy=False), data_format)


def _check_vectors(x: Array, data_format: str, **vectors: Array) -> int:
    """The number of channels; ValueError unless each vector has as many elements."""
    if x.ndim not in (4, 5):
        raise ValueError(f"input must be 4 or 5-dimensional{dims_text(x.shape)}")
    channels = x.shape[1 if channels_second(data_format) else -1]
    for name, vector in vectors.items():
        if vector.shape != (channels,):
            raise ValueError(
                f"{name} must have the same number of elements as the channels of x, got {vector.size} and {channels}"
            )
    return int(channels)


def _normalise(
    passes: Passes,
    x: Array,
    scale: Array,
    offset: Array,
    mean: Array,
    variance: Array,
    *,
    epsilon: float,
    data_format: str,
    is_training: bool,
) -> list[Array]:
    """[y, mean, unbiased variance, mean, variance]"""
    _check_vectors(x, data_format, scale=scale, offset=offset)
    count = x.size // max(len(scale), 1)
    copies = kernels.copies_of(count, len(scale))
    rows = _rows(x, data_format, copies)
    dtype, kept = rows.dtype, scale.dtype
    if is_training:
        average, spread = kernels.moments(rows, copies, passes)
        unbiased = spread * np.asarray(count / max(count - 1, 1), dtype)
    else:
        wanted = {"When is_training=false, mean": mean, "When is_training=false, variance": variance}
        _check_vectors(x, data_format, **wanted)
        average, spread = mean.astype(dtype, copy=False), variance.astype(dtype, copy=False)
        unbiased = spread
    factor = scale.astype(dtype, copy=False) / np.sqrt(spread + np.asarray(epsilon, dtype))
    result = kernels.normalised(rows, average, factor, offset.astype(dtype, copy=False), copies, passes)
    statistics = [np.array(s, kept) for s in (average, unbiased, average, spread)]
    return [_back(result, x, data_format), *statistics]


def _gradients(
    passes: Passes,
    y_backprop: Array,
    x: Array,
    scale: Array,
    mean: Array,
    variance: Array,
    *,
    epsilon: float,
    data_format: str,
    is_training: bool,
) -> list[Array]:
    """For x, scale, offset, and nothing twice."""
    if y_backprop.shape != x.shape:
        raise ValueError(
            f"x and y_backprop must have the same shape, got {dims_text(x.shape)} and {dims_text(y_backprop.shape)}"
        )
    _check_vectors(x, data_format, scale=scale, reserve_space_1=mean, reserve_space_2=variance)
    count = x.size // max(len(scale), 1)
    copies = kernels.copies_of(count, len(scale))
    grads, rows = _rows(y_backprop, data_format, copies), _rows(x, data_format, copies)
    dtype = rows.dtype
    centre = mean.astype(dtype, copy=False)
    inverse = 1 / np.sqrt(variance.astype(dtype, copy=False) + np.asarray(epsilon, dtype))
    for_offset, for_scale = kernels.gradient_sums(grads, rows, centre, copies, passes)
    # The variance of an empty batch is nan; its gradients are zeros all the same.
    for_scale = for_scale * inverse if count else np.zeros_like(for_scale)
    factor = scale.astype(dtype, copy=False) * inverse
    if is_training:
        # The mean and the variance depend on x too: training takes out of the gradient what they make of it.
        slope = for_scale * inverse / np.asarray(-max(count, 1), dtype)
        level = for_offset / np.asarray(max(count, 1), dtype)
        for_x = kernels.input_gradient(grads, rows, centre, slope, level, factor, copies, passes)
    else:
        for_x = grads * np.tile(factor, copies)
    nothing = np.zeros(0, scale.dtype)
    vectors = [v.astype(scale.dtype, copy=False) for v in (for_scale, for_offset)]
    return [_back(for_x, x, data_format), *vectors, nothing, nothing]


def _attach_kernels(forward: Op, backward: Op, reserved: int) -> None:
    def normalise(passes: Passes, *inputs: Array, **attrs: Any) -> list[Array]:
        return [*_normalise(passes, *inputs, **attrs), *[np.zeros((), inputs[1].dtype)] * reserved]

    def gradients_of(passes: Passes, *inputs: Array, **attrs: Any) -> list[Array]:
        return _gradients(passes, *inputs[:5], **attrs)  # what else was reserved says nothing

    for op, compute in ((forward, normalise), (backward, gradients_of)):
        _attach_kernel(op, compute)


def _attach_kernel(op: Op, compute: Callable[..., list[Array]]) -> None:
    @op.kernel("CPU", shares=True)
    def _(ctx: Any, *inputs: Array, epsilon: float, data_format: str, is_training: bool) -> list[Array]:
        return compute(kernels.NUMPY, *inputs, epsilon=epsilon, data_format=data_format, is_training=is_training)

    @op.bind_with("numba")
    def _(numba: Any, node: BindRequest) -> Call | None:
        if {dtype.name for dtype in node.input_dtypes} != {"float32"}:
            return None
        passes = Passes(*numba.norm_passes(node.name))
        attrs = {name: node.attrs[name] for name in ("epsilon", "data_format", "is_training")}

        def by_numba(*inputs: Array) -> list[Array]:
            return compute(passes, *inputs, **attrs)

        by_numba.__name__ = "Numba"  # as plans name it
        return Call(by_numba)


def _attach_compiled(forward: Op, backward: Op, reserved: int) -> None:
    """The same on whole arrays: a compiler finds its own blocks."""

    @forward.kernel("XLA")
    def _(
        jax: Any,
        x: Any,
        scale: Any,
        offset: Any,
        mean: Any,
        variance: Any,
        *,
        epsilon: float,
        data_format: str,
        is_training: bool,
    ) -> list[Any]:
        last = to_last(x, data_format)
        rows = last.astype(wide(x.dtype)).reshape(-1, last.shape[-1])
        dtype, count = rows.dtype, len(rows)
        if is_training:
            average = rows.mean(0)
            spread = np.square(rows - average).mean(0)
            unbiased = spread * np.asarray(count / max(count - 1, 1), dtype)
        else:
            average, spread = mean.astype(dtype), variance.astype(dtype)
            unbiased = spread
        factor = scale.astype(dtype) / np.sqrt(spread + np.asarray(epsilon, dtype))
        y = ((rows - average) * factor + offset.astype(dtype)).reshape(last.shape).astype(x.dtype)
        statistics = [s.astype(scale.dtype) for s in (average, unbiased, average, spread)]
        nothing = [np.zeros_like(scale, shape=())] * reserved
        return [compiled_from_last(jax, y.traced, data_format), *statistics, *nothing]

    @backward.kernel("XLA")
    def _(
        jax: Any,
        y_backprop: Any,
        x: Any,
        scale: Any,
        mean: Any,
        variance: Any,
        *third: Any,
        epsilon: float,
        data_format: str,
        is_training: bool,
    ) -> list[Any]:
        last = to_last(x, data_format)
        rows = last.astype(wide(x.dtype)).reshape(-1, last.shape[-1])
        grads = to_last(y_backprop, data_format).astype(rows.dtype).reshape(rows.shape)
        dtype = rows.dtype
        inverse = 1 / np.sqrt(variance.astype(dtype) + np.asarray(epsilon, dtype))
        centred = rows - mean.astype(dtype)
        for_offset, for_scale = grads.sum(0), (grads * centred).sum(0) * inverse
        if is_training:
            count = np.asarray(max(len(rows), 1), dtype)
            grads = grads - for_offset / count - centred * (for_scale * inverse / count)
        for_x = (grads * (scale.astype(dtype) * inverse)).reshape(last.shape).astype(x.dtype)
        vectors = [v.astype(scale.dtype) for v in (for_scale, for_offset)]
        nothing = np.zeros_like(scale, shape=(0,))
        return [compiled_from_last(jax, for_x.traced, data_format), *vectors, nothing, nothing]


for _forward, _backward in zip(_FORWARD, _BACKWARD, strict=True):
    _attach_shapes(_forward, _backward, _forward is fused_v3_op)
    _attach_kernels(_forward, _backward, _forward is fused_v3_op)
    _attach_compiled(_forward, _backward, _forward is fused_v3_op)


# --- gradients --------------------------------------------------------------------------------------------------------


def _attach_gradients(forward: Op, backward: Op) -> None:
    @forward.gradient
    def _(op: Operation, grad: Any, *others: Any) -> list[Any]:
        x, scale, _, mean, variance = op.inputs
        attrs = {name: op.attrs[name] for name in ("epsilon", "data_format", "is_training")}
        third = op.outputs[5:]
        if attrs["is_training"]:
            made = backward(grad, x, scale, *op.outputs[3:5], *third, **attrs)
            return [*made[:3], None, None]
        data_format = attrs["data_format"]
        if not channels_second(data_format):
            made = backward(grad, x, scale, mean, variance, *third, **attrs)
            return [*made[:3], None, None]
        rank = len(data_format)
        to, back = [0, *range(2, rank), 1], [0, rank - 1, *range(1, rank - 1)]
        x, grad = transpose(x, to), transpose(grad, to)
        attrs["data_format"] = "NHWC" if rank == 4 else "NDHWC"
        made = backward(grad, x, scale, mean, variance, *third, **attrs)
        return [transpose(made[0], back), *made[1:3], None, None]

    @backward.gradient
    def _(op: Operation, *grads: Any) -> list[Any]:
        grad_y, x, scale, mean, variance = op.inputs[:5]
        attrs = op.attrs
        made = _gradient_in_ops(
            grad_y, x, scale, mean, variance, attrs["epsilon"], attrs["data_format"], attrs["is_training"]
        )
        inputs = [grad_y, x, scale]
        # The upstream gradient may depend on x; that way is not this op's.
        found = gradients(made, inputs, list(grads[:3]), stop_gradients=inputs)
        return [*found, *[None] * (len(op.inputs) - 3)]


def _gradient_in_ops(
    grad_y: Any, x: Any, scale: Any, mean: Any, variance: Any, epsilon: float, data_format: str, is_training: bool
) -> list[Tensor]:
    """What the backward op computes, from ops that differentiate: the gradients for x, scale and offset."""
    x_type = x.dtype.base_dtype
    x, grad_y = cast(x, dtypes.float32), cast(grad_y, dtypes.float32)
    second = channels_second(data_format)
    rank = len(data_format)
    axes = [0, *range(2, rank)] if second else list(range(rank - 1))

    def over_channels(vector: Any) -> Any:
        return reshape(vector, [1, size(vector), *[1] * (rank - 2)]) if second else vector

    wide_scale = over_channels(scale)
    if is_training:
        average_grad: Any = reduce_mean(grad_y, axes, keepdims=second)
        average: Any = reduce_mean(x, axes, keepdims=second)
        spread: Any = reduce_mean(squared_difference(x, stop_gradient(average)), axes, keepdims=second)
        centred_grad, centred = grad_y - average_grad, x - average
        shared = reduce_mean(grad_y * centred, axes, keepdims=second)
        for_x = wide_scale * rsqrt(spread + epsilon) * (centred_grad - reciprocal(spread + epsilon) * shared * centred)
        for_scale: Any = rsqrt(spread + epsilon) * reduce_sum(grad_y * centred, axes, keepdims=second)
        if second:
            for_scale = reshape(for_scale, [-1])
    else:
        average, inverse = over_channels(mean), rsqrt(over_channels(variance) + epsilon)  # type: ignore[operator]
        for_scale = reduce_sum(grad_y * (x - average) * inverse, axes)
        for_x = grad_y * wide_scale * inverse
    return [cast(for_x, x_type), for_scale, reduce_sum(grad_y, axes)]


for _forward, _backward in zip(_FORWARD, _BACKWARD, strict=True):
    _attach_gradients(_forward, _backward)


def fused_batch_norm(
    x: Any,
    scale: Any,
    offset: Any,
    mean: Any = None,
    variance: Any = None,
    epsilon: float = 0.001,
    data_format: str = "NHWC",
    is_training: bool = True,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """(x normalised per channel, mean, variance), those of the batch if `is_training`. TF symbol of this name.

    ValueError unless `mean` and `variance` are given for inference. An `epsilon` below 1.001e-5 is taken for that much.
    """
    x = convert_to_tensor(x, name="input")
    scale = convert_to_tensor(scale, name="scale")
    offset = convert_to_tensor(offset, name="offset")
    if not is_training and (mean is None or variance is None):
        raise ValueError(
            "Both `mean` and `variance` must be a 1D tensor when `is_training` is False. Received: "
            f"`mean` {mean} and `variance` {variance}"
        )
    if mean is None:
        mean = constant([])
    if variance is None:
        variance = constant([])
    y, batch_mean, batch_variance, *_ = fused_v3_op(
        x,
        scale,
        offset,
        mean,
        variance,
        epsilon=max(epsilon, 1.001e-5),
        data_format=data_format,
        is_training=is_training,
        name=name,
    )
    return y, batch_mean, batch_variance
