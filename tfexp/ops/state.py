"""Variables' nodes: storage, assignment, and questions about it. What Python programs hold is `ops.variables.Variable`.

Every kernel works on a `Ref`, in place; one that needs a value fails with FailedPreconditionError where the variable has
none yet. `use_locking` is accepted everywhere and changes nothing here: what steps assign, add and scatter is done one after
the other. Optimizers' updates ask for it (`ops.update`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.errors import FailedPreconditionError, InvalidArgumentError, OutOfRangeError
from tfexp.core.kernel import BindRequest, Call, Ref
from tfexp.core.merged_shape import merged
from tfexp.core.op import define_op
from tfexp.core.shape import TensorShape, dims_text
from tfexp.ops.shape_rules import with_rank

NUMBERS = (
    "float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,"
    "uint32,uint64"
)


def buffer_of(ref: Ref) -> np.ndarray:
    """The variable's array; FailedPreconditionError, naming the variable, before its first assignment."""
    if ref.value is None:
        raise FailedPreconditionError(None, None, ref.no_value())
    return ref.value


variable_v2 = define_op(
    "VariableV2() -> (ref: ref dtype) {shape: shape; dtype: type; container: string = ''; shared_name: string = ''}"
    " #stateful"
)


@variable_v2.shape
def _(*, shape: TensorShape) -> TensorShape:
    return shape


@variable_v2.kernel("CPU", handle=True)
def _(ctx: Any, *, shape: TensorShape, dtype: DType, container: str, shared_name: str) -> Ref:
    """The variable of that container and name (the node's own name if `shared_name` is empty), without a value at first."""
    name = shared_name or ctx.node_name
    ref: Ref = ctx.resource(container, name, lambda: Ref(name, dtype.base_dtype, shape))
    return ref


variable_v1 = define_op(
    "Variable() -> (ref: ref dtype) {shape: shape; dtype: type; container: string = ''; shared_name: string = ''} #stateful"
)


@variable_v1.shape
def _(*, shape: TensorShape) -> TensorShape:
    # In graphs that old these have, an empty shape says that it is not known.
    return shape if shape.rank else TensorShape(None)


@variable_v1.kernel("CPU", handle=True)
def _(ctx: Any, *, shape: TensorShape, dtype: DType, container: str, shared_name: str) -> Ref:
    name = shared_name or ctx.node_name
    known = shape if shape.rank else TensorShape(None)
    ref: Ref = ctx.resource(container, name, lambda: Ref(name, dtype.base_dtype, known))
    return ref


assign_op = define_op(
    "Assign(ref: ref T, value: T) -> (output_ref: ref T) {T: type; validate_shape: bool = true; use_locking: bool = true}"
    " #uninitialized_input"
)


@assign_op.shape
def _(ref: TensorShape, value: TensorShape, *, validate_shape: bool) -> TensorShape:
    return merged(ref, value) if validate_shape else value


def _check_assignable(ref: Ref, value: Any) -> None:
    shape = np.shape(value)
    if ref.value is not None:
        fits = ref.value.shape == shape
        current: Any = ref.value.shape
    else:
        fits = ref.shape.is_compatible_with(shape)
        current = ref.shape.known_dims or ()
    if not fits:
        raise InvalidArgumentError(
            None,
            None,
            f"Assign requires shapes of both tensors to match. lhs shape= {dims_text(current)} rhs shape= "
            f"{dims_text(shape)} (variable {ref.name})",
        )


@assign_op.kernel("CPU", "XLA")
def _(ctx: Any, ref: Ref, value: Any, *, validate_shape: bool) -> Ref:
    if validate_shape:
        _check_assignable(ref, value)
    ref.assign(value)
    return ref


@assign_op.bind
def _(node: BindRequest) -> Call | None:
    validate_shape = node.attrs["validate_shape"]

    def assign_value(ref: Ref, value: Any) -> Ref:
        if validate_shape:
            _check_assignable(ref, value)
        ref.assign(value)
        return ref

    return Call(assign_value)


assign_op.not_differentiable()


Update = Callable[[Ref, Any], Ref]


def _update_by(ufunc: Any) -> Update:
    """`ref = ufunc(ref, value)` for a value of the variable's shape; it returns the Ref."""

    def update(ref: Ref, value: Any) -> Ref:
        buffer = buffer_of(ref)
        if buffer.shape != np.shape(value):
            raise InvalidArgumentError(
                None,
                None,
                f"Parameters and update must be the same size: variable {ref.name} has shape {dims_text(buffer.shape)}, "
                f"the update {dims_text(np.shape(value))}",
            )
        with ref.updating:
            ufunc(buffer, value, buffer)
        return ref

    return update


add, subtract = _update_by(np.add), _update_by(np.subtract)


def _define_update(name: str, update: Update) -> Any:
    op = define_op(
        f"{name}(ref: ref T, value: T) -> (output_ref: ref T) {{T: type in [{NUMBERS}]; use_locking: bool = false}}"
    )
    op.shape(merged)
    op.kernel("CPU", "XLA")(lambda ctx, ref, value: update(ref, value))
    op.bind(lambda node: Call(update))
    op.not_differentiable()
    return op


assign_add_op = _define_update("AssignAdd", add)
assign_sub_op = _define_update("AssignSub", subtract)


is_variable_initialized_op = define_op(
    "IsVariableInitialized(ref: ref dtype) -> (is_initialized: bool) {dtype: type} #uninitialized_input", writes_refs=False
)


@is_variable_initialized_op.shape
def _(ref: TensorShape) -> TensorShape:
    return TensorShape(())


@is_variable_initialized_op.kernel("CPU")
def _(ctx: Any, ref: Ref) -> np.bool_:
    return np.bool_(ref.value is not None)


count_up_to_op = define_op("CountUpTo(ref: ref T) -> (output: T) {limit: int; T: type in [int32,int64]}")


@count_up_to_op.shape
def _(ref: TensorShape) -> TensorShape:
    return with_rank(ref, 0)


@count_up_to_op.kernel("CPU")
def _(ctx: Any, ref: Ref, *, limit: int) -> Any:
    """The value before the increment; OutOfRangeError, and no increment, at the limit."""
    return count_up(ref, limit)


def count_up(ref: Ref, limit: int) -> Any:
    """What CountUpTo does."""
    buffer = buffer_of(ref)
    with ref.updating:
        before = buffer.copy()
        if before < limit:
            buffer += buffer.dtype.type(1)
    if before >= limit:
        raise OutOfRangeError(None, None, f"Reached limit of {limit}")
    return before


# --- the public functions ----------------------------------------------------------------------------------------------


def is_reference(ref: Any) -> bool:
    """Whether `ref` is a reference variable (or the reference itself), which an op can take as its `ref` input."""
    return dtypes.as_dtype(ref.dtype)._is_ref_dtype


def assign(
    ref: Any, value: Any, validate_shape: bool | None = None, use_locking: bool | None = None, name: str | None = None
) -> Any:
    """`ref` takes `value`; the result is the reference after that. Source: `tf.assign`.

    With `validate_shape=False` the variable may change its shape. AttributeError where `ref` is not a variable.
    """
    if is_reference(ref):
        return assign_op(ref, value, validate_shape=validate_shape, use_locking=use_locking, name=name)
    return ref.assign(value, name=name)


def assign_add(ref: Any, value: Any, use_locking: bool | None = None, name: str | None = None) -> Any:
    """Add `value`, of the same shape, to the variable. Source: `tf.assign_add`."""
    if is_reference(ref):
        return assign_add_op(ref, value, use_locking=use_locking, name=name)
    return ref.assign_add(value)


def assign_sub(ref: Any, value: Any, use_locking: bool | None = None, name: str | None = None) -> Any:
    """Subtract `value`, of the same shape, from the variable. Source: `tf.assign_sub`."""
    if is_reference(ref):
        return assign_sub_op(ref, value, use_locking=use_locking, name=name)
    return ref.assign_sub(value)


def is_variable_initialized(variable: Any) -> Any:
    """A bool scalar: whether the variable has a value. Source: `tf.is_variable_initialized`."""
    if is_reference(variable):
        return is_variable_initialized_op(variable)
    return variable.is_initialized()


def count_up_to(ref: Any, limit: int, name: str | None = None) -> Any:
    """The value of an integer scalar variable, which then grows by one; OutOfRangeError at `limit`. `tf.count_up_to`."""
    if not is_reference(ref):
        return ref.count_up_to(limit)
    return count_up_to_op(ref, limit=limit, name=name)
