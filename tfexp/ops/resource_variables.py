"""`ResourceVariable`: a variable behind a handle, what `use_resource=True` makes. Source: TF 1.15.

A variable `v` is its handle `v` (VarHandleOp), its initial value below `v/Initializer/`, `v/Assign`, the initializer,
`v/IsInitialized/VarIsInitializedOp`, and `v/Read/ReadVariableOp`, which is run where the variable itself is fetched. Each
use in an expression reads it anew. A read is a value: later assignments do not change it.
"""

from __future__ import annotations

import contextlib
from typing import Any

from tensorboard.compat.proto import variable_pb2

from tfexp.core.dtypes import DType
from tfexp.core.shape import TensorShape, as_shape
from tfexp.graph import tape
from tfexp.graph.convert import IndexedSlices, convert_to_tensor
from tfexp.graph.handles import handle_shape
from tfexp.graph.operation import Operation
from tfexp.graph.scope_names import is_exported, strip_name_scope
from tfexp.graph.scopes import colocate_with, control_dependencies, device, get_default_graph, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import array_identity, resource_gather, resource_state, scatter
from tfexp.ops.initial_values import without_uninitialized_reads
from tfexp.ops.variables import RefVariable


class ResourceVariable(RefVariable):
    """A variable behind a handle. Arguments and most members are those of `RefVariable`.

    `handle` is the resource, `dtype` the plain type of its values. What assigns gives a variable whose value is read after
    the assignment, where it is used at all. Source: `tf.Variable` with `use_resource=True`, TF 1.15.
    """

    _handle: Tensor
    _cached_value: Tensor | None
    _graph_element: Tensor

    def _make_nodes(self, initial_value: Any, name: str | None, dtype: Any, shape: Any, validate_shape: bool) -> None:
        by_function = callable(initial_value)
        with name_scope(name, "Variable", [] if by_function else [initial_value]) as scope:
            graph = get_default_graph()
            with graph._attr_scope({"_class": [f"loc:@{scope[:-1]}"]}):
                with name_scope("Initializer"), device(None):
                    made = initial_value() if by_function else initial_value
                    value = convert_to_tensor(made, name="initial_value", dtype=dtype)
                self._shape = value.get_shape() if shape is None else as_shape(shape)
                self._dtype = value.dtype.base_dtype
                self._handle = resource_state.var_handle_op(
                    shape=self._shape, dtype=self._dtype, shared_name=scope[:-1], name=scope
                )
            if value.op._get_control_flow_context() is not None:
                raise ValueError(
                    f"Initializer for variable {scope[:-1]} is from inside a control-flow construct, such as a loop or "
                    "conditional. When creating a variable inside a loop or conditional, use a lambda as the initializer."
                )
            self._initial_value: Any = value
            with name_scope("IsInitialized"):
                resource_state.var_is_initialized_op(self._handle)
            with name_scope("Assign") as assign, colocate_with(None, ignore_existing=True), device(self._handle.device):
                safe_value = without_uninitialized_reads(value, scope[:-1])
                self._initializer_op: Operation = resource_state.assign_variable_op(self._handle, safe_value, name=assign)
            with name_scope("Read"):
                with device(self._handle.device):
                    self._graph_element = resource_state.read_variable_op(self._handle, dtype=self._dtype)
                self._cached_value = None
                if self._caching_device is not None:
                    with colocate_with(None, ignore_existing=True), device(self._caching_device):
                        self._cached_value = array_identity.identity(self._graph_element)

    def _find_nodes(self, variable_def: Any, import_scope: str | None) -> None:
        graph = get_default_graph()
        super()._find_nodes(variable_def, import_scope)
        self._handle, snapshot = self._variable, self._snapshot
        if self._handle.op.type != "VarHandleOp":
            raise ValueError(f"Trying to restore Variable as ResourceVariable: {self._handle.name} is no handle")
        del self._variable, self._snapshot
        self._shape, self._dtype = handle_shape(self._handle), self._handle.op.attrs["dtype"]
        self._cached_value = None if snapshot.op.type == "ReadVariableOp" else snapshot
        self._graph_element = (
            snapshot
            if self._cached_value is None
            else graph.get_tensor_by_name(f"{self._handle.op.name}/Read/ReadVariableOp:0")
        )

    # --- what it is ------------------------------------------------------------------------------------------------

    @property
    def handle(self) -> Tensor:
        """The resource that stands for the variable itself."""
        return self._handle

    @property
    def name(self) -> str:
        return f"{self._shared_name}:0"

    @property
    def _shared_name(self) -> str:
        return self._handle._op.name

    @property
    def dtype(self) -> DType:
        return self._dtype

    @property
    def op(self) -> Operation:
        """The node of its handle."""
        return self._handle._op

    @property
    def graph(self) -> Any:
        return self._handle._graph

    @property
    def device(self) -> str:
        return self._handle.device

    @property
    def shape(self) -> TensorShape:
        return self._shape

    def set_shape(self, shape: Any) -> None:
        self._shape = self._shape.merge_with(shape)

    @property
    def create(self) -> Operation:
        """The initializer, as resources call it."""
        return self._initializer_op

    # --- its value -------------------------------------------------------------------------------------------------

    def _as_graph_element(self) -> Tensor:
        return self._graph_element

    def _ref(self) -> Tensor:
        """The handle: gradients are taken for it."""
        return self._handle

    def _read(self) -> Tensor:
        where: Any = contextlib.ExitStack()
        with where:
            if self._caching_device is not None:
                where.enter_context(colocate_with(None, ignore_existing=True))
                where.enter_context(device(self._caching_device))
            tape.variable_accessed(self)
            value: Tensor = resource_state.read_variable_op(self._handle, dtype=self._dtype)
            value.set_shape(self._shape)
            return value

    def value(self) -> Tensor:
        """A new read, or the one that is cached."""
        if self._cached_value is not None:
            return self._cached_value
        with colocate_with(None, ignore_existing=True):
            return self._read()

    def read_value(self) -> Tensor:
        """A new read, which waits for the control dependencies around it."""
        with name_scope("Read"):
            value = self._read()
        return array_identity.identity(value)

    def sparse_read(self, indices: Any, name: str | None = None) -> Tensor:
        """The rows at `indices`, without a look at the others. Source: what `tf.gather` does with such variables."""
        tape.variable_accessed(self)
        with name_scope(name, "Gather") as scope:
            rows: Tensor = resource_gather.resource_gather_op(self._handle, indices, dtype=self._dtype, name=scope)
            return rows

    def gather_nd(self, indices: Any, name: str | None = None) -> Tensor:
        """The elements or slices whose coordinates stand in the last axis of `indices`."""
        tape.variable_accessed(self)
        with name_scope(name, "GatherNd") as scope:
            found = resource_gather.resource_gather_nd_op(self._handle, indices, dtype=self._dtype, name=scope)
        return array_identity.identity(found)

    def is_initialized(self, name: str | None = None) -> Tensor:
        """A bool scalar: whether the variable has a value."""
        known: Tensor = resource_state.var_is_initialized_op(self._handle, name=name)
        return known

    def eval(self, session: Any = None) -> Any:
        return self._as_graph_element().eval(session=session)

    # --- assignment ------------------------------------------------------------------------------------------------

    def _lazy_read(self, op: Operation) -> UnreadVariable:
        return UnreadVariable(self, op)

    def _assigned(self, op: Any, value: Any, name: str | None, read_value: bool) -> Any:
        current, home = get_default_graph(), self._handle._graph
        if current is not home and not current.building_function and not isinstance(value, Tensor):
            with home.as_default():
                return self._assigned(op, value, name, read_value)
        tensor = convert_to_tensor(value, dtype=self._dtype)
        self._shape.assert_is_compatible_with(tensor.get_shape())
        done = op(self._handle, tensor, name=name)
        return self._lazy_read(done) if read_value else done

    def assign(self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        """Set the value. The result reads as the new value (`read_value=False`: it is the operation)."""
        return self._assigned(resource_state.assign_variable_op, value, name, read_value)

    def assign_add(self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        return self._assigned(resource_state.assign_add_variable_op, delta, name, read_value)

    def assign_sub(self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        return self._assigned(resource_state.assign_sub_variable_op, delta, name, read_value)

    def __bool__(self) -> bool:
        return bool(self.read_value())

    def numpy(self) -> Any:
        raise NotImplementedError("numpy() is only available when eager execution is enabled.")

    def __copy__(self) -> ResourceVariable:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        raise NotImplementedError("__deepcopy__() is only available when eager execution is enabled: a copy needs a name")

    def count_up_to(self, limit: int) -> Tensor:
        result: Tensor = resource_state.resource_count_up_to_op(self._handle, limit=limit, T=self._dtype)
        return result

    def _scatter(self, function: Any, sparse_delta: Any, use_locking: bool, name: str | None) -> Any:
        if not isinstance(sparse_delta, IndexedSlices):
            raise TypeError(f"sparse_delta is not IndexedSlices: {sparse_delta}")
        return function(self, sparse_delta.indices, sparse_delta.values, name=name)

    def scatter_nd_update(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        return scatter.scatter_nd_update(self, indices, updates, name=name)

    def scatter_nd_add(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        return scatter.scatter_nd_add(self, indices, updates, use_locking=True, name=name)

    def scatter_nd_sub(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        return scatter.scatter_nd_sub(self, indices, updates, use_locking=True, name=name)

    # --- as a proto ------------------------------------------------------------------------------------------------

    def to_proto(self, export_scope: str | None = None) -> Any:
        if not is_exported(self.name, export_scope):
            return None

        def relative(name: str) -> str:
            found: str = strip_name_scope(name, export_scope)
            return found

        snapshot = self._as_graph_element() if self._cached_value is None else self._cached_value
        variable_def = variable_pb2.VariableDef(
            variable_name=relative(self.name),
            initializer_name=relative(self._initializer_op.name),
            snapshot_name=relative(snapshot.name),
            is_resource=True,
            trainable=self._trainable,
            synchronization=self._synchronization.value,
            aggregation=self._aggregation.value,
        )
        if self._initial_value is not None:
            variable_def.initial_value_name = relative(self._initial_value.name)
        if self._save_slice_info is not None:
            variable_def.save_slice_info_def.MergeFrom(self._save_slice_info.to_proto(export_scope=export_scope))
        return variable_def


class UnreadVariable(ResourceVariable):
    """A variable after an assignment: its `op` is the assignment, and every read waits for it."""

    def __init__(self, variable: ResourceVariable, assigned: Operation):
        self._parent_op = assigned
        self._handle, self._shape, self._dtype = variable._handle, variable._shape, variable._dtype
        self._initial_value = variable._initial_value
        self._initializer_op = variable._initializer_op
        self._trainable, self._constraint = variable._trainable, variable._constraint
        self._synchronization, self._aggregation = variable._synchronization, variable._aggregation
        self._save_slice_info = variable._save_slice_info
        self._caching_device, self._cached_value = None, None
        with control_dependencies([assigned]):
            self._read_at_once = self._read()

    def _as_graph_element(self) -> Tensor:
        return self._read_at_once

    @property
    def name(self) -> str:
        return self._parent_op.name

    @property
    def op(self) -> Operation:
        return self._parent_op

    def value(self) -> Tensor:
        with control_dependencies([self._parent_op]):
            return self._read()

    def read_value(self) -> Tensor:
        with control_dependencies([self._parent_op]):
            return self._read()


def is_resource_variable(value: Any) -> bool:
    """Whether it is a variable behind a handle."""
    return isinstance(value, ResourceVariable)
