"""Initializers of convolution kernels that keep the norm of what they are applied to.

Source: `tensorflow.python.ops.init_ops`, `tf.contrib.framework.convolutional_orthogonal_1d` and so on, TF 1.15; Xiao, Bahri,
Sohl-Dickstein, Schoenholz, Pennington, "Dynamical isometry and a mean field theory of CNNs" (2018).
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from tfexp.core import dtypes
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import reshape
from tfexp.ops.array_pad import pad
from tfexp.ops.cast import cast
from tfexp.ops.diagonal import diag_part, eye
from tfexp.ops.elementwise_unary import sign
from tfexp.ops.initializers import Initializer, floating_dtype, known_dims
from tfexp.ops.linalg import qr
from tfexp.ops.matmul import matmul
from tfexp.ops.random import random_normal
from tfexp.ops.tensor_products import tensordot

_RANKS = {3: "three-dimensional", 4: "four-dimensional", 5: "five-dimensional"}


class _OrthogonalKernel(Initializer):
    """What they have in common: random orthogonal matrices, and the checks."""

    def __init__(self, gain: float = 1.0, seed: int | None = None, dtype: Any = dtypes.float32) -> None:
        self.gain, self.seed = gain, seed
        self.dtype = floating_dtype(dtype)

    def get_config(self) -> dict[str, Any]:
        return {"gain": self.gain, "seed": self.seed, "dtype": self.dtype.name}

    def _channels(self, dims: Sequence[int]) -> tuple[int, int]:
        if dims[-2] > dims[-1]:
            raise ValueError(f"The number of input channels, {dims[-2]}, cannot exceed that of output channels, {dims[-1]}.")
        return dims[-2], dims[-1]

    def _seeds(self) -> Iterator[int | None]:
        """A seed for each random op of a call."""
        return itertools.count(self.seed) if self.seed else itertools.repeat(self.seed)

    def _orthogonal(self, n: int, dtype: Any, seeds: Iterator[int | None]) -> Tensor:
        q, r = qr(random_normal([n, n], dtype=dtype, seed=next(seeds)))
        return q * sign(diag_part(r))


class ConvolutionDeltaOrthogonal(_OrthogonalKernel):
    """Zeros but for the kernel's middle, which is `gain` times a matrix with orthonormal rows.

    shape: [*sizes, in, out] of rank 3 to 5, in <= out. ValueError for others.
    """

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        dims = known_dims(shape)
        if len(dims) not in _RANKS:
            raise ValueError("The tensor to initialize must be at least three-dimensional and at most five-dimensional")
        rows, columns = self._channels(dims)
        dtype = dtype or self.dtype
        middle = self.gain * self._orthogonal(columns, dtype, self._seeds())[:rows]
        margins = [((size - 1) // 2, size - 1 - (size - 1) // 2) for size in dims[:-2]]
        return pad(reshape(middle, [1] * len(margins) + [rows, columns]), [*margins, (0, 0), (0, 0)])


class ConvolutionOrthogonal(_OrthogonalKernel):
    """`gain` times a product of kernels of size 2, each made of projections: a convolution that keeps the norm.

    shape: [*sizes, in, out] with equal sizes and in <= out. ValueError for others.
    """

    rank = 0

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        *sizes, _, _ = dims = known_dims(shape)
        if len(dims) != self.rank:
            raise ValueError(f"The tensor to initialize must be {_RANKS[self.rank]}")
        if len(set(sizes)) > 1:
            raise ValueError(f"Kernel sizes must be equal, not {sizes}.")
        rows, columns = self._channels(dims)
        dtype, seeds, axes = dtype or self.dtype, self._seeds(), len(sizes)
        middle = self._orthogonal(columns, dtype, seeds)[:rows]
        kernel = reshape(middle, [1] * axes + [rows, columns])
        for _ in range(sizes[0] - 1):
            kernel = _convolved(kernel, [self._projection(columns, dtype, seeds) for _ in range(axes)])
        return self.gain * kernel

    def _projection(self, n: int, dtype: Any, seeds: Iterator[int | None]) -> Tensor:
        """The orthogonal projection onto a random subspace of any dimension."""
        q = self._orthogonal(n, dtype, seeds)
        chosen = q * cast(random_normal([n], dtype=dtype, seed=next(seeds)) > 0, dtype)
        return matmul(chosen, chosen, transpose_b=True)


def _convolved(kernel: Tensor, projections: Sequence[Tensor]) -> Tensor:
    """`kernel` after the kernel of size 2 of which the matrix at b multiplies the projections P (b[i] = 0) and 1 - P."""
    one = eye(projections[0].shape.as_list()[0], dtype=projections[0].dtype)
    terms = []
    for place in itertools.product((0, 1), repeat=len(projections)):
        factors = [one - p if bit else p for bit, p in zip(place, projections, strict=True)]
        term = tensordot(kernel, functools.reduce(matmul, factors), 1)
        terms.append(pad(term, [*[(bit, 1 - bit) for bit in place], (0, 0), (0, 0)]))
    return functools.reduce(lambda a, b: a + b, terms)


class ConvolutionOrthogonal1D(ConvolutionOrthogonal):
    """For kernels [size, in, out]."""

    rank = 3


class ConvolutionOrthogonal2D(ConvolutionOrthogonal):
    """For kernels [size, size, in, out]."""

    rank = 4


class ConvolutionOrthogonal3D(ConvolutionOrthogonal):
    """For kernels [size, size, size, in, out]."""

    rank = 5


convolutional_delta_orthogonal = ConvolutionDeltaOrthogonal
convolutional_orthogonal_1d = ConvolutionOrthogonal1D
convolutional_orthogonal_2d = ConvolutionOrthogonal2D
convolutional_orthogonal_3d = ConvolutionOrthogonal3D
