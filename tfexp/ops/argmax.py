"""Where the largest and the smallest elements are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.deprecation import deprecated_argument_lookup
from tfexp.core.dtypes import DType
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.kernel import BindRequest, Call
from tfexp.core.op import Op, define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.graph.tensor import Tensor

arg_max = define_op(
    "ArgMax(input: T, dimension: Tidx) -> (output: output_type) {T: type in [float,double,int32,uint8,int16,int8,"
    "int64,bfloat16,uint16,half,uint32,uint64,qint8,quint8,qint32,qint16,quint16,bool]; Tidx: type in [int16,int32,"
    "int64] = int32; output_type: type in [int16,uint16,int32,int64] = int64}"
)
arg_min = define_op(
    "ArgMin(input: T, dimension: Tidx) -> (output: output_type) {T: type in [float,double,int32,uint8,int16,int8,"
    "int64,bfloat16,uint16,half,uint32,uint64,qint8,quint8,qint32,qint16,quint16,bool]; Tidx: type in [int32,int64] "
    "= int32; output_type: type in [int32,int64] = int64}"
)


def _shape(x: InputShape, dimension: InputShape) -> TensorShape:
    if dimension.rank not in (None, 0):
        raise ValueError(f"Shape must be rank 0 but is rank {dimension.rank}")
    if x.rank is None:
        return TensorShape(None)
    if x.rank <= 1:
        return TensorShape([])
    if dimension.value is None:
        return TensorShape([None] * (x.rank - 1))
    axis = int(dimension.value)
    if not -x.rank <= axis < x.rank:
        raise ValueError(f"Dimension ({axis}) must be in the range [{-x.rank}, {x.rank}), where {x.rank} is the number of "
                         "dimensions in the input.")  # fmt: skip
    dims = list(x.known_dims or ())
    del dims[axis]
    return TensorShape(dims)


def _attach(op: Op, find: Callable[..., np.ndarray]) -> None:
    op.shape(_shape)
    op.not_differentiable()

    @op.kernel("CPU")
    def _(ctx: Any, x: np.ndarray, dimension: np.ndarray, *, output_type: DType) -> np.ndarray:
        axis, rank = int(dimension), np.ndim(x)
        if not -rank <= axis < rank:
            raise InvalidArgumentError(None, None, f"Expected dimension in the range [{-rank}, {rank}), but got {axis}")
        if np.shape(x)[axis] == 0:
            raise InvalidArgumentError(None, None, f"Reduction axis {axis} is empty in shape {list(np.shape(x))}")
        if not x.size:
            return np.zeros(np.delete(x.shape, axis), output_type.as_numpy_dtype)
        return np.asarray(find(x, axis=axis)).astype(output_type.as_numpy_dtype)

    @op.bind
    def _(node: BindRequest) -> Call | None:
        dimension, shape = node.input_values[1], node.input_shapes[0]
        if dimension is None or not shape.rank or not shape.is_fully_defined():
            return None
        axis, dims = int(dimension), shape.as_list()
        if not -len(dims) <= axis < len(dims) or 0 in dims:
            return None
        dtype = np.dtype(node.output_dtypes[0].as_numpy_dtype)
        if dtype == np.intp:
            return Call(lambda x, _, out=None: find(x, axis, out), out=True)
        return Call(lambda x, _: np.asarray(find(x, axis)).astype(dtype))


def _past_nan(find: Callable[..., np.ndarray], extreme: np.ufunc, worst: float) -> Callable[..., np.ndarray]:
    """NumPy finds a NaN first; TensorFlow never does, since no comparison with it holds (0 if all are NaN)."""

    def search(x: np.ndarray, axis: int, out: np.ndarray | None = None) -> np.ndarray:
        # The extreme of all is NaN if anything is, and costs less than a mask.
        if x.dtype.kind != "f" or not np.isnan(extreme.reduce(x, axis=None)):
            return find(x, axis, out)
        return find(np.where(np.isnan(x), x.dtype.type(worst), x), axis, out)

    return search


_attach(arg_max, _past_nan(np.argmax, np.maximum, -np.inf))
_attach(arg_min, _past_nan(np.argmin, np.minimum, np.inf))


def argmax(
    input: Any, axis: Any = None, name: str | None = None, dimension: Any = None, output_type: Any = dtypes.int64
) -> Tensor:
    """The index of the largest element along `axis` (0 by default), the first of equals. `tf.argmax`."""
    axis = deprecated_argument_lookup("axis", axis, "dimension", dimension)
    return arg_max(input, 0 if axis is None else axis, output_type=output_type, name=name)


def argmin(
    input: Any, axis: Any = None, name: str | None = None, dimension: Any = None, output_type: Any = dtypes.int64
) -> Tensor:
    """The index of the smallest element along `axis` (0 by default), the first of equals. `tf.argmin`."""
    axis = deprecated_argument_lookup("axis", axis, "dimension", dimension)
    return arg_min(input, 0 if axis is None else axis, output_type=output_type, name=name)


def argmax_of_dimension(input: Any, dimension: Any, output_type: Any = dtypes.int64, name: str | None = None) -> Tensor:
    """`argmax` with its older arguments. `tf.arg_max`."""
    return arg_max(input, dimension, output_type=output_type, name=name)


def argmin_of_dimension(input: Any, dimension: Any, output_type: Any = dtypes.int64, name: str | None = None) -> Tensor:
    """`argmin` with its older arguments. `tf.arg_min`."""
    return arg_min(input, dimension, output_type=output_type, name=name)
