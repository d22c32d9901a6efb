"""Fake quantisation: floats rounded to the values that 2 to 16 bits can tell apart between two limits.

The limits are moved ("nudged") so that 0 is one of the values. Gradients pass straight through between the limits, and go
to the limit outside of them. After Jacob et al., "Quantization and Training of Neural Networks for Efficient
Integer-Arithmetic-Only Inference" (2017).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.errors import InvalidArgumentError
from tfexp.core.merged_shape import merged
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.ops.shape_rules import merged_dims, shape_preserving, with_rank, with_rank_at_least

_LIMITS = "{min: float = -6.0; max: float = 6.0; num_bits: int = 8; narrow_range: bool = false}"
_BITS = "{num_bits: int = 8; narrow_range: bool = false}"

args_op = define_op(f"FakeQuantWithMinMaxArgs(inputs: float) -> (outputs: float) {_LIMITS}")
args_gradient_op = define_op(
    f"FakeQuantWithMinMaxArgsGradient(gradients: float, inputs: float) -> (backprops: float) {_LIMITS}"
)
vars_op = define_op(f"FakeQuantWithMinMaxVars(inputs: float, min: float, max: float) -> (outputs: float) {_BITS}")
vars_gradient_op = define_op(
    "FakeQuantWithMinMaxVarsGradient(gradients: float, inputs: float, min: float, max: float) -> (backprops_wrt_input: "
    f"float, backprop_wrt_min: float, backprop_wrt_max: float) {_BITS}"
)
per_channel_op = define_op(
    f"FakeQuantWithMinMaxVarsPerChannel(inputs: float, min: float, max: float) -> (outputs: float) {_BITS}"
)
per_channel_gradient_op = define_op(
    "FakeQuantWithMinMaxVarsPerChannelGradient(gradients: float, inputs: float, min: float, max: float) -> "
    f"(backprops_wrt_input: float, backprop_wrt_min: float, backprop_wrt_max: float) {_BITS}"
)


def _nudged(low: Any, high: Any, num_bits: int, narrow_range: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(lowest value, highest value, step, whether there is nothing but 0), in float32.

    With `narrow_range` the first level is 1 instead of 0. Equal limits other than 0 leave no step, and so no numbers.
    """
    if not 2 <= num_bits <= 16:
        raise InvalidArgumentError(None, None, f"num_bits must be between 2 and 16, inclusive: {num_bits}")
    first, last = np.float32(1 if narrow_range else 0), np.float32((1 << num_bits) - 1)
    low, high = np.asarray(low, np.float32), np.asarray(high, np.float32)
    step = (high - low) / (last - first)
    with np.errstate(all="ignore"):
        zero = np.clip(np.floor(first - low / step + np.float32(0.5)), first, last)
    return (first - zero) * step, (last - zero) * step, step, (low == 0) & (high == 0)


def _quantised(
    x: np.ndarray, limits: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray], by_inverse: bool = False
) -> np.ndarray:
    """`by_inverse`: steps are counted by a product, which where a value lies between two levels may decide for another."""
    low, high, step, is_nothing = limits
    with np.errstate(all="ignore"):
        inside = np.maximum(np.minimum(x, high), low)  # where the limits are the wrong way round, the lowest value
        steps = (inside - low) * (np.float32(1) / step) if by_inverse else (inside - low) / step
        rounded = np.floor(steps + np.float32(0.5)) * step + low
    return np.asarray(np.where(is_nothing, 0, rounded), np.float32)


def _backwards(gradients: np.ndarray, x: np.ndarray, limits: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    """What goes to the input, to the lower and to the upper limit; where both limits are 0, all to the input."""
    if gradients.shape != x.shape:
        raise InvalidArgumentError(None, None, "gradient and input must be the same size")
    low, high, _, is_nothing = limits
    below, above = (x < low) & ~is_nothing, (x > high) & ~is_nothing
    within = ((x >= low) & (x <= high)) | is_nothing  # which NaN is not
    zero = np.float32(0)
    return (
        np.where(within, gradients, zero),
        np.where(below, gradients, zero),
        np.where(above, gradients, zero),
    )


@args_op.kernel("CPU")
def _(ctx: Any, inputs: np.ndarray, *, min: float, max: float, num_bits: int, narrow_range: bool) -> np.ndarray:
    return _quantised(inputs, _checked(min, max, num_bits, narrow_range), by_inverse=True)


def _checked(
    low: float, high: float, num_bits: int, narrow_range: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    if not low < high:
        raise InvalidArgumentError(None, None, f"min has to be smaller than max, was: {low:g} >= {high:g}")
    return _nudged(low, high, num_bits, narrow_range)


@args_gradient_op.kernel("CPU")
def _(
    ctx: Any, gradients: np.ndarray, inputs: np.ndarray, *, min: float, max: float, num_bits: int, narrow_range: bool
) -> np.ndarray:
    return _backwards(gradients, inputs, _checked(min, max, num_bits, narrow_range))[0]


shape_preserving(args_op)
args_gradient_op.shape(lambda gradients, inputs: merged(gradients, inputs))


@args_op.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    attrs = {key: op.get_attr(key) for key in ("min", "max", "num_bits", "narrow_range")}
    return args_gradient_op(grad, op.inputs[0], **attrs)


@vars_op.shape
def _(inputs: InputShape, low: InputShape, high: InputShape) -> TensorShape:
    with_rank(low, 0)
    with_rank(high, 0)
    return inputs


@per_channel_op.shape
def _(inputs: InputShape, low: InputShape, high: InputShape) -> TensorShape:
    _channels(inputs, low, high)
    return inputs


def _channels(inputs: TensorShape, low: TensorShape, high: TensorShape) -> TensorShape:
    dims = with_rank_at_least(inputs, 1).known_dims
    sizes = [with_rank(s, 1).known_dims for s in (low, high)]
    channels = None if dims is None else dims[-1]
    for size in sizes:
        channels = merged_dims(channels, None if size is None else size[0])
    return TensorShape([channels])


@vars_gradient_op.shape
def _(gradients: InputShape, inputs: InputShape, low: InputShape, high: InputShape) -> list[TensorShape]:
    with_rank(low, 0)
    with_rank(high, 0)
    return [merged(gradients, inputs), TensorShape([]), TensorShape([])]


@per_channel_gradient_op.shape
def _(gradients: InputShape, inputs: InputShape, low: InputShape, high: InputShape) -> list[TensorShape]:
    whole = merged(gradients, inputs)
    channels = _channels(whole, low, high)
    return [whole, channels, channels]


def _quantise(ctx: Any, inputs: np.ndarray, min: Any, max: Any, *, num_bits: int, narrow_range: bool) -> np.ndarray:
    return _quantised(inputs, _nudged(min, max, num_bits, narrow_range))


vars_op.kernel("CPU")(_quantise)


@per_channel_op.kernel("CPU")
def _(ctx: Any, inputs: np.ndarray, min: np.ndarray, max: np.ndarray, **settings: Any) -> np.ndarray:
    _check_channels(inputs, min, max)
    return _quantise(ctx, inputs, min, max, **settings)


def _check_channels(inputs: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
    for name, limit in (("min", low), ("max", high)):
        if limit.shape != inputs.shape[-1:]:
            raise InvalidArgumentError(
                None, None, f"{name} has incorrect size, expected {inputs.shape[-1:]} was {limit.shape}"
            )


@vars_gradient_op.kernel("CPU")
def _(
    ctx: Any, gradients: np.ndarray, inputs: np.ndarray, min: Any, max: Any, *, num_bits: int, narrow_range: bool
) -> list[np.ndarray]:
    inside, below, above = _backwards(gradients, inputs, _nudged(min, max, num_bits, narrow_range))
    return [inside, np.asarray(below.sum(dtype=np.float32)), np.asarray(above.sum(dtype=np.float32))]


@per_channel_gradient_op.kernel("CPU")
def _(
    ctx: Any, gradients: np.ndarray, inputs: np.ndarray, min: Any, max: Any, *, num_bits: int, narrow_range: bool
) -> list[np.ndarray]:
    _check_channels(inputs, min, max)
    inside, below, above = _backwards(gradients, inputs, _nudged(min, max, num_bits, narrow_range))
    outer = tuple(range(inputs.ndim - 1))
    return [inside, below.sum(outer, dtype=np.float32), above.sum(outer, dtype=np.float32)]


@vars_op.gradient
def _(op: Operation, grad: Tensor) -> Any:
    return vars_gradient_op(grad, *op.inputs, num_bits=op.get_attr("num_bits"), narrow_range=op.get_attr("narrow_range"))


@per_channel_op.gradient
def _(op: Operation, grad: Tensor) -> Any:
    return per_channel_gradient_op(
        grad, *op.inputs, num_bits=op.get_attr("num_bits"), narrow_range=op.get_attr("narrow_range")
    )


def fake_quant_with_min_max_args(
    inputs: Any, min: float = -6, max: float = 6, num_bits: int = 8, narrow_range: bool = False, name: str | None = None
) -> Tensor:
    """`inputs` rounded to the levels between two fixed limits. `tf.quantization.fake_quant_with_min_max_args`."""
    return args_op(inputs, min=min, max=max, num_bits=num_bits, narrow_range=narrow_range, name=name)


def fake_quant_with_min_max_args_gradient(
    gradients: Any,
    inputs: Any,
    min: float = -6,
    max: float = 6,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """The gradient of `fake_quant_with_min_max_args`."""
    return args_gradient_op(gradients, inputs, min=min, max=max, num_bits=num_bits, narrow_range=narrow_range, name=name)


def fake_quant_with_min_max_vars(
    inputs: Any, min: Any, max: Any, num_bits: int = 8, narrow_range: bool = False, name: str | None = None
) -> Tensor:
    """`inputs` rounded to the levels between two scalars. `tf.quantization.fake_quant_with_min_max_vars`."""
    return vars_op(inputs, min, max, num_bits=num_bits, narrow_range=narrow_range, name=name)


def fake_quant_with_min_max_vars_gradient(
    gradients: Any, inputs: Any, min: Any, max: Any, num_bits: int = 8, narrow_range: bool = False, name: str | None = None
) -> Any:
    """The gradients of `fake_quant_with_min_max_vars` with respect to inputs, min, max."""
    return vars_gradient_op(gradients, inputs, min, max, num_bits=num_bits, narrow_range=narrow_range, name=name)


def fake_quant_with_min_max_vars_per_channel(
    inputs: Any, min: Any, max: Any, num_bits: int = 8, narrow_range: bool = False, name: str | None = None
) -> Tensor:
    """As `fake_quant_with_min_max_vars`, with limits for each index of the last dimension."""
    return per_channel_op(inputs, min, max, num_bits=num_bits, narrow_range=narrow_range, name=name)


def fake_quant_with_min_max_vars_per_channel_gradient(
    gradients: Any, inputs: Any, min: Any, max: Any, num_bits: int = 8, narrow_range: bool = False, name: str | None = None
) -> Any:
    """The gradients of `fake_quant_with_min_max_vars_per_channel` with respect to inputs, min, max."""
    return per_channel_gradient_op(gradients, inputs, min, max, num_bits=num_bits, narrow_range=narrow_range, name=name)
