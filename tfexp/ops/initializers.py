"""Initial values of variables, as functions of a shape. Source: `tf.initializers`, `tf.*_initializer`.

An initializer is called as `init(shape, dtype=None, partition_info=None)` and adds to the default graph the nodes that
make one value; called under a variable's scope it gives `w/Initializer/...`. A `partition_info` (with `full_shape` and
`var_offset`) says that the shape is one part of a larger variable: variances then follow the whole variable.
The initializers that make matrices are in `matrix_initializers`.
"""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.shape import TensorShape
from tfexp.graph.convert import constant
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_fill import ones, zeros
from tfexp.ops.random import random_normal, random_uniform, truncated_normal

# The standard deviation of a standard normal that is cut off at two standard deviations.
_TRUNCATED_STDDEV = 0.87962566103423978

_MODES = ("fan_in", "fan_out", "fan_avg")
_DISTRIBUTIONS = ("normal", "uniform", "truncated_normal", "untruncated_normal")


class Initializer:
    """Base class: subclasses make the value and say what they were configured with. `tf.keras.initializers.Initializer`."""

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """The arguments that `from_config` makes an equal initializer from; plain values."""
        return {}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        return cls(**config)

    seed: int | None = None

    def _uniform(self, shape: Any, minval: Any, maxval: Any, dtype: Any) -> Tensor:
        return random_uniform(shape, minval, maxval, dtype, seed=self.seed)

    def _normal(self, shape: Any, mean: Any, stddev: Any, dtype: Any) -> Tensor:
        return random_normal(shape, mean, stddev, dtype, seed=self.seed)

    def _truncated_normal(self, shape: Any, mean: Any, stddev: Any, dtype: Any) -> Tensor:
        return truncated_normal(shape, mean, stddev, dtype, seed=self.seed)


class Zeros(Initializer):
    """All zeros. Source: `tf.zeros_initializer`."""

    def __init__(self, dtype: Any = dtypes.float32) -> None:
        self.dtype = dtypes.as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return zeros(shape, dtype or self.dtype)

    def get_config(self) -> dict[str, Any]:
        return {"dtype": self.dtype.name}


class Ones(Initializer):
    """All ones. Source: `tf.ones_initializer`."""

    def __init__(self, dtype: Any = dtypes.float32) -> None:
        self.dtype = dtypes.as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return ones(shape, dtype or self.dtype)

    def get_config(self) -> dict[str, Any]:
        return {"dtype": self.dtype.name}


class Constant(Initializer):
    """A value, or a list of them in row-major order whose last element fills up. Source: `tf.constant_initializer`.

    TypeError for a value of another kind and, with `verify_shape`, for one whose shape is not the one that is asked for;
    ValueError for more elements than fit.
    """

    def __init__(self, value: Any = 0, dtype: Any = dtypes.float32, verify_shape: bool = False) -> None:
        if not (np.isscalar(value) or isinstance(value, (list, tuple, np.ndarray))):
            raise TypeError(
                f"Invalid type for initial value: {type(value)} (expected Python scalar, list or tuple of values, or "
                "numpy.ndarray)."
            )
        self.value = value
        self.dtype = dtypes.as_dtype(dtype)
        self._verify_shape = verify_shape

    def __call__(
        self, shape: Any, dtype: Any = None, partition_info: Any = None, verify_shape: bool | None = None
    ) -> Tensor:
        verify = self._verify_shape if verify_shape is None else verify_shape
        return constant(self.value, dtype=dtype or self.dtype, shape=shape, verify_shape=verify)

    def get_config(self) -> dict[str, Any]:
        # verify_shape is not part of it: a check is nothing that a stored configuration repeats.
        return {"value": self.value, "dtype": self.dtype.name}


class RandomUniform(Initializer):
    """Numbers from [minval, maxval), integers too. Source: `tf.random_uniform_initializer`."""

    def __init__(self, minval: Any = 0.0, maxval: Any = None, seed: int | None = None, dtype: Any = dtypes.float32) -> None:
        self.minval, self.maxval, self.seed = minval, maxval, seed
        self.dtype = dtypes.as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        dtype = dtypes.as_dtype(dtype or self.dtype)
        # The default is no whole number, so that its node is there for floats, as in TensorFlow's graphs.
        is_whole = dtype.is_integer and isinstance(self.minval, float) and self.minval.is_integer()
        return self._uniform(shape, int(self.minval) if is_whole else self.minval, self.maxval, dtype)

    def get_config(self) -> dict[str, Any]:
        return {"minval": self.minval, "maxval": self.maxval, "seed": self.seed, "dtype": self.dtype.name}


class RandomNormal(Initializer):
    """Numbers from N(mean, stddev ** 2). Source: `tf.random_normal_initializer`."""

    def __init__(self, mean: Any = 0.0, stddev: Any = 1.0, seed: int | None = None, dtype: Any = dtypes.float32) -> None:
        self.mean, self.stddev, self.seed = mean, stddev, seed
        self.dtype = floating_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return self._normal(shape, self.mean, self.stddev, dtype or self.dtype)

    def get_config(self) -> dict[str, Any]:
        return {"mean": self.mean, "stddev": self.stddev, "seed": self.seed, "dtype": self.dtype.name}


class TruncatedNormal(RandomNormal):
    """As RandomNormal, nothing beyond two standard deviations. Source: `tf.truncated_normal_initializer`."""

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return self._truncated_normal(shape, self.mean, self.stddev, dtype or self.dtype)


class UniformUnitScaling(Initializer):
    """Uniform numbers that keep the scale of an input of prod(shape[:-1]) features, times `factor`.

    Source: `tf.uniform_unit_scaling_initializer`; Sussillo, Abbott: "Random walk initialization for training very deep
    feedforward networks" (2014).
    """

    def __init__(self, factor: float = 1.0, seed: int | None = None, dtype: Any = dtypes.float32) -> None:
        self.factor, self.seed = factor, seed
        self.dtype = floating_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        whole = known_dims(shape if partition_info is None else partition_info.full_shape)
        limit = math.sqrt(3 / max(math.prod(whole[:-1]), 1)) * self.factor
        return self._uniform(shape, -limit, limit, dtype or self.dtype)

    def get_config(self) -> dict[str, Any]:
        return {"factor": self.factor, "seed": self.seed, "dtype": self.dtype.name}


class VarianceScaling(Initializer):
    """Numbers of mean zero and variance scale / n, n the number of inputs, of outputs or their mean, by `mode`.

    Of a kernel [..., in, out] the leading dimensions are positions that each input and output has. `distribution` "normal"
    is the truncated one. ValueError for a scale that is not positive, another mode, distribution or a dtype that is not
    floating. Source: `tf.variance_scaling_initializer`.
    """

    def __init__(
        self,
        scale: float = 1.0,
        mode: str = "fan_in",
        distribution: str = "truncated_normal",
        seed: int | None = None,
        dtype: Any = dtypes.float32,
    ) -> None:
        if scale <= 0.0:
            raise ValueError("`scale` must be positive float.")
        if mode not in _MODES:
            raise ValueError("Invalid `mode` argument:", mode)
        if distribution.lower() not in _DISTRIBUTIONS:
            raise ValueError("Invalid `distribution` argument:", distribution)
        self.scale, self.mode, self.distribution, self.seed = scale, mode, distribution.lower(), seed
        self.dtype = floating_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        dtype = dtype or self.dtype
        fan_in, fan_out = _fans(known_dims(shape if partition_info is None else partition_info.full_shape))
        fan = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2}[self.mode]
        variance = self.scale / max(1.0, fan)
        if self.distribution == "uniform":
            limit = math.sqrt(3 * variance)
            return self._uniform(shape, -limit, limit, dtype)
        stddev = math.sqrt(variance)
        if self.distribution == "untruncated_normal":
            return self._normal(shape, 0.0, stddev, dtype)
        return self._truncated_normal(shape, 0.0, stddev / _TRUNCATED_STDDEV, dtype)

    def get_config(self) -> dict[str, Any]:
        return {
            "scale": self.scale,
            "mode": self.mode,
            "distribution": self.distribution,
            "seed": self.seed,
            "dtype": self.dtype.name,
        }


class GlorotUniform(VarianceScaling):
    """Glorot and Bengio's (2010), also called Xavier: uniform, by the mean of inputs and outputs."""

    def __init__(self, seed: int | None = None, dtype: Any = dtypes.float32) -> None:
        super().__init__(1.0, "fan_avg", "uniform", seed, dtype)

    def get_config(self) -> dict[str, Any]:
        return {"seed": self.seed, "dtype": self.dtype.name}


class GlorotNormal(VarianceScaling):
    """As GlorotUniform, from a truncated normal."""

    def __init__(self, seed: int | None = None, dtype: Any = dtypes.float32) -> None:
        super().__init__(1.0, "fan_avg", "truncated_normal", seed, dtype)

    def get_config(self) -> dict[str, Any]:
        return {"seed": self.seed, "dtype": self.dtype.name}


def he_normal(seed: int | None = None) -> VarianceScaling:
    """Truncated normal of variance 2 / inputs, for rectifiers (He et al., 2015). Source: `tf.initializers.he_normal`."""
    return VarianceScaling(2.0, "fan_in", "truncated_normal", seed)


def he_uniform(seed: int | None = None) -> VarianceScaling:
    """Uniform of variance 2 / inputs. Source: `tf.initializers.he_uniform`."""
    return VarianceScaling(2.0, "fan_in", "uniform", seed)


def lecun_normal(seed: int | None = None) -> VarianceScaling:
    """Truncated normal of variance 1 / inputs. Source: `tf.initializers.lecun_normal`."""
    return VarianceScaling(1.0, "fan_in", "truncated_normal", seed)


def lecun_uniform(seed: int | None = None) -> VarianceScaling:
    """Uniform of variance 1 / inputs. Source: `tf.initializers.lecun_uniform`."""
    return VarianceScaling(1.0, "fan_in", "uniform", seed)


def floating_dtype(dtype: Any) -> DType:
    """`dtype` as a DType; ValueError unless it is floating."""
    known: DType = dtypes.as_dtype(dtype)
    if not known.is_floating:
        raise ValueError(f"Expected floating point type, got {known}.")
    return known


def known_dims(shape: Any) -> list[int]:
    """The dimensions as integers; ValueError where one is unknown."""
    dims = TensorShape(shape)
    dims.assert_is_fully_defined()
    return [dim for dim in dims.as_list() if dim is not None]


def _fans(dims: list[int]) -> tuple[float, float]:
    """How many inputs each output of a layer with this kernel has, and how many outputs each input."""
    if not dims:
        return 1, 1
    if len(dims) == 1:
        return dims[0], dims[0]
    positions = math.prod(dims[:-2])
    return dims[-2] * positions, dims[-1] * positions


zeros_initializer = Zeros
ones_initializer = Ones
constant_initializer = Constant
random_uniform_initializer = RandomUniform
random_normal_initializer = RandomNormal
truncated_normal_initializer = TruncatedNormal
uniform_unit_scaling_initializer = UniformUnitScaling
variance_scaling_initializer = VarianceScaling
glorot_uniform_initializer = GlorotUniform
glorot_normal_initializer = GlorotNormal
