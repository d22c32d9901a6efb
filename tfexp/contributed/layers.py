"""`tf.contrib.layers`: dense and convolutional layers as functions. Source: TF 1.15.

Each opens a variable scope (`scope`, by default named after the layer), makes `weights` and, without a normalizer,
`biases` there as model variables, and normalises and activates what the layer gives.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tfexp.contributed.arg_scope import add_arg_scope
from tfexp.contributed.layer_scope import collected, finished, keep, variable_getter
from tfexp.graph.convert import convert_to_tensor
from tfexp.keras.layers.window_args import normalized
from tfexp.layers import conv, core, separable
from tfexp.layers.regularizers import xavier_initializer
from tfexp.ops.initializers import zeros_initializer
from tfexp.ops.nn_activation import elu as elu_
from tfexp.ops.nn_activation import relu as relu_
from tfexp.ops.nn_activation import relu6 as relu6_
from tfexp.ops.nn_bias import bias_add
from tfexp.ops.nn_conv import depthwise_conv2d
from tfexp.ops.variable_scope import get_variable, variable_scope

_FORMATS: dict[str | None, str] = {
    **dict.fromkeys((None, "NWC", "NHWC", "NDHWC"), "channels_last"),
    **dict.fromkeys(("NCW", "NCHW", "NCDHW"), "channels_first"),
}


def layout(data_format: str | None) -> str:
    """tf.layers' word for a data format; ValueError for an unknown one."""
    if data_format not in _FORMATS:
        raise ValueError(f"Invalid data_format: {data_format!r}: it can be one of {sorted(filter(None, _FORMATS))}")
    return _FORMATS[data_format]


@add_arg_scope
def fully_connected(
    inputs: Any,
    num_outputs: int,
    activation_fn: Any = relu_,
    normalizer_fn: Any = None,
    normalizer_params: Any = None,
    weights_initializer: Any = xavier_initializer(),  # noqa: B008 (it has no state)
    weights_regularizer: Any = None,
    biases_initializer: Any = zeros_initializer(),  # noqa: B008
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """activation_fn(inputs weights + biases) over the last dimension."""
    if isinstance(num_outputs, bool) or not hasattr(num_outputs, "__index__"):
        raise ValueError(f"num_outputs type should be one of an integer, got {num_outputs}.")
    with variable_scope(scope, "fully_connected", [inputs], reuse=reuse, custom_getter=variable_getter()) as opened:
        inputs = convert_to_tensor(inputs)
        layer = core.Dense(
            units=num_outputs,
            activation=None,
            use_bias=not normalizer_fn and biases_initializer is not None,
            kernel_initializer=weights_initializer,
            bias_initializer=biases_initializer,
            kernel_regularizer=weights_regularizer,
            bias_regularizer=biases_regularizer,
            trainable=trainable,
            name=opened.name,
            dtype=inputs.dtype.base_dtype,
            _scope=opened,
            _reuse=reuse,
        )
        outputs = layer.apply(inputs)
        keep(variables_collections, weights=layer.kernel, biases=layer.bias)
        outputs = finished(outputs, normalizer_fn, normalizer_params, activation_fn)
        return collected(outputs_collections, opened.name, outputs)


linear = functools.partial(fully_connected, activation_fn=None)
relu = functools.partial(fully_connected, activation_fn=relu_)
relu6 = functools.partial(fully_connected, activation_fn=relu6_)
elu = functools.partial(fully_connected, activation_fn=elu_)


@add_arg_scope
def convolution(
    inputs: Any,
    num_outputs: int,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str | None = None,
    rate: Any = 1,
    activation_fn: Any = relu_,
    normalizer_fn: Any = None,
    normalizer_params: Any = None,
    weights_initializer: Any = xavier_initializer(),  # noqa: B008 (it has no state)
    weights_regularizer: Any = None,
    biases_initializer: Any = zeros_initializer(),  # noqa: B008
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
    conv_dims: int | None = None,
) -> Any:
    """A convolution over all dimensions between batch and channels. `rate`: the dilation."""
    with variable_scope(scope, "Conv", [inputs], reuse=reuse, custom_getter=variable_getter()) as opened:
        inputs = convert_to_tensor(inputs)
        rank = inputs.get_shape().ndims
        if conv_dims is not None and conv_dims + 2 != rank:
            raise ValueError(f"Convolution expects input with rank {conv_dims + 2}, got {rank}")
        layer_class = {3: conv.Conv1D, 4: conv.Conv2D, 5: conv.Conv3D}.get(rank or 0)
        if layer_class is None:
            raise ValueError(f"Convolution not supported for input with rank {rank}")
        layer = layer_class(
            filters=num_outputs,
            kernel_size=kernel_size,
            strides=stride,
            padding=padding,
            data_format=layout(data_format),
            dilation_rate=rate,
            activation=None,
            use_bias=not normalizer_fn and biases_initializer is not None,
            kernel_initializer=weights_initializer,
            bias_initializer=biases_initializer,
            kernel_regularizer=weights_regularizer,
            bias_regularizer=biases_regularizer,
            trainable=trainable,
            name=opened.name,
            dtype=inputs.dtype.base_dtype,
            _scope=opened,
            _reuse=reuse,
        )
        outputs = layer.apply(inputs)
        keep(variables_collections, weights=layer.kernel, biases=layer.bias)
        outputs = finished(outputs, normalizer_fn, normalizer_params, activation_fn)
        return collected(outputs_collections, opened.name, outputs)


def _of_dimensions(count: int) -> Callable[..., Any]:
    def convolve(inputs: Any, num_outputs: int, kernel_size: Any, *args: Any, **kwargs: Any) -> Any:
        return convolution(inputs, num_outputs, kernel_size, *args, conv_dims=count, **kwargs)

    convolve.__name__ = convolve.__qualname__ = f"convolution{count}d"
    convolve.__doc__ = f"`convolution` over {count} dimensions. `tf.contrib.layers.conv{count}d`."
    return add_arg_scope(convolve)


conv1d = convolution1d = _of_dimensions(1)
conv2d = convolution2d = _of_dimensions(2)
conv3d = convolution3d = _of_dimensions(3)


def _transposed(layer_class: type, default_scope: str) -> Callable[..., Any]:
    def convolve(
        inputs: Any,
        num_outputs: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: str = "SAME",
        data_format: str | None = None,
        activation_fn: Any = relu_,
        normalizer_fn: Any = None,
        normalizer_params: Any = None,
        weights_initializer: Any = xavier_initializer(),  # noqa: B008 (it has no state)
        weights_regularizer: Any = None,
        biases_initializer: Any = zeros_initializer(),  # noqa: B008
        biases_regularizer: Any = None,
        reuse: Any = None,
        variables_collections: Any = None,
        outputs_collections: Any = None,
        trainable: bool = True,
        scope: Any = None,
    ) -> Any:
        with variable_scope(scope, default_scope, [inputs], reuse=reuse, custom_getter=variable_getter()) as opened:
            inputs = convert_to_tensor(inputs)
            layer = layer_class(
                filters=num_outputs,
                kernel_size=kernel_size,
                strides=stride,
                padding=padding,
                data_format=layout(data_format),
                activation=None,
                use_bias=not normalizer_fn and biases_initializer is not None,
                kernel_initializer=weights_initializer,
                bias_initializer=biases_initializer,
                kernel_regularizer=weights_regularizer,
                bias_regularizer=biases_regularizer,
                trainable=trainable,
                name=opened.name,
                dtype=inputs.dtype.base_dtype,
                _scope=opened,
                _reuse=reuse,
            )
            outputs = layer.apply(inputs)
            keep(variables_collections, weights=layer.kernel, biases=layer.bias)
            outputs = finished(outputs, normalizer_fn, normalizer_params, activation_fn)
            return collected(outputs_collections, opened.name, outputs)

    convolve.__name__ = convolve.__qualname__ = f"con{default_scope[3:]}".lower()
    convolve.__doc__ = f"The transpose of a convolution: outputs are `stride` times as large. Scope {default_scope}."
    return add_arg_scope(convolve)


conv2d_transpose = convolution2d_transpose = _transposed(conv.Conv2DTranspose, "Conv2d_transpose")
conv3d_transpose = convolution3d_transpose = _transposed(conv.Conv3DTranspose, "Conv3d_transpose")


@add_arg_scope
def separable_conv2d(
    inputs: Any,
    num_outputs: int | None,
    kernel_size: Any,
    depth_multiplier: int = 1,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str | None = None,
    rate: Any = 1,
    activation_fn: Any = relu_,
    normalizer_fn: Any = None,
    normalizer_params: Any = None,
    weights_initializer: Any = xavier_initializer(),  # noqa: B008 (it has no state)
    pointwise_initializer: Any = None,
    weights_regularizer: Any = None,
    biases_initializer: Any = zeros_initializer(),  # noqa: B008
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """`depth_multiplier` filters for each channel, then `num_outputs` mixtures of them; None: without the mixtures."""
    with variable_scope(scope, "SeparableConv2d", [inputs], reuse=reuse, custom_getter=variable_getter()) as opened:
        inputs = convert_to_tensor(inputs)
        use_bias = not normalizer_fn and biases_initializer is not None
        if num_outputs is None:
            weights = _depthwise_weights(
                inputs, kernel_size, depth_multiplier, data_format, weights_initializer, weights_regularizer, trainable
            )
            keep(variables_collections, weights=weights)
            last = layout(data_format) == "channels_last"
            steps = normalized(stride, 2, "stride")
            strides = [1, *steps, 1] if last else [1, 1, *steps]
            outputs = depthwise_conv2d(
                inputs, weights, strides, padding, list(normalized(rate, 2, "rate")), data_format="NHWC" if last else "NCHW"
            )
            if use_bias:
                biases = get_variable(
                    "biases",
                    [weights.get_shape()[2].value * depth_multiplier],
                    inputs.dtype.base_dtype,
                    biases_initializer,
                    biases_regularizer,
                    trainable,
                )
                keep(variables_collections, biases=biases)
                outputs = bias_add(outputs, biases, data_format="NHWC" if last else "NCHW")
        else:
            layer = separable.SeparableConv2D(
                filters=num_outputs,
                kernel_size=kernel_size,
                strides=stride,
                padding=padding,
                data_format=layout(data_format),
                dilation_rate=rate,
                depth_multiplier=depth_multiplier,
                activation=None,
                use_bias=use_bias,
                depthwise_initializer=weights_initializer,
                pointwise_initializer=pointwise_initializer or weights_initializer,
                bias_initializer=biases_initializer,
                depthwise_regularizer=weights_regularizer,
                pointwise_regularizer=weights_regularizer,
                bias_regularizer=biases_regularizer,
                trainable=trainable,
                name=opened.name,
                dtype=inputs.dtype.base_dtype,
                _scope=opened,
                _reuse=reuse,
            )
            outputs = layer.apply(inputs)
            keep(variables_collections, weights=layer.depthwise_kernel, biases=layer.bias)
            keep(variables_collections, weights=layer.pointwise_kernel)
        outputs = finished(outputs, normalizer_fn, normalizer_params, activation_fn)
        return collected(outputs_collections, opened.name, outputs)


separable_convolution2d = separable_conv2d


def _depthwise_weights(
    inputs: Any,
    kernel_size: Any,
    depth_multiplier: int,
    data_format: Any,
    initializer: Any,
    regularizer: Any,
    trainable: bool,
) -> Any:
    channels = inputs.get_shape()[-1 if layout(data_format) == "channels_last" else 1].value
    shape = [*normalized(kernel_size, 2, "kernel_size"), channels, depth_multiplier]
    return get_variable("depthwise_weights", shape, inputs.dtype.base_dtype, initializer, regularizer, trainable)
