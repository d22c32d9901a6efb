"""`layers.kernelized` and `utils.kernelized_utils` of `tensorflow.python.keras`: kernels by random features, and exact ones.

Source: TF 1.15; Rahimi and Recht, Random Features for Large-Scale Kernel Machines, 2007.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.shape import TensorShape, as_shape
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.tensor import Tensor
from tfexp.keras import initializers
from tfexp.keras.engine.base_layer import Layer
from tfexp.keras.engine.input_spec import InputSpec
from tfexp.ops.array import expand_dims
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_trig import cos
from tfexp.ops.elementwise_unary import abs as abs_
from tfexp.ops.elementwise_unary import exp, square
from tfexp.ops.initializers import Constant, RandomNormal, RandomUniform
from tfexp.ops.matmul import matmul
from tfexp.ops.reduce import reduce_sum

_KERNELS = ("gaussian", "laplacian")


class RandomFourierFeatures(Layer):
    """[batch, n] as [batch, output_dim] whose inner products, times 2 / output_dim, are about those of a kernel.

    kernel_initializer: "gaussian", "laplacian", or an initializer of the frequencies. scale: of the kernel, by default
    sqrt(n / 2) for the Gaussian one and 1 for others; it is learnt if `trainable`. ValueError for other arguments, and for
    inputs of another rank.
    """

    def __init__(
        self,
        output_dim: int,
        kernel_initializer: Any = "gaussian",
        scale: float | None = None,
        trainable: bool = False,
        name: str | None = None,
        **kwargs: Any,
    ):
        if output_dim <= 0:
            raise ValueError(f"`output_dim` should be a positive integer. Given: {output_dim}.")
        if isinstance(kernel_initializer, str) and kernel_initializer.lower() not in _KERNELS:
            raise ValueError(f"Unsupported kernel type: '{kernel_initializer}'. Supported kernel types: {list(_KERNELS)}.")
        if scale is not None and scale <= 0.0:
            raise ValueError(f"When provided, `scale` should be a positive float. Given: {scale}.")
        super().__init__(trainable=trainable, name=name, **kwargs)
        self.output_dim, self.kernel_initializer, self.scale = output_dim, kernel_initializer, scale

    def build(self, input_shape: Any) -> None:
        shape = as_shape(input_shape)
        if shape.ndims != 2:
            raise ValueError(f"The rank of the input tensor should be 2. Got {shape.ndims} instead.")
        width = shape.as_list()[1]
        if width is None:
            raise ValueError("The last dimension of the inputs to `RandomFourierFeatures` should be defined. Found `None`.")
        self.input_spec = InputSpec(ndim=2, axes={1: width})
        self.unscaled_kernel = self.add_weight(
            "unscaled_random_features",
            shape=(width, self.output_dim),
            dtype=dtypes.float32,
            initializer=_frequencies(self.kernel_initializer, (width, self.output_dim)),
            trainable=False,
        )
        self.bias = self.add_weight(
            "random_features_bias",
            shape=(self.output_dim,),
            dtype=dtypes.float32,
            initializer=RandomUniform(minval=0.0, maxval=2 * math.pi),
            trainable=False,
        )
        if self.scale is None:
            self.scale = math.sqrt(width / 2) if _is_named(self.kernel_initializer, "gaussian") else 1.0
        self.kernel_scale = self.add_weight(
            "random_features_scale",
            shape=(1,),
            dtype=dtypes.float32,
            initializer=Constant(self.scale),
            trainable=True,
            constraint="NonNeg",
        )
        super().build(input_shape)

    def call(self, inputs: Any) -> Any:
        rows = cast(convert_to_tensor(inputs), dtypes.float32)
        return cos(matmul(rows, (1.0 / self.kernel_scale) * self.unscaled_kernel) + self.bias)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        shape = as_shape(input_shape).with_rank(2)
        if shape.as_list()[-1] is None:
            raise ValueError(f"The innermost dimension of input shape must be defined. Given: {shape}")
        return TensorShape([shape[0], self.output_dim])

    def get_config(self) -> dict[str, Any]:
        kernel = self.kernel_initializer
        kernel = kernel if isinstance(kernel, str) else initializers.serialize(kernel)
        own = {"output_dim": self.output_dim, "kernel_initializer": kernel, "scale": self.scale}
        return {**super().get_config(), **own}


def _is_named(kernel: Any, name: str) -> bool:
    return isinstance(kernel, str) and kernel.lower() == name


def _frequencies(kernel: Any, shape: tuple[int, int]) -> Any:
    """What the frequencies are drawn by: the Fourier transforms of Gaussian and Laplacian are a normal and a Cauchy one."""
    if _is_named(kernel, "gaussian"):
        return RandomNormal(stddev=1.0)
    if _is_named(kernel, "laplacian"):
        return Constant(np.tan(np.pi * (np.random.uniform(0.0, 1.0, shape) - 0.5)))
    return kernel


# --- exact kernels ------------------------------------------------------------------------------------------------------


def inner_product(u: Any, v: Any) -> Tensor:
    """[m, n]: of each row of `u` with each of `v`; a vector is one row."""
    return matmul(_rows(u), _rows(v), transpose_b=True)


def exact_gaussian_kernel(x: Any, y: Any, stddev: float) -> Tensor:
    """[m, n]: exp(-|x - y|² / (2 stddev²)) of each row with each."""
    return exp(-reduce_sum(square(_differences(x, y)), axis=2) / (2 * stddev**2))


def exact_laplacian_kernel(x: Any, y: Any, stddev: float) -> Tensor:
    """[m, n]: exp(-|x - y| / stddev), the sum of the absolute differences, of each row with each."""
    return exp(-reduce_sum(abs_(_differences(x, y)), axis=2) / stddev)


def _rows(u: Any) -> Any:
    rank = len(u.shape)
    if rank not in (1, 2):
        raise ValueError(f"The input tensor should have rank 1 or 2. Given rank: {rank}")
    return expand_dims(u, 0) if rank == 1 else u


def _differences(x: Any, y: Any) -> Any:
    """[m, n, width]. ValueError for rows of different widths."""
    x, y = _rows(x), _rows(y)
    if int(x.shape[1]) != int(y.shape[1]):
        raise ValueError(
            f"The outermost dimensions of the input tensors should match. Given: {int(y.shape[1])} vs {int(x.shape[1])}."
        )
    return expand_dims(x, 1) - expand_dims(y, 0)
