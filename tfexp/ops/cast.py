"""Conversion between element types."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.errors import UnimplementedError
from tfexp.core.kernel import BindRequest, Call
from tfexp.core.op import define_op, get_op
from tfexp.graph.convert import IndexedSlices, constant, convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import name_scope
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.graph.tensor import Tensor
from tfexp.ops.shape_rules import shape_preserving

cast_op = define_op("Cast(x: SrcT) -> (y: DstT) {SrcT: type; DstT: type; Truncate: bool = false}")
shape_preserving(cast_op)


_NO_NUMBERS = frozenset({dtypes.string, dtypes.resource, dtypes.variant})


def _convert(x: np.ndarray, to: np.dtype[Any], out: np.ndarray | None = None) -> np.ndarray:
    if x.dtype.kind == "c" and to.kind != "c":
        x = x.real if to.kind != "b" else np.not_equal(x, 0)
    if out is None:
        return x.astype(to)
    np.copyto(out, x, casting="unsafe")
    return out


@cast_op.kernel("CPU", "XLA")
def _(ctx: Any, x: np.ndarray, *, SrcT: dtypes.DType, DstT: dtypes.DType) -> np.ndarray:
    if not _NO_NUMBERS.isdisjoint((SrcT, DstT)):
        raise UnimplementedError(None, None, f"Cast {SrcT.name} to {DstT.name} is not supported")
    return _convert(x, np.dtype(DstT.as_numpy_dtype))


@cast_op.bind
def _(node: BindRequest) -> Call | None:
    source, target = node.input_dtypes[0], node.output_dtypes[0]
    if not _NO_NUMBERS.isdisjoint((source, target)):
        return None
    to = np.dtype(target.as_numpy_dtype)
    return Call(lambda x, out=None: _convert(x, to, out), out=True, pieces=True)


_DIFFERENTIABLE = frozenset({"float16", "float32", "float64", "bfloat16", "complex64", "complex128"})


@cast_op.gradient
def _(op: Operation, grad: Tensor) -> Tensor | None:
    source, target = op.inputs[0].dtype.base_dtype, grad.dtype.base_dtype
    if source.name in _DIFFERENTIABLE and target.name in _DIFFERENTIABLE:
        return cast(grad, source)
    return None


def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """`x` (a Tensor, IndexedSlices, SparseTensor or value) as elements of `dtype`; itself where it already is. `tf.cast`.

    Floats lose their fraction when they become integers; complex numbers their imaginary part when they become real.
    """
    base = dtypes.as_dtype(dtype).base_dtype
    # A resource variable is read where it is used; one with copies here, as the place says which copy it is.
    read_later = hasattr(x, "sparse_read") and not hasattr(x, "_copies")
    if (isinstance(x, Tensor) or read_later) and x.dtype.base_dtype is base:
        return x
    with name_scope(name, "Cast", [x]) as scope:
        if isinstance(x, IndexedSlices):
            return IndexedSlices(cast(x.values, base, name=scope), x.indices, x.dense_shape)
        if isinstance(x, SparseTensor):
            return SparseTensor(x.indices, cast(x.values, base, name=scope), x.dense_shape)
        x = convert_to_tensor(x, name="x")
        if x.dtype.base_dtype is base:
            return x
        return cast_op(x, DstT=base, name=scope)


def _limit(limit: Any, source: DType, target: DType) -> Any:
    """The number of type `source` next to a limit of `target`'s that `target` has: rounding may go beyond it."""
    rounded: Any = np.asarray(limit).astype(source.as_numpy_dtype)
    if source.is_floating and target.is_integer and not target.min <= int(rounded) <= target.max:
        rounded = np.nextafter(rounded, rounded.dtype.type(0))
    return rounded


def saturate_cast(value: Any, dtype: Any, name: str | None = None) -> Tensor:
    """As `cast`, but values beyond the range of `dtype` become its limits. `tf.saturate_cast`."""
    with name_scope(name, "saturate_cast", [value]) as scope:
        value = convert_to_tensor(value, name="value")
        target = dtypes.as_dtype(dtype).base_dtype
        source = value.dtype.base_dtype
        if source.min < target.min or source.max > target.max:
            low = constant(_limit(max(source.min, target.min), source, target), dtype=source)
            high = constant(_limit(min(source.max, target.max), source, target), dtype=source)
            value = get_op("ClipByValue")(value, low, high, name="clamp")
        return cast(value, target, name=scope)


def to_float(x: Any, name: str = "ToFloat") -> Any:
    """`cast` to float32. `tf.to_float`."""
    return cast(x, dtypes.float32, name=name)


def to_double(x: Any, name: str = "ToDouble") -> Any:
    """`cast` to float64. `tf.to_double`."""
    return cast(x, dtypes.float64, name=name)


def to_int32(x: Any, name: str = "ToInt32") -> Any:
    """`cast` to int32. `tf.to_int32`."""
    return cast(x, dtypes.int32, name=name)


def to_int64(x: Any, name: str = "ToInt64") -> Any:
    """`cast` to int64. `tf.to_int64`."""
    return cast(x, dtypes.int64, name=name)


def to_bfloat16(x: Any, name: str = "ToBFloat16") -> Any:
    """`cast` to bfloat16. `tf.to_bfloat16`."""
    return cast(x, dtypes.bfloat16, name=name)
