"""What `tensorflow.python.ops.resource_variable_ops` has for handles: what is known of them, variables of them alone.

Source: TF 1.15.
"""

from __future__ import annotations

from typing import Any

from tfexp.core.dtypes import as_dtype
from tfexp.core.shape import as_shape
from tfexp.formats.protos.shape_inference import CppShapeInferenceResult
from tfexp.graph.collections import GraphKeys
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.handles import handle_dtype, handle_shape, own_handle
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import executing_eagerly, init_scope, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import resource_state
from tfexp.ops.resource_variables import ResourceVariable
from tfexp.ops.variables import validate_synchronization_aggregation_trainable


def get_resource_handle_data(graph_op: Tensor) -> Any:
    """The HandleData of a resource: the shape and dtype of what is behind it, if these are known."""
    dtype = handle_dtype(graph_op)
    if dtype is None:
        return CppShapeInferenceResult.HandleData()
    known = CppShapeInferenceResult.HandleShapeAndType(shape=handle_shape(graph_op).as_proto(), dtype=dtype.as_datatype_enum)
    return CppShapeInferenceResult.HandleData(is_set=True, shape_and_type=[known])


get_eager_safe_handle_data = get_resource_handle_data


def variable_handle_from_shape_and_dtype(
    shape: Any, dtype: Any, shared_name: str, name: str, graph_mode: bool, extra_handle_data: Any = None
) -> Tensor:
    """The handle of a variable. Its name is shared only in a graph: eager variables are nobody else's."""
    shared = shared_name if graph_mode else ""
    handle: Tensor = resource_state.var_handle_op(shape=shape, dtype=dtype, shared_name=shared, name=name)
    return handle


def eager_safe_variable_handle(initial_value: Tensor, shape: Any, shared_name: str, name: str, graph_mode: bool) -> Tensor:
    """The handle of a variable of the initial value's type."""
    return variable_handle_from_shape_and_dtype(shape, initial_value.dtype.base_dtype, shared_name, name, graph_mode)


def shape_safe_assign_variable_handle(handle: Tensor, shape: Any, value: Any, name: str | None = None) -> Operation:
    """Assign what is behind a handle. ValueError where the value's shape is not compatible with `shape`."""
    value = convert_to_tensor(value)
    shape.assert_is_compatible_with(value.shape)
    assigned: Operation = resource_state.assign_variable_op(handle, value, name=name)
    return assigned


class UninitializedVariable(ResourceVariable):
    """A handle and a read of it: a variable that nothing initializes. It is in the collection of global variables."""

    def __init__(
        self,
        trainable: bool | None = None,
        caching_device: Any = None,
        name: str | None = None,
        shape: Any = None,
        dtype: Any = None,
        constraint: Any = None,
        synchronization: Any = None,
        aggregation: Any = None,
        extra_handle_data: Any = None,
    ):
        self._synchronization, self._aggregation, self._trainable = validate_synchronization_aggregation_trainable(
            synchronization, aggregation, trainable, name
        )
        self._caching_device, self._constraint, self._save_slice_info = caching_device, constraint, None
        self._initial_value = self._initializer_op = self._cached_value = None  # type: ignore[assignment]
        self._shape, self._dtype = as_shape(shape), as_dtype(dtype)
        with init_scope(), name_scope(name, "Variable") as scope:
            self._handle = variable_handle_from_shape_and_dtype(
                self._shape, self._dtype, scope[:-1], scope, not executing_eagerly()
            )
            own_handle(self._handle, self)
            with name_scope("Read"):
                self._graph_element = resource_state.read_variable_op(self._handle, dtype=self._dtype)
        self.graph.add_to_collection(GraphKeys.GLOBAL_VARIABLES, self)


def copy_to_graph_uninitialized(var: Any) -> UninitializedVariable:
    """A variable of the default graph that is as `var`, without its value."""
    return UninitializedVariable(
        trainable=var.trainable,
        name=var._shared_name,
        shape=var.shape,
        dtype=var.dtype,
        constraint=var._constraint,
        synchronization=var.synchronization,
        aggregation=var.aggregation,
    )
