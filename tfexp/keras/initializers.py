"""Initial values of weights, by name and configuration. Source: `tf.keras.initializers`, TF 1.15.

The classes are those of `tf.initializers`; where Keras has other defaults, they are subclasses that have these.
"""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.keras.serialization import deserialize_keras_object, serialize_keras_object
from tfexp.ops import initializers as ops_initializers
from tfexp.ops.initializers import (
    Constant,
    GlorotNormal,
    GlorotUniform,
    Initializer,
    Ones,
    VarianceScaling,
    Zeros,
    he_normal,
    he_uniform,
    lecun_normal,
    lecun_uniform,
)
from tfexp.ops.matrix_initializers import Identity, Orthogonal


class RandomUniform(ops_initializers.RandomUniform):
    """Numbers from [minval, maxval), small ones by default."""

    def __init__(
        self, minval: Any = -0.05, maxval: Any = 0.05, seed: int | None = None, dtype: Any = dtypes.float32
    ) -> None:
        super().__init__(minval, maxval, seed, dtype)


class RandomNormal(ops_initializers.RandomNormal):
    """Numbers from N(mean, stddev ** 2), small ones by default."""

    def __init__(self, mean: Any = 0.0, stddev: Any = 0.05, seed: int | None = None, dtype: Any = dtypes.float32) -> None:
        super().__init__(mean, stddev, seed, dtype)


class TruncatedNormal(ops_initializers.TruncatedNormal):
    """As RandomNormal, nothing beyond two standard deviations."""

    def __init__(self, mean: Any = 0.0, stddev: Any = 0.05, seed: int | None = None, dtype: Any = dtypes.float32) -> None:
        super().__init__(mean, stddev, seed, dtype)


zero = zeros = Zeros
one = ones = Ones
constant = Constant
uniform = random_uniform = RandomUniform
normal = random_normal = RandomNormal
truncated_normal = TruncatedNormal
variance_scaling = VarianceScaling
identity = Identity
orthogonal = Orthogonal
glorot_normal = GlorotNormal
glorot_uniform = GlorotUniform

_FUNCTIONS = {function.__name__: function for function in (he_normal, he_uniform, lecun_normal, lecun_uniform)}


def serialize(initializer: Any) -> Any:
    """The class's name and configuration."""
    return serialize_keras_object(initializer)


def deserialize(config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """What a name or configuration describes. ValueError for unknown ones."""
    return deserialize_keras_object(config, globals(), custom_objects, "initializer")


def get(identifier: Any) -> Any:
    """An initializer: of a name, a configuration or a class; a function or initializer as it is; None of None.

    ValueError for anything else.
    """
    if identifier is None:
        return None
    if isinstance(identifier, dict):
        return deserialize(identifier)
    if isinstance(identifier, str):
        found = deserialize(identifier)
        return found() if found in _FUNCTIONS.values() else found
    if callable(identifier):
        return identifier() if isinstance(identifier, type) else identifier
    raise ValueError(f"Could not interpret initializer identifier: {identifier}")


__all__ = ["Initializer", "deserialize", "get", "serialize"]
