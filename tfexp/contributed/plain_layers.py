"""`tf.contrib.layers`: layers without arg_scope, of one filter for all channels, and gradients scaled. Source: TF 1.15."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tfexp.contributed.arg_scope import add_arg_scope
from tfexp.contributed.layer_scope import collected, finished, keep, variable_getter
from tfexp.graph.collections import GraphKeys
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.custom_gradient import custom_gradient
from tfexp.graph.scopes import add_to_collections, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.keras.layers.window_args import normalized
from tfexp.layers.regularizers import xavier_initializer
from tfexp.ops.array import reshape, shape
from tfexp.ops.array_gather import gather
from tfexp.ops.array_join import concat, stack, unstack
from tfexp.ops.array_tile import tile
from tfexp.ops.array_unique import unique
from tfexp.ops.embedding import embedding_lookup
from tfexp.ops.initializers import zeros_initializer
from tfexp.ops.matmul import matmul
from tfexp.ops.nn_activation import relu
from tfexp.ops.nn_bias import bias_add
from tfexp.ops.nn_conv import depthwise_conv2d
from tfexp.ops.variable_scope import get_variable, variable_scope


@custom_gradient
def scale_gradient(inputs: Any, scale: Any) -> Any:
    """`inputs`, whose gradient is multiplied by `scale`. `tf.contrib.layers.scale_gradient`."""
    return inputs, lambda gradient: (gradient * scale, None)


def embedding_lookup_unique(params: Any, ids: Any, partition_strategy: str = "mod", name: str | None = None) -> Tensor:
    """`tf.nn.embedding_lookup` that looks each id up once, however often it comes: less to fetch from other tasks."""
    with name_scope(name, "EmbeddingLookupUnique", [params, ids]):
        given: Any = convert_to_tensor(ids)
        found = shape(given)
        flat = reshape(given, [-1])
        once, places = unique(flat)
        rows = embedding_lookup(params, once, partition_strategy)
        each: Any = gather(rows, places)
        whole = reshape(each, concat([found, shape(rows)[1:]], 0))  # type: ignore[index]
        whole.set_shape(given.get_shape().concatenate(rows.get_shape()[1:]))
        return whole


@add_arg_scope
def conv2d_in_plane(
    inputs: Any,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    activation_fn: Any = relu,
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
    """One filter over each channel of [batch, height, width, channels] by itself; `weights` [height, width, 1, 1].

    ValueError for inputs of another rank.
    """
    with variable_scope(scope, "ConvInPlane", [inputs], reuse=reuse, custom_getter=variable_getter()) as opened:
        inputs = convert_to_tensor(inputs)
        dtype, channels = inputs.dtype.base_dtype, inputs.get_shape().with_rank(4)[3].value

        def variable(name: str, shape: list[int], initializer: Any, regularizer: Any) -> Any:
            return get_variable(name, shape, dtype, initializer, regularizer, trainable)

        window, strides = normalized(kernel_size, 2, "kernel_size"), normalized(stride, 2, "stride")
        weights = variable("weights", [*window, 1, 1], weights_initializer, weights_regularizer)
        filters = tile(weights, [1, 1, channels, 1])
        outputs = depthwise_conv2d(inputs, filters, [1, *strides, 1], padding)
        keep(variables_collections, weights=weights)
        if not normalizer_fn and biases_initializer is not None:
            biases = variable("biases", [channels], biases_initializer, biases_regularizer)
            outputs = bias_add(outputs, biases)
            keep(variables_collections, biases=biases)
        outputs = finished(outputs, normalizer_fn, normalizer_params, activation_fn)
        return collected(outputs_collections, opened.name, outputs)


def legacy_fully_connected(
    x: Any,
    num_output_units: int,
    activation_fn: Callable[[Any], Any] | None = None,
    weight_init: Any = xavier_initializer(),  # noqa: B008 (it has no state)
    bias_init: Any = zeros_initializer(),  # noqa: B008
    name: str | None = None,
    weight_collections: Any = (GraphKeys.WEIGHTS,),
    bias_collections: Any = (GraphKeys.BIASES,),
    output_collections: Any = (GraphKeys.ACTIVATIONS,),
    trainable: bool = True,
    weight_regularizer: Any = None,
    bias_regularizer: Any = None,
) -> Any:
    """activation_fn(x weights + bias) over the last dimension; variables and the result are in these collections.

    ValueError where x is a scalar or a vector, and where the size of its last dimension is not known.
    """
    with variable_scope(name, "fully_connected", [x]):
        x = convert_to_tensor(x)
        dims = x.get_shape()
        if dims.ndims is None or dims.ndims < 2:
            raise ValueError(f"x must have two dimensions or more, but has the shape {dims}")
        width = dims[-1].value
        if width is None:
            raise ValueError("last dimension of x must be known but is None")
        dtype = x.dtype.base_dtype
        everywhere = [GraphKeys.GLOBAL_VARIABLES]
        weights = get_variable(
            *("weights", [width, num_output_units], dtype, weight_init, weight_regularizer, trainable),
            collections=[*(weight_collections or ()), *everywhere],
        )
        product: Any = matmul(x if dims.ndims == 2 else reshape(x, [-1, width]), weights)
        if bias_init is not None:
            bias = get_variable(
                *("bias", [num_output_units], dtype, bias_init, bias_regularizer, trainable),
                collections=[*(bias_collections or ()), *everywhere],
            )
            product = bias_add(product, bias)
        if dims.ndims > 2:
            product = reshape(product, stack([*unstack(shape(x))[:-1], num_output_units]))
            product.set_shape(dims[:-1].concatenate(num_output_units))
        result = product if activation_fn is None else activation_fn(product)
        add_to_collections(list(output_collections or ()), result)
        return result


legacy_linear = functools.partial(legacy_fully_connected, activation_fn=None)
legacy_relu = functools.partial(legacy_fully_connected, activation_fn=relu)
