"""`Graph`: operations in creation order, unique names, and the state that a new node takes from its surroundings.

What is around a new node (scopes, devices, dependencies) is in `surroundings`, finding nodes by name in `elements`, named
lists in `collections`. Source: `tf.Graph`, TF 1.15.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto import graph_pb2, versions_pb2
from tensorboard.compat.proto.attr_value_pb2 import AttrValue

from tfexp.core.dtypes import DType
from tfexp.core.errors import NotFoundError
from tfexp.core.op import Op, find_op, output_types
from tfexp.core.text import as_text
from tfexp.graph import defaults, shape_inference
from tfexp.graph.collections import Collections
from tfexp.graph.elements import Elements
from tfexp.graph.loop_nodes import check_input
from tfexp.graph.operation import Operation
from tfexp.graph.scope_names import add_with_scopes
from tfexp.graph.surroundings import Surroundings
from tfexp.graph.tensor import Tensor
from tfexp.graph.typed_nodes import checked_inputs, native_attrs

if TYPE_CHECKING:
    from tfexp.graph.function import Function

# What TensorFlow 1.15 writes into GraphDef.versions.
PRODUCER_VERSION = 134


class Graph(Elements, Surroundings, Collections):
    """A dataflow graph. Build it inside `with graph.as_default():`, or use the process's default graph."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.RLock()
        self._operations: list[Operation] = []
        self._by_name: dict[str, Operation] = {}
        self._names_and_scopes: set[str] = set()
        self._named = 0  # so many of the nodes are in there
        self._next_id = 1
        self._version = 0
        self._mutations = 0  # counts edits of existing nodes, which invalidate plans as new nodes do not
        self._finalized = False
        self._seed: int | None = None
        self._functions: dict[str, Function] = {}  # the library: what nodes of this graph call by name
        self._unfeedable: set[Tensor] = set()
        self._unfetchable: set[Operation] = set()
        self._kept: list[Any] = []
        self._versions = versions_pb2.VersionDef(producer=PRODUCER_VERSION)

    # --- nodes -------------------------------------------------------------------------------------------------

    def add_node(
        self,
        op_type: str,
        inputs: Sequence[Tensor],
        attrs: dict[str, Any] | None = None,
        name: str | None = None,
        output_dtypes: Sequence[DType] | None = None,
        compute_shapes: bool = True,
        device: str = "",
        control_inputs: Sequence[Operation] | None = None,
    ) -> Operation:
        """Add a node of a registered op. `attrs` are native and complete (see `graph.apply` for calls by signature).

        `name` is made unique below the current name scope; a trailing slash says that it is whole and taken as it is.
        What `device` leaves open, the devices around it say. It waits for `control_inputs`, if None for what is around it.
        Raises RuntimeError when the graph is finalized, NotFoundError for an op that is not registered, ValueError for bad
        names and for shapes that cannot work.
        """
        self._check_not_finalized()
        op_def = self._registered(op_type)
        for tensor in inputs:
            if tensor.graph is not self:
                raise ValueError(f"{tensor} must be from the same graph as the node {name or op_type!r} ({self})")
        with self._lock:
            attrs = dict(attrs or {})
            node_name = self._node_name(as_text(name) if name else op_type)
            self._apply_attr_scopes(op_type, attrs)
            if self._container and op_def.is_stateful and attrs.get("container") == "":
                attrs["container"] = self._container
            op = Operation(
                self,
                op_def,
                node_name,
                inputs,
                self._control_inputs_for(inputs) if control_inputs is None else control_inputs,
                attrs,
                output_dtypes if output_dtypes is not None else output_types(op_def, attrs),
                self._next_id,
            )
            try:
                for tensor in inputs:
                    if tensor.op._control_flow_context is not None:
                        check_input(op, self._control_flow_context, tensor)
                if compute_shapes:
                    shape_inference.infer(op)
            except Exception:
                self._forget(op)
                raise
            self._add(op)
            op._device = device
            self._apply_device_functions(op)
            self._apply_colocation(op)
            self._enter_control_flow(op)
            for dependencies in self._control_stack:
                dependencies.seen.add(op)
        return op

    def create_op(
        self,
        op_type: str,
        inputs: Sequence[Any],
        dtypes: Sequence[Any] | None = None,
        input_types: Sequence[Any] | None = None,
        name: str | None = None,
        attrs: Mapping[str, AttrValue] | None = None,
        op_def: Any = None,
        compute_shapes: bool = True,
        compute_device: bool = True,
    ) -> Operation:
        """Add a node of the op of that name; `attrs` are protos, as in a NodeDef.

        Types of inputs and outputs follow from the op's signature: `dtypes`, `input_types` and `op_def` are accepted. Raises
        NotFoundError for an op that is not registered, ValueError for attributes and inputs that do not fit, TypeError for
        an input that is no tensor.
        """
        tensors = checked_inputs(inputs)
        op = self._registered(op_type)
        return self.add_node(op_type, tensors, native_attrs(op, tensors, attrs), name, compute_shapes=compute_shapes)

    def _registered(self, op_type: str) -> Op:
        op = find_op(op_type)
        if op is None:
            raise NotFoundError(None, None, f"Op type not registered {op_type!r}: tfexp has no such op")
        return op

    def _add(self, op: Operation) -> None:
        if op.name in self._by_name:
            raise ValueError(f"Duplicate node name in graph: {op.name!r}")
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
        self._names_and_scopes, self._named = set(), 0
        self._nodes_changed()

    def names_and_scopes(self) -> set[str]:
        """The names of the nodes, and of the scopes that they are in. Looks at each node once, however often it is asked."""
        for op in self._operations[self._named :]:
            add_with_scopes(op.name, self._names_and_scopes)
        self._named = len(self._operations)
        return self._names_and_scopes

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

    # Whether `add_node` computes at once instead of adding a node (`runtime.eager`).
    is_eager = False

    @property
    def scalars(self) -> MutableMapping[Any, Tensor]:
        """Where ops run at once: the tensors of Python numbers that were met."""
        raise NotImplementedError(f"{self} has nodes, not values")

    def value(self, array: Any, dtype: DType) -> Tensor:
        """Where ops run at once: a tensor that holds a copy of `array`."""
        raise NotImplementedError(f"{self} has nodes, not values")

    def next_op_seed(self) -> int:
        """Where ops run at once: the seed of the next random op that has none of its own."""
        raise NotImplementedError(f"{self} numbers its random ops")

    @property
    def building_function(self) -> bool:
        return False

    def capture(self, tensor: Tensor) -> Tensor:
        """What stands for `tensor` in this graph: itself; in a function, for a tensor from around it, an argument."""
        return tensor

    @property
    def outermost(self) -> Graph:
        """The graph around all functions that are being built."""
        return self

    @property
    def graph_def_versions(self) -> versions_pb2.VersionDef:
        """The oldest producer of its nodes, the oldest consumer that all of them allow, and consumers that some do not."""
        versions = versions_pb2.VersionDef()
        versions.CopyFrom(self._versions)
        return versions

    def _merge_versions(self, versions: versions_pb2.VersionDef) -> None:
        """Nodes of these versions have been added."""
        own = self._versions
        own.producer = min(own.producer, versions.producer)
        own.min_consumer = max(own.min_consumer, versions.min_consumer)
        own.bad_consumers[:] = sorted({*own.bad_consumers, *versions.bad_consumers})

    def get_operations(self) -> list[Operation]:
        return list(self._operations)

    def keep_alive(self, thing: Any) -> None:
        """Hold on to what nodes of this graph need and know by name only."""
        self._kept.append(thing)

    def prevent_feeding(self, tensor: Tensor) -> None:
        self._unfeedable.add(tensor)
        self._nodes_changed()

    def is_feedable(self, tensor: Tensor) -> bool:
        return tensor not in self._unfeedable

    def prevent_fetching(self, op: Operation) -> None:
        self._unfetchable.add(op)

    def is_fetchable(self, tensor_or_op: Tensor | Operation) -> bool:
        op = tensor_or_op.op if isinstance(tensor_or_op, Tensor) else tensor_or_op
        return op not in self._unfetchable

    # --- sessions, GraphDef --------------------------------------------------------------------------------------

    def as_default(self) -> defaults.Pushed:
        """Make this the default graph of the current thread inside the `with` block."""
        return defaults.graph_stack.pushed(self)

    def _session_for(self, session: Any, purpose: str, method: str) -> Any:
        """`session`, or the default session; ValueError when there is none or it runs another graph."""
        if session is None:
            session = defaults.session_stack.current
            if session is None:
                raise ValueError(
                    f"Cannot {purpose} using `{method}()`: No default session is registered. Use `with sess.as_default():` "
                    f"or pass an explicit session to `{method}(session=sess)`"
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

    def as_graph_def(self, from_version: int | None = None, add_shapes: bool = False) -> graph_pb2.GraphDef:
        """The graph as a GraphDef; with `from_version`, only the nodes that came since; `add_shapes`: `_output_shapes`."""
        graph_def = graph_pb2.GraphDef(versions=self.graph_def_versions)
        with self._lock:
            for op in self._operations[from_version or 0 :]:
                node = graph_def.node.add()
                op._describe(node)
                if add_shapes and op.outputs:
                    shapes = node.attr["_output_shapes"].list.shape
                    shapes.extend(t.get_shape().as_proto() for t in op.outputs)
            for function in list(self._functions.values()):  # some may be forgotten meanwhile, as nobody has them
                graph_def.library.function.append(function.definition)
        return graph_def
