"""What a new node takes from around it: name scope, devices, control dependencies, colocation, attributes, containers.

These are stacks on the graph, entered through context managers. They belong to one thread at a time, as building a graph
does, until `Graph.switch_to_thread_local` gives each thread its own. Source: the context managers of `tf.Graph`, TF 1.15.
"""

from __future__ import annotations

import bisect
import contextlib
import copy
import itertools
import operator
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from tensorboard.compat.proto.attr_value_pb2 import AttrValue
from tensorboard.compat.proto.node_def_pb2 import NodeDef

from tfexp.core.device import DeviceName, DeviceSpecV2, canonical_name
from tfexp.graph.attrs import from_proto
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor

_FIRST_NAME = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*")
_INNER_NAME = re.compile(r"[A-Za-z0-9_.\\/>-]*")

# The attributes that context managers set and set back.
_ENTERED = (
    "_name_stack",
    "_device_stack",
    "_control_stack",
    "_colocation_stack",
    "_container",
    "_attr_scopes",
    "_gradient_overrides",
    "_kernel_labels",
    "_control_flow_context",
    "_variable_creator_stack",
    "_default_original_op",
)

DeviceFunction = Callable[[Operation], str | None]


def check_scope_name(name: str, within: str = "") -> None:
    """ValueError for a name that no scope below that one may have."""
    if not (_INNER_NAME if within else _FIRST_NAME).fullmatch(name):
        raise ValueError(f"{name!r} is not a valid scope name")


class _NameScope(contextlib.ContextDecorator):
    """What `Graph.name_scope` gives. A class, not a generator: one is around every node that is built."""

    def __init__(self, graph: Surroundings, name: str | None):
        self._graph = graph
        self._name = name
        self._left: list[str] = []  # what was there before, at each entry that is still open

    def __enter__(self) -> str:
        graph = self._graph
        self._left.append(graph._enter_name_scope(self._name))
        return graph._name_stack + "/" if graph._name_stack else ""

    def __exit__(self, *exc: object) -> None:
        self._graph._name_stack = self._left.pop()


class Surroundings:
    """The part of `Graph` that keeps those stacks and applies them to new nodes."""

    def __init__(self) -> None:
        super().__init__()
        self._names_in_use: dict[str, int] = {}
        self._name_stack = ""
        self._device_stack: list[str | DeviceFunction | None] = []
        self._control_stack: list[_ControlDependencies] = []
        self._colocation_stack: list[Operation] = []
        self._container = ""
        self._attr_scopes: dict[str, Any] = {}
        self._jit_scopes = itertools.count()
        self._gradient_overrides: dict[str, str] = {}
        self._kernel_labels: dict[str, str] = {}
        self._control_flow_context: Any = None
        self._variable_creator_stack: list[tuple[int, Any]] = []  # (priority, creator), outermost first
        self._default_original_op: Operation | None = None

    @contextlib.contextmanager
    def _variable_creator_scope(self, creator: Callable[..., Any], priority: int = 100) -> Iterator[None]:
        """`creator(next_creator, **kwargs)` makes variables: that of the highest priority, and the innermost, begins."""
        before = self._variable_creator_stack
        self._variable_creator_stack = within = [*before]
        bisect.insort_right(within, (priority, creator), key=operator.itemgetter(0))
        try:
            yield
        finally:
            if self._variable_creator_stack is not within:
                raise RuntimeError("Exiting variable_creator_scope without proper nesting.")
            self._variable_creator_stack = before

    # --- setting them aside --------------------------------------------------------------------------------------

    def _surroundings(self) -> dict[str, Any]:
        """What is around a new node here: the stacks themselves, which the contexts that are open go on with."""
        return {key: vars(self)[key] for key in _ENTERED}

    def _surround(self, surroundings: dict[str, Any]) -> None:
        """Go on with these stacks, until others are put back."""
        vars(self).update(surroundings)

    def as_graph_element(self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True) -> Any:
        raise NotImplementedError

    # --- what a new node takes -----------------------------------------------------------------------------------

    def _node_name(self, name: str) -> str:
        if name.endswith("/"):
            name = name[:-1]
            if not _FIRST_NAME.fullmatch(name):
                raise ValueError(f"{name!r} is not a valid node name")
            return name
        if not (_INNER_NAME if self._name_stack else _FIRST_NAME).fullmatch(name):
            raise ValueError(f"{name!r} is not a valid node name")
        return self._new_name(name)

    def _apply_attr_scopes(self, op_type: str, attrs: dict[str, Any], name: str = "") -> None:
        for key, value in self._attr_scopes.items():
            if key not in attrs:
                value = _native(value(NodeDef(name=name, op=op_type)) if callable(value) else value)
                if value is not None:
                    attrs[key] = value
        if op_type in self._gradient_overrides:
            attrs.setdefault("_gradient_op_type", self._gradient_overrides[op_type])
        if op_type in self._kernel_labels:
            attrs.setdefault("_kernel", self._kernel_labels[op_type])

    def _apply_device_functions(self, op: Operation) -> None:
        """Old libraries (Keras) ask by it where a node would go, with an object that has `device` and `_set_device`."""
        for entry in reversed(self._device_stack):
            if entry is None:
                break
            if callable(entry):
                op._set_device(str(entry(op) or ""))  # a function's answer stands as it is written
            else:
                op._set_device(str(DeviceName.parse(op.device or "").merged_over(DeviceName.parse(entry))))

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

    @property
    def around_functions(self) -> tuple[Any, ...]:
        """What of it the nodes of a function take over that is traced here: the devices."""
        return tuple(self._device_stack)

    # --- entering and leaving ------------------------------------------------------------------------------------

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

    def _new_name(self, name: str) -> str:
        """What a node or a scope is called here that is to have that name."""
        return self.unique_name(name)

    def name_scope(self, name: str | None) -> _NameScope:
        """Prefix the names of new nodes. Yields the scope's name with a trailing slash (`""` at the root).

        A name that ends in a slash re-enters that very scope; None or `""` goes back to the root.
        """
        return _NameScope(self, name)

    def _enter_name_scope(self, name: str | bytes | None) -> str:
        """Go below that name; returns the scope that was left, with which `_name_stack` is to go on. ValueError."""
        if isinstance(name, bytes):
            name = name.decode()
        if name:
            check_scope_name(name, within=self._name_stack)
        old, self._name_stack = self._name_stack, self._scope_below(name)
        return old

    def _scope_below(self, name: str | None) -> str:
        """The scope that `name` opens here, without trailing slash."""
        if not name:
            return ""
        return name[:-1] if name.endswith("/") else self._new_name(name)

    def get_name_scope(self) -> str:
        """The current scope without trailing slash."""
        return self._name_stack

    @contextlib.contextmanager
    def device(self, device_name_or_function: str | DeviceSpecV2 | DeviceFunction | None) -> Iterator[None]:
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
            waited_for = self._current_control_dependencies()
            for item in control_inputs:
                # Composite values (IndexedSlices) wait as their `op` does.
                op = getattr(item, "op", None)
                element = self.as_graph_element(op if isinstance(op, Operation) else item)
                op = element.op if isinstance(element, Tensor) else element
                if op not in waited_for:
                    ops[op] = None
            self._control_stack = [*saved, _ControlDependencies(list(ops))]
        try:
            yield
        finally:
            self._control_stack, self._control_flow_context = saved, saved_context

    def _control_inputs_for(self, inputs: Sequence[Tensor]) -> list[Operation]:
        """The control inputs of a node with these inputs: one that an input waits for already is not repeated."""
        if not self._control_stack:
            return []
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
            handle = getattr(op, "_handle", None)  # a resource variable's, or its first copy's
            if isinstance(op, Tensor) and op._graph.is_eager:
                handle = op
            element = handle if isinstance(handle, Tensor) else self.as_graph_element(getattr(op, "_control_input", op))
            op = element._op if isinstance(element, Tensor) else element
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
    def _original_op(self, op: Operation) -> Iterator[None]:
        """New nodes are made for the sake of `op`, as those of its gradient are, and name it as their `_original_op`."""
        saved, self._default_original_op = self._default_original_op, op
        try:
            yield
        finally:
            self._default_original_op = saved

    @contextlib.contextmanager
    def _attr_scope(self, attributes: dict[str, Any]) -> Iterator[None]:
        """Give new nodes these attributes, native or protos, or what a function makes of a NodeDef with its name and type.

        None removes one that an outer scope gives.
        """
        if not isinstance(attributes, dict):
            raise TypeError("attr_map must be a dictionary mapping strings to AttrValue protocol buffers")
        saved = self._attr_scopes
        merged = {**saved, **{key: _native(one) for key, one in attributes.items()}}
        self._attr_scopes = {key: value for key, value in merged.items() if value is not None}
        try:
            yield
        finally:
            self._attr_scopes = saved

    def _next_jit_scope(self) -> int:
        """The number of a new outermost `tf.xla.experimental.jit_scope`."""
        return next(self._jit_scopes)

    @contextlib.contextmanager
    def gradient_override_map(self, op_type_map: dict[str, str]) -> Iterator[None]:
        """New nodes of these op types use the gradient registered under the mapped name (`tf.RegisterGradient`)."""
        _check_strings("op_type_map", op_type_map)
        saved, self._gradient_overrides = self._gradient_overrides, {**self._gradient_overrides, **op_type_map}
        try:
            yield
        finally:
            self._gradient_overrides = saved

    @contextlib.contextmanager
    def _kernel_label_map(self, op_to_kernel_label_map: dict[str, str]) -> Iterator[None]:
        _check_strings("op_to_kernel_label_map", op_to_kernel_label_map)
        saved, self._kernel_labels = self._kernel_labels, {**self._kernel_labels, **op_to_kernel_label_map}
        try:
            yield
        finally:
            self._kernel_labels = saved

    def switch_to_thread_local(self) -> None:
        """From now on each thread has its own surroundings here: to begin with, the devices and colocation of now.

        Source: `tf.Graph.switch_to_thread_local`.
        """
        if isinstance(self, _OfEachThread):
            return
        at_switch = {name: self.__dict__.pop(name) for name in _ENTERED}
        self._at_switch = {**at_switch, **dict.fromkeys(("_name_stack", "_container"), ""), "_control_stack": []}
        self._at_switch["_control_flow_context"] = None
        self._own = threading.local()
        self._own.__dict__.update({name: copy.copy(value) for name, value in at_switch.items()})
        self.__class__ = type(type(self).__name__, (_OfEachThread, type(self)), {})

    def _get_control_flow_context(self) -> Any:
        return self._control_flow_context

    def _set_control_flow_context(self, context: Any) -> None:
        self._control_flow_context = context


def _own_attribute(name: str) -> property:
    def read(self: Any) -> Any:
        own = self._own.__dict__
        if name not in own:
            own[name] = copy.copy(self._at_switch[name])
        return own[name]

    def write(self: Any, value: Any) -> None:
        self._own.__dict__[name] = value

    return property(read, write)


class _OfEachThread:
    """What a graph's class becomes by `switch_to_thread_local`: its stacks are those of the current thread.

    Put before the class rather than into it, so that graphs of one thread, which are built all the time, do not pay for it.
    """


for _name in _ENTERED:
    setattr(_OfEachThread, _name, _own_attribute(_name))


class _ControlDependencies:
    """One `control_dependencies` block: what to wait for, and the nodes made inside it (they wait already)."""

    __slots__ = ("ops", "seen")

    def __init__(self, ops: list[Operation]):
        self.ops = ops
        self.seen: set[Operation] = set()


def _native(value: Any) -> Any:
    return from_proto(value)[1] if isinstance(value, AttrValue) else value


def _check_strings(name: str, mapping: Any) -> None:
    if not isinstance(mapping, dict) or not all(isinstance(text, str) for pair in mapping.items() for text in pair):
        raise TypeError(f"{name} must be a dictionary mapping strings to strings")
