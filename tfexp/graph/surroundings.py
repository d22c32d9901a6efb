"""What a new node takes from around it: name scope, devices, control dependencies, colocation, attributes, containers.

These are stacks on the graph, entered through context managers. They belong to one thread at a time, as building a graph
does. Source: the context managers of `tf.Graph`, TF 1.15.
"""

from __future__ import annotations

import bisect
import contextlib
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from tfexp.core.device import DeviceName, DeviceSpecV2, canonical_name
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor

_FIRST_NAME = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*")
_INNER_NAME = re.compile(r"[A-Za-z0-9_.\\/>-]*")

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
        self._gradient_overrides: dict[str, str] = {}
        self._control_flow_context: Any = None
        self._variable_creator_stack: list[tuple[int, Any]] = []  # (priority, creator), outermost first

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

    def _apply_attr_scopes(self, op_type: str, attrs: dict[str, Any]) -> None:
        for key, value in self._attr_scopes.items():
            attrs.setdefault(key, value)
        if op_type in self._gradient_overrides:
            attrs.setdefault("_gradient_op_type", self._gradient_overrides[op_type])

    def _apply_device_functions(self, op: Operation) -> None:
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
    def _attr_scope(self, attributes: dict[str, Any]) -> Iterator[None]:
        """Give new nodes these native attributes."""
        saved, self._attr_scopes = self._attr_scopes, {**self._attr_scopes, **attributes}
        try:
            yield
        finally:
            self._attr_scopes = saved

    @contextlib.contextmanager
    def gradient_override_map(self, op_type_map: dict[str, str]) -> Iterator[None]:
        """New nodes of these op types use the gradient registered under the mapped name (`tf.RegisterGradient`)."""
        if not isinstance(op_type_map, dict) or not all(
            isinstance(text, str) for pair in op_type_map.items() for text in pair
        ):
            raise TypeError("op_type_map must be a dictionary mapping strings to strings")
        saved, self._gradient_overrides = self._gradient_overrides, {**self._gradient_overrides, **op_type_map}
        try:
            yield
        finally:
            self._gradient_overrides = saved

    def _get_control_flow_context(self) -> Any:
        return self._control_flow_context

    def _set_control_flow_context(self, context: Any) -> None:
        self._control_flow_context = context


class _ControlDependencies:
    """One `control_dependencies` block: what to wait for, and the nodes made inside it (they wait already)."""

    __slots__ = ("ops", "seen")

    def __init__(self, ops: list[Operation]):
        self.ops = ops
        self.seen: set[Operation] = set()
