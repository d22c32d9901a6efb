"""Initial values that are matrices with a structure: orthogonal, identity. Source: `tf.initializers`."""

from __future__ import annotations

import math
from typing import Any

from tfexp.core import dtypes
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import reshape
from tfexp.ops.array_order import matrix_transpose
from tfexp.ops.array_slice import slice
from tfexp.ops.diagonal import diag_part, eye
from tfexp.ops.elementwise_unary import sign
from tfexp.ops.initializers import Initializer, floating_dtype, known_dims
from tfexp.ops.linalg import qr


class Orthogonal(Initializer):
    """`gain` times a matrix with orthonormal rows or columns, whichever are fewer; leading dimensions count as rows.

    The Q of a normal matrix, its signs fixed by R's diagonal so that the decomposition does not choose them. ValueError
    for fewer than two dimensions. Source: `tf.orthogonal_initializer`; Saxe, McClelland, Ganguli (2014).
    """

    def __init__(self, gain: float = 1.0, seed: int | None = None, dtype: Any = dtypes.float32) -> None:
        self.gain, self.seed = gain, seed
        self.dtype = floating_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        dtype = dtype or self.dtype
        dims = known_dims(shape)
        if len(dims) < 2:
            raise ValueError("The tensor to initialize must be at least two-dimensional")
        rows, columns = math.prod(dims[:-1]), dims[-1]
        normal = self._normal((max(rows, columns), min(rows, columns)), 0.0, 1.0, dtype)
        q, r = qr(normal, full_matrices=False)
        q = q * sign(diag_part(r))
        if rows < columns:
            q = matrix_transpose(q)
        return self.gain * reshape(q, shape)

    def get_config(self) -> dict[str, Any]:
        return {"gain": self.gain, "seed": self.seed, "dtype": self.dtype.name}


class Identity(Initializer):
    """`gain` times the identity matrix, or a part of it. ValueError unless two-dimensional. `tf.initializers.identity`."""

    def __init__(self, gain: float = 1.0, dtype: Any = dtypes.float32) -> None:
        self.gain = gain
        self.dtype = floating_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        whole = shape if partition_info is None else partition_info.full_shape
        dims = known_dims(whole)
        if len(dims) != 2:
            raise ValueError("Identity matrix initializer can only be used for 2D matrices.")
        matrix = eye(dims[0], dims[1], dtype=dtype or self.dtype)
        if partition_info is not None:
            matrix = slice(matrix, partition_info.var_offset, shape)
        return self.gain * matrix

    def get_config(self) -> dict[str, Any]:
        return {"gain": self.gain, "dtype": self.dtype.name}


orthogonal_initializer = Orthogonal
identity_initializer = Identity
