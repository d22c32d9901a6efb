"""`Operation`: a node of a graph. Source: `tf.Operation`, TF 1.15."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from google.protobuf import text_format
from tensorboard.compat.proto import node_def_pb2, op_def_pb2
from tensorboard.compat.proto.attr_value_pb2 import AttrValue

from tfexp.core import errors
from tfexp.core.device import DeviceSpecV2
from tfexp.core.dtypes import DType
from tfexp.core.later_attrs import later_attrs
from tfexp.core.op import Op
from tfexp.core.shape import TensorShape
from tfexp.graph import attrs as attr_codec
from tfexp.graph.op_defs import op_def
from tfexp.graph.origin import frames, innermost, stack_of_callers
from tfexp.graph.tensor import Tensor

if TYPE_CHECKING:
    from tfexp.graph.graph import Graph

_COLOCATION = "loc:@"


class Operation:
    """A node: op type, name, device, inputs, control inputs and attributes. Made by `Graph.add_node` only."""

    __slots__ = (
        "__dict__",
        "__weakref__",
        "_attrs",
        "_control_flow_context",
        "_control_inputs",
        "_control_outputs",
        "_device",
        "_graph",
        "_id",
        "_inputs",
        "_name",
        "_op_def",
        "_outputs",
        "_stack",
    )

    def __init__(
        self,
        graph: Graph,
        op_def: Op,
        name: str,
        inputs: Sequence[Tensor],
        control_inputs: Sequence[Operation],
        attrs: dict[str, Any],
        output_dtypes: Sequence[DType],
        op_id: int,
    ):
        self._graph = graph
        self._op_def = op_def
        self._name = name
        self._id = op_id
        self._inputs: list[Tensor] = list(inputs)
        self._control_inputs = list(control_inputs)
        self._control_outputs: list[Operation] = []
        self._attrs = attrs
        self._device = ""
        self._control_flow_context: Any = None
        self._stack = stack_of_callers()
        unknown = TensorShape(None)
        self._outputs = [Tensor(self, i, dtype, unknown) for i, dtype in enumerate(output_dtypes)]
        for tensor in self._inputs:
            tensor._consumers.append(self)
        for op in self._control_inputs:
            op._control_outputs.append(self)

    @property
    def graph(self) -> Graph:
        return self._graph

    @property
    def name(self) -> str:
        return self._name

    @property
    def type(self) -> str:
        return self._op_def.name

    @property
    def op_def(self) -> op_def_pb2.OpDef:
        """The signature of the node's type. (`_op_def` is its `core.op.Op`, which has shape rule and kernels besides.)"""
        return op_def(self._op_def)

    @property
    def device(self) -> str:
        return self._device

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        return tuple(self._inputs)

    @property
    def outputs(self) -> list[Tensor]:
        return self._outputs

    @property
    def control_inputs(self) -> list[Operation]:
        return list(self._control_inputs)

    @property
    def attrs(self) -> dict[str, Any]:
        """The native attributes (see `graph.attrs`). Read only: change them with `_set_attr`."""
        return self._attrs

    def values(self) -> tuple[Tensor, ...]:
        return tuple(self._outputs)

    @property
    def origin(self) -> str:
        """`file:line` where a person wrote the op; empty where nobody did."""
        return innermost(self._stack)

    @property
    def traceback(self) -> tuple[tuple[Any, ...], ...]:
        """(file, line, function, source line) of the calls that made the op, outermost first, without tfexp's own."""
        return tuple(frame[:-1] for frame in self.traceback_with_start_lines)

    @property
    def traceback_with_start_lines(self) -> tuple[tuple[Any, ...], ...]:
        """As `traceback`, with the line on which each function begins."""
        return frames(self._stack)

    @property
    def node_def(self) -> node_def_pb2.NodeDef:
        node = node_def_pb2.NodeDef()
        self._describe(node)
        return node

    def _describe(self, node: node_def_pb2.NodeDef) -> None:
        """Write what the node is into an empty NodeDef, perhaps one of a GraphDef's: large constants are copied once."""
        node.name, node.op, node.device = self._name, self.type, self._device
        node.input.extend(tensor._as_node_def_input() for tensor in self._inputs)
        node.input.extend(f"^{name}" for name in sorted(op._name for op in self._control_inputs))
        declared, later = self._op_def.attrs, later_attrs(self.type)
        for key, value in self._attrs.items():
            if key in later and key in declared and value == declared[key].default:
                continue
            kind = declared[key].kind if key in declared else attr_codec.kind_of(value)
            attr_codec.write_proto(node.attr[key], kind, value)

    def get_attr(self, name: str) -> Any:
        """The attribute as TensorFlow's `get_attr` gives it (strings as bytes, shapes as protos); ValueError if absent."""
        if name not in self._attrs:
            raise ValueError(f"Operation {self._name!r} has no attr named {name!r}.")
        return _public(self._attrs[name])

    def _set_attr(self, name: str, value: Any) -> None:
        """Set a native attribute, or one given as AttrValue."""
        if isinstance(value, AttrValue):
            _, value = attr_codec.from_proto(value)
        self._attrs[name] = value
        self._graph._nodes_changed()

    def _set_device(self, device: str | DeviceSpecV2) -> None:
        self._device = device if isinstance(device, str) else device.to_string()
        self._graph._nodes_changed()

    def colocation_groups(self) -> list[bytes]:
        """The op's `_class` groups, or the group that it founds itself."""
        groups = [g for g in self._attrs.get("_class", []) if g.startswith(_COLOCATION)]
        return [attr_codec.as_bytes(g) for g in groups] or [attr_codec.as_bytes(_COLOCATION + self._name)]

    def _add_control_input(self, op: Operation) -> None:
        self._add_control_inputs([op])

    def _add_control_inputs(self, ops: Iterable[Operation]) -> None:
        """Wait for these as well. TypeError for what is no Operation."""
        for op in ops:
            if not isinstance(op, Operation):
                raise TypeError(f"op must be an Operation: {op}")
            if op not in self._control_inputs:
                self._control_inputs.append(op)
                op._control_outputs.append(self)
        self._graph._nodes_changed()

    def _remove_control_inputs(self, ops: Iterable[Operation]) -> None:
        for op in ops:
            self._control_inputs.remove(op)
            op._control_outputs.remove(self)
        self._graph._nodes_changed()

    def _update_input(self, index: int, tensor: Tensor) -> None:
        """Replace one input (loops close their back edge so). ValueError for another graph's tensor, OutOfRangeError."""
        if tensor.graph is not self._graph:
            raise ValueError(f"{tensor} must be from the same graph as {self._name!r}, an input of which it is to be")
        if index >= len(self._inputs):
            raise errors.OutOfRangeError(
                None, None, f"{self._name!r} has {len(self._inputs)} inputs: there is no input {index} to replace"
            )
        old = self._inputs[index]
        old._consumers.remove(self)
        self._inputs[index] = tensor
        tensor._consumers.append(self)
        self._graph._nodes_changed()

    def _get_control_flow_context(self) -> Any:
        return self._control_flow_context

    def _set_control_flow_context(self, context: Any) -> None:
        self._control_flow_context = context

    def run(self, feed_dict: Any = None, session: Any = None) -> None:
        """Run the operation in `session` (the default session if None)."""
        self._graph._session_for(session, "execute operation", "run").run(self, feed_dict)

    def __str__(self) -> str:
        return str(text_format.MessageToString(self.node_def))

    def __repr__(self) -> str:
        return f"<tf.Operation {self._name!r} type={self.type}>"


def _public(value: Any) -> Any:
    if isinstance(value, list):
        return [_public(v) for v in value]
    if isinstance(value, str):
        return attr_codec.as_bytes(value)
    return value.as_proto() if isinstance(value, TensorShape) else value
