"""Variables, constants and placeholders, and what they are: dtype, shape, rank. Source: `tf.keras.backend`, TF 1.15."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tfexp.core import dtypes, nest
from tfexp.core.shape import TensorShape
from tfexp.graph import convert
from tfexp.graph.eager_tensor import EagerTensor
from tfexp.graph.scopes import init_scope
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.graph.tensor import Tensor
from tfexp.keras.backend.config import floatx
from tfexp.keras.backend.graphs import get_graph, track_variable
from tfexp.keras.backend.random import seed_of
from tfexp.keras.backend.sessions import get_value
from tfexp.ops import array, array_fill, array_identity, diagonal, sparse
from tfexp.ops.initializers import known_dims
from tfexp.ops.random import random_normal, random_uniform
from tfexp.ops.sparse_placeholder import sparse_placeholder
from tfexp.ops.state import assign as _assign
from tfexp.ops.variable_base import Variable
from tfexp.ragged_tensors.constants import placeholder as ragged_placeholder


def variable(value: Any, dtype: Any = None, name: str | None = None, constraint: Callable[[Any], Any] | None = None) -> Any:
    """A variable that starts with `value`, of the configured float type by default; a SciPy matrix gives a SparseTensor."""
    dtype = dtype or floatx()
    if hasattr(value, "tocoo"):
        coordinates = value.tocoo()
        indices = np.stack([coordinates.row, coordinates.col], axis=1)
        return SparseTensor(indices, coordinates.data, coordinates.shape)
    made: Any = Variable(value, dtype=dtypes.as_dtype(dtype), name=name, constraint=constraint, use_resource=True)
    if isinstance(value, (np.ndarray, Tensor)) or hasattr(value, "shape"):
        made._keras_shape = int_shape(value)
    track_variable(made)
    return made


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str | None = None) -> Any:
    """A constant, of the configured float type by default."""
    return convert.constant(value, dtype=dtype or floatx(), shape=shape, name=name or "Const")


def is_keras_tensor(x: Any) -> bool:
    """Whether `x` came out of a Keras layer, or Input. ValueError for what is no tensor."""
    if not isinstance(x, (Tensor, Variable, SparseTensor)) and not hasattr(x, "row_splits"):
        raise ValueError(f"Unexpectedly found an instance of type `{type(x)}`. Expected a symbolic tensor instance.")
    return hasattr(x, "_keras_history")


def placeholder(
    shape: Any = None,
    ndim: int | None = None,
    dtype: Any = None,
    sparse: bool = False,
    name: str | None = None,
    ragged: bool = False,
) -> Any:
    """A tensor to be fed. `ndim`: where only the rank is known. ValueError for one that is sparse and ragged."""
    if sparse and ragged:
        raise ValueError("Cannot set both sparse and ragged to True when creating a placeholder.")
    dtype = dtypes.as_dtype(dtype or floatx())
    if not shape and ndim:
        shape = (None,) * ndim
    with get_graph().as_default():
        if sparse:
            return sparse_placeholder(dtype, shape=shape, name=name)
        if ragged:
            dims = TensorShape(shape).as_list()
            uneven = max((axis for axis, size in enumerate(dims) if size is None and axis), default=1)
            return ragged_placeholder(dtype, uneven, dims[uneven + 1 :], name=name)
        return array_identity.placeholder(dtype, shape=shape, name=name)


def is_placeholder(x: Any) -> bool:
    """Whether it is a tensor to be fed, or one of several parts of which some are."""
    parts = nest.flatten(x, expand_composites=True)
    tensors = [part for part in parts if isinstance(part, Tensor) and not isinstance(part, EagerTensor)]
    return any(tensor._op.type == "Placeholder" for tensor in tensors)


def is_sparse(tensor: Any) -> bool:
    """Whether it is a SparseTensor."""
    return isinstance(tensor, SparseTensor)


def to_dense(tensor: Any) -> Any:
    """A SparseTensor as a tensor; others as they are."""
    return sparse.sparse_tensor_to_dense(tensor) if is_sparse(tensor) else tensor


def eval(x: Any) -> Any:
    """The value of a variable or tensor, as an array; a sparse one's too."""
    return get_value(to_dense(x))


def dtype(x: Any) -> str:
    """The type's name."""
    name: str = x.dtype.base_dtype.name
    return name


def shape(x: Any) -> Tensor:
    """The shape at run time."""
    return array.shape(x)


def int_shape(x: Any) -> tuple[int | None, ...] | None:
    """The shape as far as it is known; None for an unknown rank (or for what has no shape)."""
    known = getattr(x, "_keras_shape", None)
    if known is not None:
        return tuple(known)
    if isinstance(x, np.ndarray):
        return x.shape
    try:
        return tuple(TensorShape(x.shape).as_list())
    except (ValueError, AttributeError):  # of unknown rank; without a shape
        return None


def ndim(x: Any) -> int | None:
    """The rank; None where it is unknown."""
    rank: int | None = TensorShape(x.shape).ndims
    return rank


def count_params(x: Any) -> int:
    """How many elements it has."""
    return math.prod(known_dims(x.shape))


def zeros(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A variable of zeros; a tensor where the shape is not fully known."""
    return _filled(array_fill.zeros, shape, dtype, name)


def ones(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A variable of ones; a tensor where the shape is not fully known."""
    return _filled(array_fill.ones, shape, dtype, name)


def _filled(make: Callable[..., Tensor], shape: Any, dtype: Any, name: str | None) -> Any:
    with init_scope():
        known = dtypes.as_dtype(dtype or floatx())
        value = make(shape=shape, dtype=known, name=name)
        is_static = value.shape.ndims is not None and value.shape.is_fully_defined()
        return variable(value, dtype=known, name=name) if is_static else value


def eye(size: int, dtype: Any = None, name: str | None = None) -> Any:
    """A variable that starts as the identity matrix of this size."""
    known = dtypes.as_dtype(dtype or floatx())
    return variable(diagonal.eye(size, dtype=known), known, name)


def zeros_like(x: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """Zeros of the shape of `x`."""
    return array_fill.zeros_like(x, dtype=dtype, name=name)


def ones_like(x: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """Ones of the shape of `x`."""
    return array_fill.ones_like(x, dtype=dtype, name=name)


def identity(x: Any, name: str | None = None) -> Tensor:
    """The same value as another tensor."""
    return array_identity.identity(x, name=name)


def random_uniform_variable(
    shape: Any, low: float, high: float, dtype: Any = None, name: str | None = None, seed: int | None = None
) -> Any:
    """A variable that starts with numbers from [low, high)."""
    known = dtypes.as_dtype(dtype or floatx())
    value = random_uniform(shape, low, high, dtype=known, seed=seed_of(seed))
    return variable(value, dtype=known, name=name)


def random_normal_variable(
    shape: Any, mean: float, scale: float, dtype: Any = None, name: str | None = None, seed: int | None = None
) -> Any:
    """A variable that starts with normal numbers of this mean and standard deviation."""
    known = dtypes.as_dtype(dtype or floatx())
    value = random_normal(shape, mean, scale, dtype=known, seed=seed_of(seed))
    return variable(value, dtype=known, name=name)


def update(x: Any, new_x: Any) -> Any:
    """The operation that gives a variable a value."""
    return _assign(x, new_x)


def update_add(x: Any, increment: Any) -> Any:
    """The operation that adds to a variable."""
    return x.assign_add(increment)


def update_sub(x: Any, decrement: Any) -> Any:
    """The operation that subtracts from a variable."""
    return x.assign_sub(decrement)


def moving_average_update(x: Any, value: Any, momentum: Any) -> Any:
    """The operation that moves `x` towards `value`, by `1 - momentum` of the way, as if `x` had started at zero unbiased."""
    from tfexp.train.moving_averages import assign_moving_average  # layers do without tf.train

    return assign_moving_average(x, value, momentum, zero_debias=True)
