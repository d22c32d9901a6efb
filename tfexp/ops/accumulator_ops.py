"""The ops of conditional accumulators. Dense ones have handles that are resources or references, sparse ones references."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.dtypes import DType
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.ops.accumulator_resource import Accumulator, DenseAccumulator, SparseAccumulator
from tfexp.ops.array import Array
from tfexp.ops.handle_ops import Twins, shared_or_own
from tfexp.ops.shape_rules import with_rank

_NUMBER = (
    "type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,"
    "complex128,half,uint32,uint64]"
)
_MADE = (
    f"dtype: {_NUMBER}; shape: shape; container: string = ''; shared_name: string = ''; "
    "reduction_type: string in ['MEAN','SUM'] = 'MEAN'"
)
# Those that TensorFlow's kernels add up.
_TYPES = ("float16", "float32", "float64")


def _twins(signature: str) -> Twins:
    """The op on resources, `ResourceAccumulator…`, and the one on references."""
    newer = define_op(f"Resource{signature.replace('HANDLE', 'resource')} #stateful")
    return Twins(newer, define_op(signature.replace("HANDLE", "ref string"), writes_refs=False))


# --- handles -----------------------------------------------------------------------------------------------------------

conditional_accumulator = Twins(
    define_op(f"ResourceConditionalAccumulator() -> (handle: resource) {{{_MADE}}} #stateful"),
    define_op(f"ConditionalAccumulator() -> (handle: ref string) {{{_MADE}}} #stateful"),
)
sparse_conditional_accumulator = define_op(f"SparseConditionalAccumulator() -> (handle: ref string) {{{_MADE}}} #stateful")


@conditional_accumulator.shape
@sparse_conditional_accumulator.shape
def _() -> TensorShape:
    return TensorShape([2])


@conditional_accumulator.kernel(handle=True)
def _(ctx: Any, *, dtype: DType, shape: TensorShape, container: str, shared_name: str, reduction_type: Any) -> Accumulator:
    return _accumulator(ctx, DenseAccumulator, dtype, shape, container, shared_name, reduction_type)


@sparse_conditional_accumulator.kernel("CPU", handle=True)
def _(ctx: Any, *, dtype: DType, shape: TensorShape, container: str, shared_name: str, reduction_type: Any) -> Accumulator:
    return _accumulator(ctx, SparseAccumulator, dtype, shape, container, shared_name, reduction_type)


def _accumulator(
    ctx: Any,
    kind: type[Accumulator],
    dtype: DType,
    shape: TensorShape,
    container: str,
    shared_name: str,
    reduction_type: Any,
) -> Accumulator:
    if dtype.name not in _TYPES:
        raise InvalidArgumentError(
            None, None, f"{kind.kind} adds up gradients of types {', '.join(_TYPES)}, not {dtype.name}"
        )
    mean = reduction_type in ("MEAN", b"MEAN")
    found: Accumulator = shared_or_own(
        ctx, "accumulator", container, shared_name, lambda name: kind(name, dtype, shape, mean)
    )
    if type(found) is not kind:
        raise InvalidArgumentError(None, None, f"Expected a {kind.kind}, found {found.text()}")
    return found


# --- questions and steps -----------------------------------------------------------------------------------------------

accumulator_num_accumulated = _twins("AccumulatorNumAccumulated(handle: HANDLE) -> (num_accumulated: int32)")


@accumulator_num_accumulated.shape
def _(handle: InputShape) -> TensorShape:
    return TensorShape([])


@accumulator_num_accumulated.kernel()
def _(ctx: Any, handle: Accumulator) -> Any:
    return np.int32(handle.count)


accumulator_set_global_step = _twins("AccumulatorSetGlobalStep(handle: HANDLE, new_global_step: int64) -> ()")


@accumulator_set_global_step.shape
def _(handle: InputShape, new_global_step: InputShape) -> None:
    with_rank(new_global_step, 0)


@accumulator_set_global_step.kernel()
def _(ctx: Any, handle: Accumulator, new_global_step: Array) -> None:
    handle.set_global_step(_scalar(new_global_step, "new_global_step"))


def _scalar(value: Array, name: str) -> int:
    if np.ndim(value):
        raise InvalidArgumentError(
            None, None, f"Argument {name} must be scalar, but had bad shape {dims_text(np.shape(value))}"
        )
    return int(value)


def _check_type(accumulator: Accumulator, dtype: DType) -> None:
    if accumulator.dtype != dtype:
        raise InvalidArgumentError(
            None, None, f"{accumulator.text()} is of type {accumulator.dtype.name}, but the node's is {dtype.name}"
        )


# --- dense -------------------------------------------------------------------------------------------------------------

accumulator_apply_gradient = _twins(
    f"AccumulatorApplyGradient(handle: HANDLE, local_step: int64, gradient: dtype) -> () {{dtype: {_NUMBER}}}"
)


@accumulator_apply_gradient.shape
def _(handle: InputShape, local_step: InputShape, gradient: InputShape) -> None:
    with_rank(local_step, 0)


@accumulator_apply_gradient.kernel()
def _(ctx: Any, handle: Accumulator, local_step: Array, gradient: Array, *, dtype: DType) -> None:
    _check_type(handle, dtype)
    handle.apply(_scalar(local_step, "local_step"), np.asarray(gradient))


accumulator_take_gradient = _twins(
    f"AccumulatorTakeGradient(handle: HANDLE, num_required: int32) -> (average: dtype) {{dtype: {_NUMBER}}}"
)


@accumulator_take_gradient.shape
def _(handle: InputShape, num_required: InputShape) -> TensorShape:
    with_rank(num_required, 0)
    return TensorShape(None)


@accumulator_take_gradient.kernel(waits=True)
def _(ctx: Any, handle: Accumulator, num_required: Array, *, dtype: DType) -> Any:
    _check_type(handle, dtype)
    return handle.take(_required(num_required))


def _required(num_required: Array) -> int:
    count = _scalar(num_required, "num_required")
    if count <= 0:
        raise InvalidArgumentError(None, None, f"Argument num_required must be positive, but was {count}")
    return count


# --- sparse ------------------------------------------------------------------------------------------------------------

sparse_accumulator_apply_gradient = define_op(
    "SparseAccumulatorApplyGradient(handle: ref string, local_step: int64, gradient_indices: int64, "
    f"gradient_values: dtype, gradient_shape: int64) -> () {{dtype: {_NUMBER}; has_known_shape: bool}}",
    writes_refs=False,
)


@sparse_accumulator_apply_gradient.shape
def _(
    handle: InputShape,
    local_step: InputShape,
    gradient_indices: InputShape,
    gradient_values: InputShape,
    gradient_shape: InputShape,
) -> None:
    with_rank(local_step, 0)


@sparse_accumulator_apply_gradient.kernel("CPU")
def _(
    ctx: Any,
    handle: Accumulator,
    local_step: Array,
    gradient_indices: Array,
    gradient_values: Array,
    gradient_shape: Array,
    *,
    dtype: DType,
    has_known_shape: bool,
) -> None:
    _check_type(handle, dtype)
    shape = np.asarray(gradient_shape) if has_known_shape else None
    gradient = (np.asarray(gradient_indices), np.asarray(gradient_values), shape)
    handle.apply(_scalar(local_step, "local_step"), gradient)


sparse_accumulator_take_gradient = define_op(
    "SparseAccumulatorTakeGradient(handle: ref string, num_required: int32) -> (indices: int64, values: dtype, "
    f"shape: int64) {{dtype: {_NUMBER}}}",
    writes_refs=False,
)


@sparse_accumulator_take_gradient.shape
def _(handle: InputShape, num_required: InputShape) -> list[TensorShape]:
    with_rank(num_required, 0)
    return [TensorShape(None)] * 3


@sparse_accumulator_take_gradient.kernel("CPU", waits=True)
def _(ctx: Any, handle: Accumulator, num_required: Array, *, dtype: DType) -> Any:
    _check_type(handle, dtype)
    return handle.take(_required(num_required))
