"""`Graph`: operations in creation order, unique names, and the state that a new node takes from its surroundings.

The surroundings (name scope, devices, control dependencies, colocation, container, attributes, control-flow context) are
stacks on the graph, entered through the context managers below. They belong to one thread at a time, as building a
graph does. Source: `tf.Graph`, TF 1.15.
"""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from tensorboard.compat.proto import graph_pb2, versions_pb2

from tfexp.core.device import DeviceName, DeviceSpec, canonical_name
from tfexp.core.dtypes import DType
from tfexp.core.op import find_op, output_types
from tfexp.graph import defaults, shape_inference
from tfexp.graph.collections import Collections
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor

# What TensorFlow 1.15 writes into GraphDef.versions.
PRODUCER_VERSION = 134

_FIRST_NAME = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*")
_INNER_NAME = re.compile(r"[A-Za-z0-9_.\\/>-]*")

DeviceFunction = Callable[[Operation], str | None]


class Graph(Collections):
    """A dataflow graph. Build it inside `with graph.as_default():`, or use the process's default graph."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.RLock()
        self._operations: list[Operation] = []
        self._by_name: dict[str, Operation] = {}
        self._names_in_use: dict[str, int] = {}
        self._next_id = 1
        self._version = 0
        self._mutations = 0  # counts edits of existing nodes, which invalidate plans as new nodes do not
        self._finalized = False
        self._seed: int | None = None
        self._name_stack = ""
        self._device_stack: list[str | DeviceFunction | None] = []
        self._control_stack: list[_ControlDependencies] = []
        self._colocation_stack: list[Operation] = []
        self._container = ""
        self._attr_scopes: dict[str, Any] = {}
        self._gradient_overrides: dict[str, str] = {}
        self._kernel_labels: dict[str, str] = {}
        self._control_flow_context: Any = None
        self._unfeedable: set[Tensor] = set()
        self._unfetchable: set[Operation] = set()

    # --- nodes -------------------------------------------------------------------------------------------------

    def create_op(
        self,
        op_type: str,
        inputs: Sequence[Tensor],
        attrs: dict[str, Any] | None = None,
        name: str | None = None,
        output_dtypes: Sequence[DType] | None = None,
        compute_shapes: bool = True,
    ) -> Operation:
        """Add a node of a registered op. `attrs` are native and complete (see `graph.apply` for calls by signature).

        `name` is made unique below the current name scope; a trailing slash says that it is whole and taken as it is.
        Raises RuntimeError when the graph is finalized, ValueError for bad names and for shapes that cannot work.
        """
        self._check_not_finalized()
        op_def = find_op(op_type)
        if op_def is None:
            raise ValueError(f"Op type not registered {op_type!r}: tfexp has no such op")
        for tensor in inputs:
            if tensor.graph is not self:
                raise ValueError(f"{tensor} must be from the same graph as the node {name or op_type!r} ({self})")
        with self._lock:
            attrs = dict(attrs or {})
            node_name = self._node_name(name or op_type)
            self._apply_attr_scopes(op_type, attrs)
            if self._container and op_def.is_stateful and attrs.get("container") == "":
                attrs["container"] = self._container
            op = Operation(
                self,
                op_def,
                node_name,
                inputs,
                self._control_inputs_for(inputs),
                attrs,
                output_dtypes if output_dtypes is not None else output_types(op_def, attrs),
                self._next_id,
            )
            try:
                if compute_shapes:
                    shape_inference.infer(op)
            except ValueError:
                self._forget(op)
                raise
            self._add(op)
            self._apply_devices(op)
            self._apply_colocation(op)
            self._enter_control_flow(op)
            for dependencies in self._control_stack:
                dependencies.seen.add(op)
        return op

    def _node_name(self, name: str) -> str:
        if name.endswith("/"):
            name = name[:-1]
            if not _FIRST_NAME.fullmatch(name):
                raise ValueError(f"{name!r} is not a valid node name")
            return name
        if not (_INNER_NAME if self._name_stack else _FIRST_NAME).fullmatch(name):
            raise ValueError(f"{name!r} is not a valid node name")
        return self.unique_name(name)

    def _add(self, op: Operation) -> None:
        if op.name in self._by_name:
            raise ValueError(f"cannot add an op with name {op.name!r}: the graph has one already")
        self._operations.append(op)
        self._by_name[op.name] = op
        self._next_id += 1
        self._version += 1

    def _forget(self, op: Operation) -> None:
        """Undo what constructing `op` told its inputs: the node does not come to be."""
        for tensor in op._inputs:
            tensor._consumers.remove(op)
        for before in op._control_inputs:
            before._control_outputs.remove(op)

    def _discard_from(self, position: int) -> None:
        """Take back the newest nodes: what failed as a whole leaves nothing behind."""
        for op in reversed(self._operations[position:]):
            self._forget(op)
            del self._by_name[op.name]
        del self._operations[position:]
        self._nodes_changed()

    def _apply_attr_scopes(self, op_type: str, attrs: dict[str, Any]) -> None:
        for key, value in self._attr_scopes.items():
            attrs.setdefault(key, value)
        if op_type in self._gradient_overrides:
            attrs.setdefault("_gradient_op_type", self._gradient_overrides[op_type])
        if op_type in self._kernel_labels:
            attrs.setdefault("_kernel", self._kernel_labels[op_type])

    def _apply_devices(self, op: Operation) -> None:
        for entry in reversed(self._device_stack):
            if entry is None:
                break
            if callable(entry):
                op._device = str(entry(op) or "")  # a function's answer stands as it is written
            else:
                op._device = str(DeviceName.parse(op._device).merged_over(DeviceName.parse(entry)))

    def _apply_colocation(self, op: Operation) -> None:
        if not self._colocation_stack:
            return
        groups: set[bytes] = set()
        for other in self._colocation_stack:
            groups.update(other.colocation_groups())
            if other.device:
                op._device = other.device
        op._attrs["_class"] = [group.decode() for group in sorted(groups)]

    def _enter_control_flow(self, op: Operation) -> None:
        op._control_flow_context = self._control_flow_context
        if self._control_flow_context is not None:
            self._control_flow_context.add_op(op)

    def _nodes_changed(self) -> None:
        self._mutations += 1

    def _shapes_changed(self) -> None:
        self._mutations += 1

    def _check_not_finalized(self) -> None:
        if self._finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")

    def finalize(self) -> None:
        """Make the graph read-only; building into it is a RuntimeError from now on."""
        self._finalized = True

    @property
    def finalized(self) -> bool:
        return self._finalized

    def _unsafe_unfinalize(self) -> None:
        self._finalized = False

    @property
    def version(self) -> int:
        """Grows with every node that is added."""
        return self._version

    @property
    def seed(self) -> int | None:
        """The graph-level random seed (`tf.set_random_seed`)."""
        return self._seed

    @seed.setter
    def seed(self, seed: int | None) -> None:
        self._seed = seed

    @property
    def _last_id(self) -> int:
        return self._next_id - 1

    @property
    def building_function(self) -> bool:
        return False

    @property
    def graph_def_versions(self) -> versions_pb2.VersionDef:
        return versions_pb2.VersionDef(producer=PRODUCER_VERSION)

    def get_operations(self) -> list[Operation]:
        return list(self._operations)

    def prevent_feeding(self, tensor: Tensor) -> None:
        self._unfeedable.add(tensor)

    def is_feedable(self, tensor: Tensor) -> bool:
        return tensor not in self._unfeedable

    def prevent_fetching(self, op: Operation) -> None:
        self._unfetchable.add(op)

    def is_fetchable(self, tensor_or_op: Tensor | Operation) -> bool:
        op = tensor_or_op.op if isinstance(tensor_or_op, Tensor) else tensor_or_op
        return op not in self._unfetchable

    # --- finding elements ----------------------------------------------------------------------------------------

    def as_graph_element(self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True) -> Any:
        """The Tensor or Operation that `obj` is, names, or converts to (variables, through `_as_graph_element`).

        Raises ValueError for a malformed name or another graph's element, KeyError for a name that the graph does not
        have, TypeError for anything else.
        """
        wanted = " or ".join(["Tensor"] * allow_tensor + ["Operation"] * allow_operation)
        if not wanted:
            raise ValueError("allow_tensor and allow_operation can't both be False.")
        as_element = getattr(obj, "_as_graph_element", None)
        if as_element is not None:
            obj = as_element()
        if isinstance(obj, (str, bytes)):
            name = obj if isinstance(obj, str) else obj.decode()
            if ":" in name and allow_tensor:
                return self._tensor_named(name)
            if ":" not in name and allow_operation:
                if name not in self._by_name:
                    raise KeyError(f"The name {name!r} refers to an Operation not in the graph.")
                return self._by_name[name]
            raise self._wrong_kind_of_name(name, wanted)
        if (isinstance(obj, Tensor) and allow_tensor) or (isinstance(obj, Operation) and allow_operation):
            if obj.graph is not self:
                kind = "Tensor" if isinstance(obj, Tensor) else "Operation"
                raise ValueError(f"{kind} {obj} is not an element of this graph.")
            return obj
        raise TypeError(f"Can not convert a {type(obj).__name__} into a {wanted}.")

    def _tensor_named(self, name: str) -> Tensor:
        op_name, _, index_text = name.rpartition(":")
        if not op_name or not index_text.isdigit() or ":" in op_name:
            raise ValueError(
                f"The name {name!r} looks a like a Tensor name, but is not a valid one. Tensor names must be of the form "
                '"<op_name>:<output_index>".'
            )
        op = self._by_name.get(op_name)
        if op is None:
            raise KeyError(
                f"The name {name!r} refers to a Tensor which does not exist. The operation, {op_name!r}, does not exist in "
                "the graph."
            )
        if int(index_text) >= len(op.outputs):
            raise KeyError(
                f"The name {name!r} refers to a Tensor which does not exist. The operation, {op_name!r}, exists but only "
                f"has {len(op.outputs)} outputs."
            )
        return op.outputs[int(index_text)]

    def _wrong_kind_of_name(self, name: str, wanted: str) -> ValueError:
        if ":" in name:
            return ValueError(f"Name {name!r} appears to refer to a Tensor, not a {wanted}.")
        if name in self._by_name:
            return ValueError(
                f"The name {name!r} refers to an Operation, not a {wanted}. Tensor names must be of the form "
                '"<op_name>:<output_index>".'
            )
        return ValueError(
            f"The name {name!r} looks like an (invalid) Operation name, not a {wanted}. Tensor names must be of the form "
            '"<op_name>:<output_index>".'
        )

    def get_operation_by_name(self, name: str) -> Operation:
        if not isinstance(name, str):
            raise TypeError(f"Operation names are strings (or similar), not {type(name).__name__}.")
        operation: Operation = self.as_graph_element(name, allow_tensor=False)
        return operation

    def get_tensor_by_name(self, name: str) -> Tensor:
        if not isinstance(name, str):
            raise TypeError(f"Tensor names are strings (or similar), not {type(name).__name__}.")
        tensor: Tensor = self.as_graph_element(name, allow_operation=False)
        return tensor

    # --- surroundings --------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def as_default(self) -> Iterator[Graph]:
        """Make this the default graph of the current thread inside the `with` block."""
        with defaults.graph_stack.pushed(self):
            yield self

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """`name` below the current scope, with `_1`, `_2`, … where taken. Names differ only by case count as equal."""
        if self._name_stack:
            name = f"{self._name_stack}/{name}"
        key = name.lower()
        count = self._names_in_use.get(key, 0)
        if mark_as_used:
            self._names_in_use[key] = count + 1
        if count == 0:
            return name
        while f"{key}_{count}" in self._names_in_use:
            count += 1
        if mark_as_used:
            self._names_in_use[f"{key}_{count}"] = 1
            self._names_in_use[key] = count + 1
        return f"{name}_{count}"

    @contextlib.contextmanager
    def name_scope(self, name: str | None) -> Iterator[str]:
        """Prefix the names of new nodes. Yields the scope's name with a trailing slash (`""` at the root).

        A name that ends in a slash re-enters that very scope; None or `""` goes back to the root.
        """
        if name:
            valid = _INNER_NAME if self._name_stack else _FIRST_NAME
            if not valid.fullmatch(name):
                raise ValueError(f"{name!r} is not a valid scope name")
        old = self._name_stack
        if not name:
            self._name_stack = ""
        elif name.endswith("/"):
            self._name_stack = name[:-1]
        else:
            self._name_stack = self.unique_name(name)
        try:
            yield self._name_stack + "/" if self._name_stack else ""
        finally:
            self._name_stack = old

    def get_name_scope(self) -> str:
        """The current scope without trailing slash."""
        return self._name_stack

    @contextlib.contextmanager
    def device(self, device_name_or_function: str | DeviceSpec | DeviceFunction | None) -> Iterator[None]:
        """Put new nodes on a device: a (partial) name, or a function of the node; None ignores the outer ones."""
        entry = device_name_or_function
        if not callable(entry) and entry is not None:
            entry = canonical_name(entry)
        self._device_stack.append(entry)
        try:
            yield
        finally:
            self._device_stack.pop()

    @contextlib.contextmanager
    def control_dependencies(self, control_inputs: Iterable[Any] | None) -> Iterator[None]:
        """New nodes run after `control_inputs` (ops, tensors, variables). None clears the surroundings' dependencies."""
        saved, saved_context = self._control_stack, self._control_flow_context
        if control_inputs is None:
            self._control_stack, self._control_flow_context = [], None
        else:
            ops: dict[Operation, None] = {}
            for item in control_inputs:
                # Composite values (IndexedSlices) wait as their `op` does.
                op = getattr(item, "op", None)
                element = self.as_graph_element(op if isinstance(op, Operation) else item)
                ops[element.op if isinstance(element, Tensor) else element] = None
            self._control_stack = [*saved, _ControlDependencies(list(ops))]
        try:
            yield
        finally:
            self._control_stack, self._control_flow_context = saved, saved_context

    def _control_inputs_for(self, inputs: Sequence[Tensor]) -> list[Operation]:
        """The control inputs of a node with these inputs: one that an input waits for already is not repeated."""
        input_ops = {tensor.op for tensor in inputs}
        found: dict[Operation, None] = {}
        for dependencies in self._control_stack:
            if dependencies.seen.isdisjoint(input_ops):
                found.update((op, None) for op in dependencies.ops if op not in input_ops)
        return list(found)

    def _current_control_dependencies(self) -> set[Operation]:
        return {op for dependencies in self._control_stack for op in dependencies.ops}

    @contextlib.contextmanager
    def colocate_with(self, op: Any, ignore_existing: bool = False) -> Iterator[None]:
        """Put new nodes where `op` (an op, tensor or variable; None: nowhere in particular) is."""
        if op is None and not ignore_existing:
            raise ValueError("Trying to reset colocation (op is None) but ignore_existing is not True")
        if op is not None and not isinstance(op, Operation):
            element = self.as_graph_element(op)
            op = element.op if isinstance(element, Tensor) else element
        # Colocation is stronger than the devices around it.
        saved_devices, self._device_stack = self._device_stack, []
        saved = self._colocation_stack
        self._colocation_stack = [] if ignore_existing else list(saved)
        if op is not None:
            self._colocation_stack.append(op)
        try:
            yield
        finally:
            self._device_stack, self._colocation_stack = saved_devices, saved

    @contextlib.contextmanager
    def container(self, container_name: str) -> Iterator[str]:
        """Keep the state of new stateful nodes (variables, queues) in that resource container."""
        saved, self._container = self._container, container_name
        try:
            yield container_name
        finally:
            self._container = saved

    @contextlib.contextmanager
    def _attr_scope(self, attributes: dict[str, Any]) -> Iterator[None]:
        """Give new nodes these native attributes; None removes one that an outer scope gives."""
        saved = self._attr_scopes
        merged = {**saved, **attributes}
        self._attr_scopes = {key: value for key, value in merged.items() if value is not None}
        try:
            yield
        finally:
            self._attr_scopes = saved

    @contextlib.contextmanager
    def gradient_override_map(self, op_type_map: dict[str, str]) -> Iterator[None]:
        """New nodes of these op types use the gradient registered under the mapped name (`tf.RegisterGradient`)."""
        if not isinstance(op_type_map, dict):
            raise TypeError("op_type_map must be a dictionary mapping strings to strings")
        saved, self._gradient_overrides = self._gradient_overrides, {**self._gradient_overrides, **op_type_map}
        try:
            yield
        finally:
            self._gradient_overrides = saved

    @contextlib.contextmanager
    def _kernel_label_map(self, op_to_kernel_label_map: dict[str, str]) -> Iterator[None]:
        saved, self._kernel_labels = self._kernel_labels, {**self._kernel_labels, **op_to_kernel_label_map}
        try:
            yield
        finally:
            self._kernel_labels = saved

    def _get_control_flow_context(self) -> Any:
        return self._control_flow_context

    def _set_control_flow_context(self, context: Any) -> None:
        self._control_flow_context = context

    def _session_for(self, session: Any, purpose: str, method: str) -> Any:
        """`session`, or the default session; ValueError when there is none or it runs another graph."""
        if session is None:
            session = defaults.session_stack.current
            if session is None:
                raise ValueError(
                    f"Cannot {purpose}: No default session is registered. Use `with sess.as_default()` or pass an explicit "
                    f"session to `{method}(session=sess)`"
                )
            if session.graph is not self:
                raise ValueError(
                    f"Cannot use the default session to {purpose}: the tensor's graph is different from the session's "
                    f"graph. Pass an explicit session to `{method}(session=sess)`."
                )
        elif session.graph is not self:
            raise ValueError(
                f"Cannot use the given session to {purpose}: the tensor's graph is different from the session's graph."
            )
        return session

    # --- GraphDef ------------------------------------------------------------------------------------------------

    def as_graph_def(self, from_version: int | None = None, add_shapes: bool = False) -> graph_pb2.GraphDef:
        """The graph as a GraphDef; with `from_version`, only the nodes that came since; `add_shapes`: `_output_shapes`."""
        graph_def = graph_pb2.GraphDef(versions=self.graph_def_versions)
        graph_def.library.SetInParent()
        with self._lock:
            for op in self._operations[from_version or 0 :]:
                node = graph_def.node.add()
                node.CopyFrom(op.node_def)
                if add_shapes and op.outputs:
                    shapes = node.attr["_output_shapes"].list.shape
                    shapes.extend(t.get_shape().as_proto() for t in op.outputs)
        return graph_def


class _ControlDependencies:
    """One `control_dependencies` block: what to wait for, and the nodes made inside it (they wait already)."""

    __slots__ = ("ops", "seen")

    def __init__(self, ops: list[Operation]):
        self.ops = ops
        self.seen: set[Operation] = set()
