"""What weights are projected onto after each training step. Source: `tf.keras.constraints`, TF 1.15."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.shape import TensorShape
from tfexp.keras.backend.config import epsilon
from tfexp.keras.serialization import deserialize_keras_object, serialize_keras_object
from tfexp.ops.array import reshape
from tfexp.ops.array_gather import gather
from tfexp.ops.cast import cast
from tfexp.ops.clip import clip_by_value
from tfexp.ops.comparison import greater_equal
from tfexp.ops.elementwise_unary import sqrt, square
from tfexp.ops.initializers import known_dims
from tfexp.ops.reduce import reduce_sum


class Constraint:
    """A function from a weight to the weight that takes its place: the same one here."""

    def __call__(self, w: Any) -> Any:
        return w

    def get_config(self) -> dict[str, Any]:
        """The arguments of an equal one."""
        return {}


def _norms(w: Any, axis: Any) -> Any:
    """The Euclidean norms along `axis`, which stays with size 1."""
    return sqrt(reduce_sum(square(w), axis=axis, keepdims=True))


class MaxNorm(Constraint):
    """Norms along `axis` are at most `max_value`. Source: Srivastava, Hinton et al., "Dropout" (2014)."""

    def __init__(self, max_value: float = 2, axis: Any = 0):
        self.max_value, self.axis = max_value, axis

    def __call__(self, w: Any) -> Any:
        norms = _norms(w, self.axis)
        return w * (clip_by_value(norms, 0.0, float(self.max_value)) / (epsilon() + norms))

    def get_config(self) -> dict[str, Any]:
        return {"max_value": self.max_value, "axis": self.axis}


class NonNeg(Constraint):
    """Negative elements become zero."""

    def __call__(self, w: Any) -> Any:
        return w * cast(greater_equal(w, 0.0), w.dtype.base_dtype)


class UnitNorm(Constraint):
    """Norms along `axis` are 1."""

    def __init__(self, axis: Any = 0):
        self.axis = axis

    def __call__(self, w: Any) -> Any:
        return w / (epsilon() + _norms(w, self.axis))

    def get_config(self) -> dict[str, Any]:
        return {"axis": self.axis}


class MinMaxNorm(Constraint):
    """Norms along `axis` go to [min_value, max_value]; with a `rate` below 1, only that part of the way."""

    def __init__(self, min_value: float = 0.0, max_value: float = 1.0, rate: float = 1.0, axis: Any = 0):
        self.min_value, self.max_value, self.rate, self.axis = min_value, max_value, rate, axis

    def __call__(self, w: Any) -> Any:
        norms = _norms(w, self.axis)
        clipped = clip_by_value(norms, float(self.min_value), float(self.max_value))
        return w * ((self.rate * clipped + (1 - self.rate) * norms) / (epsilon() + norms))

    def get_config(self) -> dict[str, Any]:
        return {"min_value": self.min_value, "max_value": self.max_value, "rate": self.rate, "axis": self.axis}


class RadialConstraint(Constraint):
    """Square kernels [size, size, channels, filters] become constant on each square ring around the middle.

    A ring takes the value of one element on the diagonal, the one that TensorFlow takes. ValueError for another rank.
    """

    def __call__(self, w: Any) -> Any:
        dims = TensorShape(w.shape)
        if dims.ndims != 4:
            raise ValueError(f"The weight tensor must be of rank 4, but is of shape: {dims}")
        size, _, channels, filters = known_dims(dims)
        rows = gather(reshape(w, [size * size, channels, filters]), _ring_sources(size).ravel())
        return reshape(rows, [size, size, channels, filters])


def _ring_sources(size: int) -> np.ndarray:
    """[size, size]: the flat index of the element that each place of a kernel takes its value from."""
    middle = size // 2
    distance = np.abs(2 * np.arange(size) - (size - 1))
    ring = np.maximum(distance[:, None], distance[None, :]) // 2  # 0 in the middle
    # Counted from one before the middle. Of an even size the middle is four elements: the second of them stands for no ring.
    on_diagonal = middle - 1 + ring if size % 2 else middle - 1 + ring + (ring > 0)
    return np.maximum(on_diagonal, 0) * (size + 1)


max_norm = maxnorm = MaxNorm
non_neg = nonneg = NonNeg
unit_norm = unitnorm = UnitNorm
min_max_norm = MinMaxNorm
radial_constraint = RadialConstraint


def serialize(constraint: Any) -> Any:
    """The class's name and configuration."""
    return serialize_keras_object(constraint)


def deserialize(config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """What a name or configuration describes. ValueError for unknown ones."""
    return deserialize_keras_object(config, globals(), custom_objects, "constraint")


def get(identifier: Any) -> Any:
    """A constraint of a name or configuration; a function as it is; None of None. ValueError for anything else."""
    if identifier is None:
        return None
    if isinstance(identifier, (dict, str)):
        return deserialize(identifier)
    if callable(identifier):
        return identifier
    raise ValueError(f"Could not interpret constraint identifier: {identifier}")
