"""`RefVariable`: state that survives a run, what `tf.Variable(...)` and `tf.get_variable` make. Source: TF 1.15.

A variable `v` is four nodes: its storage `v` (VariableV2), its initial value (`v/initial_value`, or below `v/Initializer/`
when a function makes it), `v/Assign`, the initializer, and `v/read` (Identity), which stands for it in expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorboard.compat.proto import variable_pb2

from tfexp.core.dtypes import DType
from tfexp.core.shape import TensorShape, as_shape
from tfexp.graph.collections import GraphKeys
from tfexp.graph.control_flow import cond
from tfexp.graph.convert import IndexedSlices, convert_to_tensor
from tfexp.graph.defaults import get_default_session
from tfexp.graph.graph import Graph
from tfexp.graph.operation import Operation
from tfexp.graph.scope_names import is_exported, strip_name_scope
from tfexp.graph.scopes import colocate_with, device, get_default_graph, init_scope, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import array_identity, scatter, state
from tfexp.ops.initial_values import without_uninitialized_reads
from tfexp.ops.save_slice import SaveSliceInfo as _SaveSliceInfo
from tfexp.ops.slice_assign import assignable_slice
from tfexp.ops.variable_base import Variable, VariableAggregation, VariableSynchronization


class RefVariable(Variable):
    """A reference variable.

    initial_value: a Tensor, what converts to one, or a function without arguments that makes it (then `dtype` must be
        known from its result or be given). Its shape must be fully known unless `validate_shape` is False.
    trainable: also in TRAINABLE_VARIABLES, for optimizers. collections: default [GLOBAL_VARIABLES].
    caching_device: where reads are cached. variable_def: recreate the Python object from a VariableDef instead.
    constraint: a function of the value that optimizers apply after an update. shape: of the variable, where it is to be
        less specific than the initial value's. Source: `tf.Variable` with `use_resource=False`, TF 1.15.
    """

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        collections: Sequence[Any] | None = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        expected_shape: Any = None,
        import_scope: str | None = None,
        constraint: Callable[[Any], Any] | None = None,
        synchronization: VariableSynchronization | None = None,
        aggregation: VariableAggregation | None = None,
        shape: Any = None,
    ):
        self._save_slice_info: _SaveSliceInfo | None = None
        self._caching_device = caching_device
        self._constraint = constraint
        if variable_def is not None:
            if initial_value is not None:
                raise ValueError("variable_def and initial_value are mutually exclusive.")
            self._find_nodes(variable_def, import_scope)
            return
        if initial_value is None:
            raise ValueError("initial_value must be specified.")
        if collections is not None and not isinstance(collections, (list, tuple, set)):
            raise ValueError(
                "collections argument to Variable constructor must be a list, tuple, or set. "
                f"Got {collections} of type {type(collections)}"
            )
        if constraint is not None and not callable(constraint):
            raise ValueError("The `constraint` argument must be a callable.")
        self._synchronization, self._aggregation, self._trainable = validate_synchronization_aggregation_trainable(
            synchronization, aggregation, trainable, name
        )
        # Whatever surrounds the call, a variable is made before the first run: no control inputs, no branch of a cond.
        graph = get_default_graph()
        with init_scope() if graph.building_function else graph.control_dependencies(None):
            self._make_nodes(initial_value, name, dtype, shape, validate_shape)
        keys = [GraphKeys.GLOBAL_VARIABLES] if collections is None else list(collections)
        if self._trainable and GraphKeys.TRAINABLE_VARIABLES not in keys:
            keys.append(GraphKeys.TRAINABLE_VARIABLES)
        graph = self._ref()._graph
        for key in {} if graph.is_eager else dict.fromkeys(keys):  # eager ones live as long as somebody holds them
            graph.add_to_collection(key, self)

    def _make_nodes(self, initial_value: Any, name: str | None, dtype: Any, shape: Any, validate_shape: bool) -> None:
        by_function = callable(initial_value)
        with name_scope(name, "Variable", [] if by_function else [initial_value]) as scope:
            if by_function:
                graph = get_default_graph()
                with graph._attr_scope({"_class": [f"loc:@{scope[:-1]}"]}):
                    with name_scope("Initializer"), device(None):
                        value = convert_to_tensor(initial_value(), name="initial_value", dtype=dtype)
                    self._make_storage(value, scope, dtype, shape, validate_shape)
            else:
                value = convert_to_tensor(initial_value, name="initial_value", dtype=dtype)
                if value.op._get_control_flow_context() is not None:
                    raise ValueError(
                        f"Initializer for variable {scope[:-1]} is from inside a control-flow construct, such as a loop or "
                        "conditional. When creating a variable inside a loop or conditional, use a lambda as the "
                        "initializer."
                    )
                self._make_storage(value, scope, dtype, shape, validate_shape)
            self._initial_value: Any = value
            safe_value = without_uninitialized_reads(value, scope[:-1])
            assigned = state.assign(self._variable, safe_value, validate_shape=validate_shape)
            self._initializer_op: Operation = assigned.op
            where = colocate_with(self._variable.op) if self._caching_device is None else device(self._caching_device)
            with where:
                self._snapshot: Tensor = array_identity.identity(self._variable, name="read")

    def _make_storage(self, value: Tensor, scope: str, dtype: Any, shape: Any, validate_shape: bool) -> None:
        if shape is None:
            shape = value.get_shape() if validate_shape else TensorShape(None)
        else:
            shape = as_shape(shape)
        if validate_shape and not value.get_shape().is_fully_defined():
            raise ValueError(f"initial_value must have a shape specified: {value}")
        self._variable: Tensor = state.variable_v2(shape=shape, dtype=value.dtype.base_dtype, name=scope)

    def _find_nodes(self, variable_def: Any, import_scope: str | None) -> None:
        graph = get_default_graph()

        def find(name: str) -> Any:
            return graph.as_graph_element(f"{import_scope}/{name}" if import_scope else name)

        self._variable = find(variable_def.variable_name)
        self._initializer_op = find(variable_def.initializer_name)
        self._initial_value = find(variable_def.initial_value_name) if variable_def.initial_value_name else None
        self._snapshot = find(variable_def.snapshot_name)
        self._synchronization = VariableSynchronization(variable_def.synchronization)
        self._aggregation = VariableAggregation(variable_def.aggregation)
        # Files written before the field existed do not have it.
        self._trainable = bool(getattr(variable_def, "trainable", True))
        if variable_def.HasField("save_slice_info_def"):
            self._save_slice_info = _SaveSliceInfo(
                save_slice_info_def=variable_def.save_slice_info_def, import_scope=import_scope
            )

    # --- what it is ------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name of its reference, `v:0`."""
        return self._variable.name

    @property
    def _shared_name(self) -> str:
        return self._variable.op.name

    @property
    def initializer(self) -> Operation:
        """The operation that gives the variable its initial value."""
        return self._initializer_op

    @property
    def initial_value(self) -> Any:
        return self._initial_value

    @property
    def dtype(self) -> DType:
        """A reference dtype (`float32_ref`)."""
        return self._variable.dtype

    @property
    def op(self) -> Operation:
        """The node of its storage."""
        return self._variable.op

    @property
    def graph(self) -> Graph:
        return self._variable.graph

    @property
    def device(self) -> str:
        return self._variable.device

    @property
    def shape(self) -> TensorShape:
        return self._variable.get_shape()

    def get_shape(self) -> TensorShape:
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Refine the static shape of the reference and of the value; ValueError if it contradicts what is known."""
        self._variable.set_shape(shape)
        self.value().set_shape(shape)

    @property
    def trainable(self) -> bool:
        return self._trainable

    @property
    def synchronization(self) -> VariableSynchronization:
        return self._synchronization

    @property
    def aggregation(self) -> VariableAggregation:
        return self._aggregation

    @property
    def constraint(self) -> Callable[[Any], Any] | None:
        return self._constraint

    def _set_save_slice_info(self, save_slice_info: _SaveSliceInfo) -> None:
        self._save_slice_info = save_slice_info

    def _get_save_slice_info(self) -> _SaveSliceInfo | None:
        return self._save_slice_info

    def __repr__(self) -> str:
        return f"<tf.Variable {self.name!r} shape={self.get_shape()} dtype={self.dtype.name}>"

    # --- its value -------------------------------------------------------------------------------------------------

    def _as_graph_element(self) -> Tensor:
        return self._variable

    def _ref(self) -> Tensor:
        """The mutable reference, which assignments take."""
        return self._variable

    def value(self) -> Tensor:
        return self._snapshot

    def read_value(self) -> Tensor:
        """A new read, which waits for the control dependencies around it (`value()` was made with the variable)."""
        return array_identity.identity(self._variable, name="read")

    def initialized_value(self) -> Tensor:
        """The value, or the initial value as long as the variable has none: for use in other initial values."""
        with self.graph.control_dependencies(None):
            result: Tensor = cond(state.is_variable_initialized(self), self.read_value, lambda: self.initial_value)
            return result

    def eval(self, session: Any = None) -> Any:
        """The value in `session` (default: the default session), as a NumPy value."""
        return self._variable.eval(session=session)

    def load(self, value: Any, session: Any = None) -> None:
        """Set the value in `session` without adding to the graph; ValueError when there is no session."""
        session = session or get_default_session()
        if session is None:
            raise ValueError("Either session argument should be provided or default session should be established")
        session.run(self._initializer_op, {self._initializer_op.inputs[1]: value})

    # --- assignment ------------------------------------------------------------------------------------------------

    def assign(self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        """Set the value. The result reads as the new value (`read_value=False`: it is the operation)."""
        return _result(state.assign(self._variable, value, use_locking=use_locking, name=name), read_value)

    def assign_add(self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        """Add `delta`, of the variable's shape."""
        return _result(state.assign_add(self._variable, delta, use_locking=use_locking, name=name), read_value)

    def assign_sub(self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        """Subtract `delta`, of the variable's shape."""
        return _result(state.assign_sub(self._variable, delta, use_locking=use_locking, name=name), read_value)

    def __getitem__(self, key: Any) -> Tensor:
        """A slice of the value; its `assign(value, name)` changes that part of the variable."""
        return assignable_slice(self, key)

    def count_up_to(self, limit: int) -> Tensor:
        """The value before it grows by one; OutOfRangeError at `limit`."""
        result: Tensor = state.count_up_to(self._variable, limit=limit)
        return result

    def _scatter(self, function: Any, sparse_delta: Any, use_locking: bool, name: str | None) -> Any:
        if not isinstance(sparse_delta, IndexedSlices):
            raise TypeError(f"sparse_delta is not IndexedSlices: {sparse_delta}")
        return function(self._variable, sparse_delta.indices, sparse_delta.values, use_locking=use_locking, name=name)

    def scatter_update(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Replace the rows that the IndexedSlices names; so `scatter_add` and the others. TypeError for anything else."""
        return self._scatter(scatter.scatter_update, sparse_delta, use_locking, name)

    def scatter_add(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        return self._scatter(scatter.scatter_add, sparse_delta, use_locking, name)

    def scatter_sub(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        return self._scatter(scatter.scatter_sub, sparse_delta, use_locking, name)

    def scatter_mul(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        return self._scatter(scatter.scatter_mul, sparse_delta, use_locking, name)

    def scatter_div(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        return self._scatter(scatter.scatter_div, sparse_delta, use_locking, name)

    def scatter_min(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        return self._scatter(scatter.scatter_min, sparse_delta, use_locking, name)

    def scatter_max(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        return self._scatter(scatter.scatter_max, sparse_delta, use_locking, name)

    def batch_scatter_update(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Replace what the IndexedSlices names, for each element of a batch; see `tf.batch_scatter_update`."""
        return self._scatter(scatter.batch_scatter_update, sparse_delta, use_locking, name)

    def scatter_nd_update(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Replace the elements or slices that `indices`' last dimension names; see `tf.scatter_nd_update`."""
        return scatter.scatter_nd_update(self._variable, indices, updates, use_locking=True, name=name)

    def scatter_nd_add(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        return scatter.scatter_nd_add(self._variable, indices, updates, use_locking=True, name=name)

    def scatter_nd_sub(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        return scatter.scatter_nd_sub(self._variable, indices, updates, use_locking=True, name=name)

    # --- as a proto ------------------------------------------------------------------------------------------------

    def to_proto(self, export_scope: str | None = None) -> Any:
        """As VariableDef, names relative to `export_scope`; None when the variable does not lie below that scope."""
        if not is_exported(self._variable.name, export_scope):
            return None

        def relative(name: str) -> str:
            found: str = strip_name_scope(name, export_scope)
            return found

        variable_def = variable_pb2.VariableDef(
            variable_name=relative(self._variable.name),
            initializer_name=relative(self._initializer_op.name),
            snapshot_name=relative(self._snapshot.name),
            trainable=self._trainable,
            synchronization=self._synchronization.value,
            aggregation=self._aggregation.value,
        )
        if self._initial_value is not None:
            variable_def.initial_value_name = relative(self._initial_value.name)
        if self._save_slice_info is not None:
            variable_def.save_slice_info_def.MergeFrom(self._save_slice_info.to_proto(export_scope=export_scope))
        return variable_def


def _result(assigned: Tensor, read_value: bool) -> Any:
    return assigned if read_value else assigned.op


def validate_synchronization_aggregation_trainable(
    synchronization: VariableSynchronization | None,
    aggregation: VariableAggregation | None,
    trainable: bool | None,
    name: str | None,
) -> tuple[VariableSynchronization, VariableAggregation, bool]:
    """The three, with defaults for None: what is synchronized where it is read is not trained. ValueError for others."""
    how = _checked(synchronization, VariableSynchronization.AUTO, "synchronization", name)
    kind = _checked(aggregation, VariableAggregation.NONE, "aggregation", name)
    return how, kind, how is not VariableSynchronization.ON_READ if trainable is None else bool(trainable)


def _checked(value: Any, default: Any, what: str, name: str | None) -> Any:
    if value is None:
        return default
    if not isinstance(value, type(default)):
        raise ValueError(f"Invalid variable {what} mode: {value} for variable: {name}")
    return value
