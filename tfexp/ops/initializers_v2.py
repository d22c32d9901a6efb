"""Initializers as version 2 has them: without a type of their own, and drawing without a state where they have a seed.

They are called as `init(shape, dtype=tf.float32)`; ValueError for a dtype that they make no values of. Source:
`tf.keras.initializers` of TF 2.0.
"""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.graph.constants_v2 import constant
from tfexp.graph.tensor import Tensor
from tfexp.ops import initializers, matrix_initializers
from tfexp.ops.initializers import Initializer
from tfexp.ops.random_stateless import stateless_normal, stateless_truncated_normal, stateless_uniform

__all__ = [
    "Constant",
    "GlorotNormal",
    "GlorotUniform",
    "Identity",
    "Initializer",
    "Ones",
    "Orthogonal",
    "RandomNormal",
    "RandomUniform",
    "TruncatedNormal",
    "VarianceScaling",
    "Zeros",
    "he_normal",
    "he_uniform",
    "lecun_normal",
    "lecun_uniform",
]


class _Untyped(Initializer):
    _expected = "floating point type"  # in messages

    @staticmethod
    def _makes(dtype: dtypes.DType) -> bool:
        """Whether there are values of that type."""
        return dtype.is_floating

    def __call__(self, shape: Any, dtype: Any = dtypes.float32, partition_info: Any = None) -> Tensor:
        dtype = dtypes.as_dtype(dtype)
        if not self._makes(dtype):
            raise ValueError(f"Expected {self._expected}, got {dtype}.")
        return super().__call__(shape, dtype, partition_info)

    def get_config(self) -> dict[str, Any]:
        return {key: value for key, value in super().get_config().items() if key != "dtype"}

    def _uniform(self, shape: Any, minval: Any, maxval: Any, dtype: Any) -> Tensor:
        if self.seed is None:
            return super()._uniform(shape, minval, maxval, dtype)
        return stateless_uniform(shape, [self.seed, 0], minval, maxval, dtype)

    def _normal(self, shape: Any, mean: Any, stddev: Any, dtype: Any) -> Tensor:
        if self.seed is None:
            return super()._normal(shape, mean, stddev, dtype)
        return stateless_normal(shape, [self.seed, 0], mean, stddev, dtype)

    def _truncated_normal(self, shape: Any, mean: Any, stddev: Any, dtype: Any) -> Tensor:
        if self.seed is None:
            return super()._truncated_normal(shape, mean, stddev, dtype)
        return stateless_truncated_normal(shape, [self.seed, 0], mean, stddev, dtype)


class Zeros(_Untyped, initializers.Zeros):
    """All zeros; empty strings."""

    @staticmethod
    def _makes(dtype: dtypes.DType) -> bool:
        return True

    def __init__(self) -> None:
        super().__init__()


class Ones(_Untyped, initializers.Ones):
    """All ones."""

    _expected = "numeric or boolean dtype"

    @staticmethod
    def _makes(dtype: dtypes.DType) -> bool:
        return dtype.is_numpy_compatible and dtype != dtypes.string

    def __init__(self) -> None:
        super().__init__()


class Constant(_Untyped, initializers.Constant):
    """A value, or a list of them in row-major order (TypeError unless they fill the shape); of its own dtype by default."""

    def __init__(self, value: Any = 0) -> None:
        super().__init__(value)

    # A call checks no shape otherwise.
    def __call__(  # type: ignore[override]
        self, shape: Any, dtype: Any = None, partition_info: Any = None
    ) -> Tensor:
        return constant(self.value, dtype, shape)


class RandomUniform(_Untyped, initializers.RandomUniform):
    """Numbers from [minval, maxval)."""

    _expected = "float or integer dtype"

    @staticmethod
    def _makes(dtype: dtypes.DType) -> bool:
        return dtype.is_floating or dtype.is_integer

    def __init__(self, minval: Any = -0.05, maxval: Any = 0.05, seed: int | None = None) -> None:
        super().__init__(minval, maxval, seed)


class RandomNormal(_Untyped, initializers.RandomNormal):
    """Numbers from N(mean, stddev ** 2)."""

    def __init__(self, mean: Any = 0.0, stddev: Any = 0.05, seed: int | None = None) -> None:
        super().__init__(mean, stddev, seed)


class TruncatedNormal(_Untyped, initializers.TruncatedNormal):
    """As RandomNormal, nothing beyond two standard deviations."""

    def __init__(self, mean: Any = 0.0, stddev: Any = 0.05, seed: int | None = None) -> None:
        super().__init__(mean, stddev, seed)


class VarianceScaling(_Untyped, initializers.VarianceScaling):
    """Numbers of mean zero and variance scale / n, n the number of inputs, of outputs or their mean, by `mode`."""

    def __init__(
        self, scale: float = 1.0, mode: str = "fan_in", distribution: str = "truncated_normal", seed: int | None = None
    ) -> None:
        super().__init__(scale, mode, distribution, seed)


class GlorotUniform(_Untyped, initializers.GlorotUniform):
    """Uniform, by the mean of inputs and outputs."""

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(seed)


class GlorotNormal(_Untyped, initializers.GlorotNormal):
    """As GlorotUniform, from a truncated normal."""

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(seed)


class Orthogonal(_Untyped, matrix_initializers.Orthogonal):
    """Matrices with orthogonal rows or columns, times `gain`."""

    def __init__(self, gain: float = 1.0, seed: int | None = None) -> None:
        super().__init__(gain, seed)


class Identity(_Untyped, matrix_initializers.Identity):
    """The identity matrix times `gain`."""

    def __init__(self, gain: float = 1.0) -> None:
        super().__init__(gain)


def he_normal(seed: int | None = None) -> VarianceScaling:
    """Truncated normal of variance 2 / inputs."""
    return VarianceScaling(2.0, "fan_in", "truncated_normal", seed)


def he_uniform(seed: int | None = None) -> VarianceScaling:
    """Uniform of variance 2 / inputs."""
    return VarianceScaling(2.0, "fan_in", "uniform", seed)


def lecun_normal(seed: int | None = None) -> VarianceScaling:
    """Truncated normal of variance 1 / inputs."""
    return VarianceScaling(1.0, "fan_in", "truncated_normal", seed)


def lecun_uniform(seed: int | None = None) -> VarianceScaling:
    """Uniform of variance 1 / inputs."""
    return VarianceScaling(1.0, "fan_in", "uniform", seed)
