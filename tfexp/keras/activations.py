"""Activation functions, by name. Source: `tf.keras.activations`, TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.graph.convert import convert_to_tensor
from tfexp.keras.backend import nn
from tfexp.keras.serialization import deserialize_keras_object
from tfexp.ops import elementwise_unary, nn_activation, nn_softmax
from tfexp.ops.reduce import reduce_max, reduce_sum


def softmax(x: Any, axis: int = -1) -> Any:
    """Positive, of sum 1 along `axis`, which of a matrix is always the last one. ValueError for a vector."""
    x = convert_to_tensor(x)
    rank = x.shape.ndims
    if rank == 2:
        return nn_softmax.softmax(x)
    if rank is not None and rank > 2:
        powers: Any = elementwise_unary.exp(x - reduce_max(x, axis=axis, keepdims=True))
        return powers / reduce_sum(powers, axis=axis, keepdims=True)
    raise ValueError("Cannot apply softmax to a tensor that is 1D")


def elu(x: Any, alpha: float = 1.0) -> Any:
    """`x` above 0, `alpha * (exp(x) - 1)` below. Source: Clevert, Unterthiner, Hochreiter (2015)."""
    return nn.elu(x, alpha)


def selu(x: Any) -> Any:
    """`scale * elu(x, alpha)` with the constants that keep mean 0 and variance 1. Source: Klambauer et al. (2017)."""
    return nn_activation.selu_op(x)


def softplus(x: Any) -> Any:
    """`log(exp(x) + 1)`."""
    return nn.softplus(x)


def softsign(x: Any) -> Any:
    """`x / (abs(x) + 1)`."""
    return nn.softsign(x)


def relu(x: Any, alpha: float = 0.0, max_value: float | None = None, threshold: float = 0) -> Any:
    """`x` above `threshold`, at most `max_value`; below, `alpha * (x - threshold)`."""
    return nn.relu(x, alpha=alpha, max_value=max_value, threshold=threshold)


def tanh(x: Any) -> Any:
    """The hyperbolic tangent."""
    return elementwise_unary.tanh(x)


def sigmoid(x: Any) -> Any:
    """`1 / (1 + exp(-x))`."""
    return elementwise_unary.sigmoid(x)


def exponential(x: Any) -> Any:
    """`exp(x)`."""
    return elementwise_unary.exp(x)


def hard_sigmoid(x: Any) -> Any:
    """Three straight lines near the sigmoid: 0.2 x + 0.5 between 0 and 1."""
    return nn.hard_sigmoid(x)


def linear(x: Any) -> Any:
    """`x`."""
    return x


# What may be asked for by name: nothing else that this file happens to know.
_BY_NAME = {
    function.__name__: function
    for function in (softmax, elu, selu, softplus, softsign, relu, tanh, sigmoid, exponential, hard_sigmoid, linear)
}


def serialize(activation: Any) -> str:
    """The function's name."""
    name: str = activation.__name__
    return name.removesuffix("_v2")


def deserialize(name: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """The function of this name. ValueError for an unknown one."""
    return deserialize_keras_object(name, _BY_NAME, custom_objects, "activation function")


def get(identifier: Any) -> Any:
    """A function of a name or configuration; a function as it is; `linear` for None. TypeError for anything else."""
    if identifier is None:
        return linear
    if isinstance(identifier, (str, dict)):
        return deserialize(identifier)
    if callable(identifier):
        return identifier
    raise TypeError(f"Could not interpret activation function identifier: {identifier!r}")
