"""Resource variables' nodes: handles, reads, assignments. What Python programs hold is `ops.resource_variables`.

A handle's value is the variable's `Ref`, so that updates are those of reference variables (`ops.state`). The difference is
in reading: what `ReadVariableOp` gives does not change any more (see `plan.reads`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.dtypes import DType
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.kernel import Call, Ref
from tfexp.core.merged_shape import merged
from tfexp.core.op import Op, define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.graph.operation import Operation
from tfexp.ops import state
from tfexp.ops.shape_rules import with_rank

KIND = "resource variable"


class ResourceRef(Ref):
    """The storage of a variable that is reached through a handle."""

    __slots__ = ("container",)

    by_handle = True

    def __init__(self, name: str, dtype: DType, shape: TensorShape, container: str):
        super().__init__(name, dtype, shape)
        self.container = container

    def no_value(self) -> str:
        return (
            f"Error while reading resource variable {self.name} from Container: {self.container}. This could mean that the "
            f"variable was uninitialized. Not found: Resource {self.container}/{self.name}/Var does not exist."
        )


def variable_op(signature: str, *, writes: bool = True, uninitialized: bool = False) -> Op:
    """An op on the handles of variables: whether it `writes` to them, and takes `uninitialized` ones."""
    op = define_op(signature, writes_refs=writes, on_variables=True)
    op.allows_uninitialized_input = uninitialized  # TensorFlow's signatures say so of references alone
    return op


var_handle_op = variable_op(
    "VarHandleOp() -> (resource: resource) {container: string = ''; shared_name: string = ''; debug_name: string = ''; "
    "dtype: type; shape: shape; allowed_devices: list(string) = []} #stateful"
)


@var_handle_op.shape
def _() -> TensorShape:
    return TensorShape([])


@var_handle_op.kernel("CPU", handle=True)
def _(ctx: Any, *, shape: TensorShape, dtype: DType, container: str, shared_name: str) -> Ref:
    """The variable of that container and name (the node's own name if `shared_name` is empty), without a value at first."""
    name, container = shared_name or ctx.node_name, container or ctx.default_container
    ref: Ref = ctx.resource(container, name, lambda: ResourceRef(name, dtype.base_dtype, shape, container), KIND)
    return ref


read_variable_op = variable_op("ReadVariableOp(resource: resource) -> (value: dtype) {dtype: type} #stateful", writes=False)


def _check_handle(resource: InputShape, dtype: DType) -> None:
    """ValueError unless it is one handle, of a variable of that type as far as is known."""
    with_rank(resource, 0)
    known = resource.dtype_of_handle
    if known is not None and known.base_dtype != dtype.base_dtype:
        raise ValueError(f"Trying to read variable with wrong dtype. Expected {known._proto_name} got {dtype._proto_name}")


@read_variable_op.shape
def _(resource: InputShape, *, dtype: DType) -> TensorShape:
    _check_handle(resource, dtype)
    return resource.of_handle


@read_variable_op.kernel("CPU", "XLA", reads_variable=True)
def _(ctx: Any, resource: Ref) -> np.ndarray:
    return state.buffer_of(resource)


@read_variable_op.gradient
def _(op: Operation, grad: Any) -> Any:
    return grad


assign_variable_op = variable_op(
    "AssignVariableOp(resource: resource, value: dtype) -> () {dtype: type; validate_shape: bool = false} #stateful",
    uninitialized=True,
)


def _check_value(resource: InputShape, value: InputShape, *, dtype: DType) -> None:
    _check_handle(resource, dtype)
    merged(resource.of_handle, value)


assign_variable_op.shape(_check_value)


def _assign(ref: Ref, value: Any) -> None:
    # Unlike a reference, a handle says what shapes the variable may have, and it may have any of these at any time.
    fits = ref.value is not None and ref.value.shape == np.shape(value)
    if not fits and not ref.shape.is_compatible_with(np.shape(value)):
        raise InvalidArgumentError(
            None,
            None,
            f"Cannot assign a value of shape {dims_text(np.shape(value))} to the variable {ref.name}, whose shape is "
            f"{ref.shape}",
        )
    ref.assign(value)


assign_variable_op.kernel("CPU", "XLA")(lambda ctx, resource, value: _assign(resource, value))
assign_variable_op.bind(lambda node: Call(_assign))


def _define_update(name: str, update: state.Update) -> Op:
    op = variable_op(f"{name}VariableOp(resource: resource, value: dtype) -> () {{dtype: type}} #stateful")
    op.shape(_check_value)

    @op.kernel("CPU", "XLA")
    def _(ctx: Any, resource: Ref, value: Any) -> None:
        update(resource, value)

    op.bind(lambda node: Call(update))
    return op


assign_add_variable_op = _define_update("AssignAdd", state.add)
assign_sub_variable_op = _define_update("AssignSub", state.subtract)


var_is_initialized_op = variable_op(
    "VarIsInitializedOp(resource: resource) -> (is_initialized: bool) #stateful", writes=False, uninitialized=True
)
var_is_initialized_op.not_differentiable()


@var_is_initialized_op.shape
def _(resource: InputShape) -> TensorShape:
    with_rank(resource, 0)
    return TensorShape(())


@var_is_initialized_op.kernel("CPU")
def _(ctx: Any, resource: Ref) -> np.bool_:
    return np.bool_(resource.value is not None)


variable_shape_op = variable_op(
    "VariableShape(input: resource) -> (output: out_type) {out_type: type in [int32,int64] = int32} #stateful", writes=False
)
variable_shape_op.not_differentiable()


@variable_shape_op.shape
def _(input: InputShape) -> TensorShape:
    return TensorShape([input.of_handle.rank])


@variable_shape_op.kernel("CPU")
def _(ctx: Any, input: Ref, *, out_type: DType) -> np.ndarray:
    return np.array(state.buffer_of(input).shape, out_type.as_numpy_dtype)


resource_count_up_to_op = variable_op(
    "ResourceCountUpTo(resource: resource) -> (output: T) {limit: int; T: type in [int32,int64]} #stateful"
)


@resource_count_up_to_op.shape
def _(resource: InputShape) -> TensorShape:
    with_rank(resource.of_handle, 0)
    return TensorShape(())


@resource_count_up_to_op.kernel("CPU")
def _(ctx: Any, resource: Ref, *, limit: int) -> Any:
    """The value before the increment; OutOfRangeError, and no increment, at the limit."""
    return state.count_up(resource, limit)
