"""`tf.contrib.layers`: layers without weights of their own, and layers made of layers. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.contributed.arg_scope import add_arg_scope
from tfexp.contributed.layer_scope import collected, finished, get_variable_collections, variable_getter
from tfexp.contributed.layers import layout
from tfexp.contributed.variables import model_variable
from tfexp.core import dtypes
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.layers import core, pooling
from tfexp.ops.array import reshape
from tfexp.ops.array import shape as shape_of
from tfexp.ops.array_fill import one_hot
from tfexp.ops.cast import cast
from tfexp.ops.embedding import embedding_lookup
from tfexp.ops.initializers import zeros_initializer
from tfexp.ops.nn_bias import bias_add as bias_add_
from tfexp.ops.nn_softmax import softmax as softmax_
from tfexp.ops.variable_scope import variable_scope


@add_arg_scope
def flatten(inputs: Any, outputs_collections: Any = None, scope: str | None = None) -> Any:
    """[batch, …] as [batch, product of the rest]."""
    with name_scope(scope, "Flatten", [inputs]) as opened:
        return collected(outputs_collections, opened, core.flatten(convert_to_tensor(inputs)))


@add_arg_scope
def dropout(
    inputs: Any,
    keep_prob: Any = 0.5,
    noise_shape: Any = None,
    is_training: Any = True,
    outputs_collections: Any = None,
    scope: Any = None,
    seed: int | None = None,
) -> Any:
    """In training, elements are zero with probability 1 - keep_prob and the others scaled up."""
    with variable_scope(scope, "Dropout", [inputs]) as opened:
        inputs = convert_to_tensor(inputs)
        layer = core.Dropout(rate=1 - keep_prob, noise_shape=noise_shape, seed=seed, name=opened.name, _scope=opened)
        return collected(outputs_collections, opened.name, layer.apply(inputs, training=is_training))


def _pool(layer_class: type, default_scope: str) -> Callable[..., Any]:
    def pool(
        inputs: Any,
        kernel_size: Any,
        stride: Any = 2,
        padding: str = "VALID",
        data_format: str = "NHWC",
        outputs_collections: Any = None,
        scope: str | None = None,
    ) -> Any:
        with name_scope(scope, default_scope, [inputs]) as opened:
            layer = layer_class(
                pool_size=kernel_size, strides=stride, padding=padding, data_format=layout(data_format), _scope=opened
            )
            return collected(outputs_collections, opened, layer.apply(convert_to_tensor(inputs)))

    pool.__name__ = pool.__qualname__ = default_scope.lower().replace("pool", "_pool")
    pool.__doc__ = f"What `tf.layers.{layer_class.__name__}` does, below the name scope {default_scope}."
    return add_arg_scope(pool)


max_pool2d = _pool(pooling.MaxPooling2D, "MaxPool2D")
avg_pool2d = _pool(pooling.AveragePooling2D, "AvgPool2D")
max_pool3d = _pool(pooling.MaxPooling3D, "MaxPool3D")
avg_pool3d = _pool(pooling.AveragePooling3D, "AvgPool3D")


@add_arg_scope
def one_hot_encoding(
    labels: Any,
    num_classes: int,
    on_value: float = 1.0,
    off_value: float = 0.0,
    outputs_collections: Any = None,
    scope: str | None = None,
) -> Any:
    """A row for each label, `on_value` at its class."""
    with name_scope(scope, "OneHotEncoding", [labels, num_classes]) as opened:
        labels = convert_to_tensor(labels)
        if labels.dtype == dtypes.int32:
            labels = cast(labels, dtypes.int64)
        outputs = one_hot(labels, num_classes, on_value=on_value, off_value=off_value)
        return collected(outputs_collections, opened, outputs)


@add_arg_scope
def softmax(logits: Any, scope: Any = None) -> Any:
    """Over the last dimension, of any rank."""
    with variable_scope(scope, "softmax", [logits]):
        logits = convert_to_tensor(logits)
        count = logits.get_shape()[-1].value
        outputs = reshape(softmax_(reshape(logits, [-1, -1 if count is None else count])), shape_of(logits))
        outputs.set_shape(logits.get_shape())
        return outputs


@add_arg_scope
def bias_add(
    inputs: Any,
    activation_fn: Any = None,
    initializer: Any = zeros_initializer(),  # noqa: B008 (it has no state)
    regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    data_format: str = "NHWC",
    scope: Any = None,
) -> Any:
    """inputs + `biases`, a model variable along the channels."""
    with variable_scope(scope, "BiasAdd", [inputs], reuse=reuse) as opened:
        inputs = convert_to_tensor(inputs)
        size = inputs.get_shape()[-1 if layout(data_format) == "channels_last" else 1].value
        if size is None:
            raise ValueError("`C` dimension must be known but is None")
        biases = model_variable(
            "biases",
            shape=[size],
            dtype=inputs.dtype.base_dtype,
            initializer=initializer,
            regularizer=regularizer,
            collections=get_variable_collections(variables_collections, "biases"),
            trainable=trainable,
        )
        outputs = finished(bias_add_(inputs, biases, data_format=data_format), None, None, activation_fn)
        return collected(outputs_collections, opened.name, outputs)


def embed_sequence(
    ids: Any,
    vocab_size: int | None = None,
    embed_dim: int | None = None,
    unique: bool = False,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    scope: Any = None,
    reuse: Any = None,
) -> Any:
    """[…, embed_dim]: for each id its row of `embeddings`. Without sizes, `reuse` finds the matrix that is there."""
    if not (reuse or (vocab_size and embed_dim)):
        raise ValueError(f"Must specify vocab size and embedding dimension when not reusing. Got {vocab_size}, {embed_dim}")
    with variable_scope(scope, "EmbedSequence", [ids], reuse=reuse, custom_getter=variable_getter()):
        embeddings = model_variable(
            "embeddings",
            shape=[vocab_size, embed_dim] if vocab_size and embed_dim else None,
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
        )
        return embedding_lookup(embeddings, convert_to_tensor(ids))


# --- layers of layers ---------------------------------------------------------------------------------------------------


def repeat(inputs: Any, repetitions: int, layer: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`layer` applied that many times in a row, each below a scope of its own: `conv/conv_1`, `conv/conv_2` …"""
    scope = kwargs.pop("scope", None)
    with variable_scope(scope, "Repeat", [inputs]):
        inputs = convert_to_tensor(inputs)
        if scope is None:
            name = getattr(layer, "__name__", None) or getattr(getattr(layer, "func", None), "__name__", "repeat")
            scope = name
        for i in range(repetitions):
            kwargs["scope"] = f"{scope}_{i + 1}"
            inputs = layer(inputs, *args, **kwargs)
        return inputs


def stack(inputs: Any, layer: Callable[..., Any], stack_args: Any, **kwargs: Any) -> Any:
    """`layer` applied once for each of `stack_args`, its arguments (one, or a tuple), each below a scope of its own."""
    scope = kwargs.pop("scope", None)
    if not isinstance(stack_args, (list, tuple)):
        raise ValueError("stack_args need to be a list or tuple")
    with variable_scope(scope, "Stack", [inputs]):
        inputs = convert_to_tensor(inputs)
        if scope is None:
            scope = getattr(layer, "__name__", "stack")
        for i, given in enumerate(stack_args):
            arguments = given if isinstance(given, (list, tuple)) else [given]
            inputs = layer(inputs, *arguments, **{**kwargs, "scope": f"{scope}_{i + 1}"})
        return inputs
