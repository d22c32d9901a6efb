"""`tf.contrib.layers`: layer, instance and group normalization, and scaling to length one. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.contributed.arg_scope import add_arg_scope
from tfexp.contributed.layer_scope import collected, get_variable_collections
from tfexp.contributed.layers import layout
from tfexp.contributed.variables import model_variable
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import reshape
from tfexp.ops.elementwise_unary import rsqrt, sqrt, square
from tfexp.ops.initializers import ones_initializer, zeros_initializer
from tfexp.ops.nn_norm import batch_normalization, moments
from tfexp.ops.nn_statistics import normalize_moments, sufficient_statistics
from tfexp.ops.reduce import reduce_sum
from tfexp.ops.variable_scope import variable_scope


def _parameter(name: str, shape: Any, dtype: Any, initializer: Any, collections: Any, trainable: bool) -> Any:
    own = get_variable_collections(collections, name)
    return model_variable(name, shape=shape, dtype=dtype, initializer=initializer, collections=own, trainable=trainable)


@add_arg_scope
def layer_norm(
    inputs: Any,
    center: bool = True,
    scale: bool = True,
    activation_fn: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    begin_norm_axis: int = 1,
    begin_params_axis: int = -1,
    scope: Any = None,
) -> Any:
    """Each example normalised over the axes from `begin_norm_axis`, with parameters for those from `begin_params_axis`."""
    with variable_scope(scope, "LayerNorm", [inputs], reuse=reuse) as opened:
        inputs = convert_to_tensor(inputs)
        shape = inputs.get_shape()
        if shape.ndims is None:
            raise ValueError(f"Inputs {inputs.name} has undefined rank.")
        rank, dtype = shape.ndims, inputs.dtype.base_dtype
        begin = begin_norm_axis + rank if begin_norm_axis < 0 else begin_norm_axis
        if begin >= rank or begin_params_axis >= rank:
            raise ValueError(
                f"begin_params_axis ({begin_params_axis}) and begin_norm_axis ({begin_norm_axis}) must be < rank(inputs) "
                f"({rank})"
            )
        params_shape = shape[begin_params_axis:]
        if not params_shape.is_fully_defined():
            raise ValueError(f"Inputs {inputs.name}: shape(inputs)[{begin_params_axis}:] is not fully defined: {shape}")
        beta = gamma = None
        if center:
            beta = _parameter("beta", params_shape, dtype, zeros_initializer(), variables_collections, trainable)
        if scale:
            gamma = _parameter("gamma", params_shape, dtype, ones_initializer(), variables_collections, trainable)
        mean, variance = moments(inputs, list(range(begin, rank)), keep_dims=True)
        outputs = batch_normalization(inputs, mean, variance, offset=beta, scale=gamma, variance_epsilon=1e-12)
        outputs.set_shape(shape)
        if activation_fn is not None:
            outputs = activation_fn(outputs)
        return collected(outputs_collections, opened.name, outputs)


@add_arg_scope
def instance_norm(
    inputs: Any,
    center: bool = True,
    scale: bool = True,
    epsilon: float = 1e-6,
    activation_fn: Any = None,
    param_initializers: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    data_format: str = "NHWC",
    scope: Any = None,
) -> Any:
    """Each channel of each example normalised by itself (arXiv 1607.08022)."""
    initializers = dict(param_initializers or {})
    with variable_scope(scope, "InstanceNorm", [inputs], reuse=reuse) as opened:
        inputs = convert_to_tensor(inputs)
        shape = inputs.get_shape()
        if shape.ndims is None:
            raise ValueError(f"Inputs {inputs.name} has undefined rank.")
        channels = shape.ndims - 1 if layout(data_format) == "channels_last" else 1
        size = shape[channels].value
        if size is None:
            raise ValueError(f"Inputs {inputs.name} has undefined channels dimension {shape}.")
        dtype = inputs.dtype.base_dtype
        spread = [size if axis == channels else 1 for axis in range(shape.ndims)]

        def parameter(name: str, is_wanted: bool, default: Any) -> Any:
            if not is_wanted:
                return None
            made = _parameter(name, [size], dtype, initializers.get(name, default), variables_collections, trainable)
            return made if channels == len(spread) - 1 else reshape(made, spread)

        beta, gamma = parameter("beta", center, zeros_initializer()), parameter("gamma", scale, ones_initializer())
        axes = [axis for axis in range(1, shape.ndims) if axis != channels]
        mean, variance = moments(inputs, axes, keep_dims=True)
        outputs = batch_normalization(inputs, mean, variance, beta, gamma, epsilon, name="instancenorm")
        outputs.set_shape(shape)
        if activation_fn is not None:
            outputs = activation_fn(outputs)
        return collected(outputs_collections, opened.name, outputs)


@add_arg_scope
def unit_norm(inputs: Any, dim: int, epsilon: float = 1e-7, scope: str | None = None) -> Any:
    """inputs scaled along `dim` to length one."""
    with name_scope(scope, "UnitNorm", [inputs]):
        inputs = convert_to_tensor(inputs)
        rank = inputs.get_shape().ndims
        if rank is None:
            raise ValueError("The input rank must be known.")
        if not 0 <= dim < rank:
            raise ValueError(f"dim must be positive but smaller than the input rank, got {dim} for rank {rank}.")
        return inputs / sqrt(reduce_sum(square(inputs), dim, keepdims=True) + epsilon)


@add_arg_scope
def group_norm(
    inputs: Any,
    groups: int = 32,
    channels_axis: int = -1,
    reduction_axes: Any = (-3, -2),
    center: bool = True,
    scale: bool = True,
    epsilon: float = 1e-6,
    activation_fn: Any = None,
    param_initializers: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
    mean_close_to_zero: bool = False,
) -> Any:
    """Each group of channels of each example normalised over itself and `reduction_axes` (arXiv 1803.08494).

    Only the size of the batch may be unknown. ValueError for axes that overlap, and groups that do not divide the channels.
    mean_close_to_zero: the variance is the mean square less the squared mean, which is accurate where that is small.
    """
    inputs = convert_to_tensor(inputs)
    at, over, channels = _grouped_axes(inputs, groups, channels_axis, reduction_axes)
    shape = inputs.get_shape()
    whole = [-1 if size is None else size for size in shape.as_list()]
    group = [groups, channels // groups]
    spread = [1] * at + group + [1] * (shape.ndims - at - 1)
    initializers = dict(param_initializers or {})
    inputs = reshape(inputs, whole[:at] + group + whole[at + 1 :])
    with variable_scope(scope, "GroupNorm", [inputs], reuse=reuse) as opened:

        def parameter(name: str, default: Any) -> Any:
            initializer = initializers.get(name, default)
            made = _parameter(name, [channels], inputs.dtype.base_dtype, initializer, variables_collections, trainable)
            return reshape(made, spread)

        beta = parameter("beta", zeros_initializer()) if center else None
        gamma = parameter("gamma", ones_initializer()) if scale else None
        axes = sorted([axis + 1 if axis > at else axis for axis in over] + [at + 1])
        if mean_close_to_zero:
            count, total, squares, _ = sufficient_statistics(inputs, axes, keep_dims=True)
            mean, variance = normalize_moments(count, total, squares, shift=None)
        else:
            mean, variance = moments(inputs, axes, keep_dims=True)
        gain: Any = rsqrt(variance + epsilon)
        offset: Any = -mean * gain
        if gamma is not None:
            gain, offset = gain * gamma, offset * gamma
        if beta is not None:
            offset = offset + beta
        outputs = reshape(inputs * gain + offset, whole)
        if activation_fn is not None:
            outputs = activation_fn(outputs)
        return collected(outputs_collections, opened.name, outputs)


def _grouped_axes(inputs: Tensor, groups: int, channels_axis: int, reduction_axes: Any) -> tuple[int, list[int], int]:
    """The axis of the channels, those to reduce, and how many channels there are. ValueError for what cannot be."""
    shape = inputs.get_shape()
    if shape.ndims is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    at = channels_axis % shape.ndims
    over = [axis % shape.ndims for axis in reduction_axes]
    channels = shape[at].value
    if at in over:
        raise ValueError(f"reduction_axes {reduction_axes} and channels_axis {channels_axis} must be mutually exclusive.")
    if channels is None:
        raise ValueError(f"Inputs {inputs.name} has undefined channels dimension: {shape}.")
    if groups > channels or channels % groups:
        raise ValueError(f"Invalid groups {groups} for {channels} channels: it must divide them.")
    unknown = [axis for axis in over if shape[axis].value is None]
    if unknown:
        raise ValueError(f"Inputs {inputs.name} has undefined dimensions {unknown[0]}.")
    return at, over, channels
