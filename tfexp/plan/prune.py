"""Keep what the fetches need: the graph walked backwards from fetches and targets, up to the feeds."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from tfexp.core.errors import InvalidArgumentError
from tfexp.core.shape import TensorShape
from tfexp.graph.operation import Operation
from tfexp.graph.shape_inference import static_value
from tfexp.graph.tensor import Tensor
from tfexp.plan.ir import Draft, Node, Value, heavy_values_of_variables, ref_flags

# Nodes that only stand for a value from outside: a client's, or another task's.
PLACEHOLDERS = frozenset({"Placeholder", "PlaceholderV2", "_Recv", "_HostRecv"})


def prune(
    fetches: Sequence[Tensor], targets: Sequence[Operation], feeds: Sequence[Tensor], feed_shapes: Sequence[TensorShape]
) -> Draft:
    """The Draft of the nodes that `fetches` and `targets` need when `feeds` are given."""
    fed: dict[Tensor, Value] = {}
    for i, (tensor, shape) in enumerate(zip(feeds, feed_shapes, strict=True)):
        fed[tensor] = Value(None, i, tensor.name, tensor.dtype.base_dtype, shape)
    nodes = {
        op: Node(op.name, op._op_def, op.attrs, op.device, op, op._id) for op in needed_operations(fetches, targets, fed)
    }
    # Callables of options take shapes that the graph contradicts: then nothing that it says of shapes holds.
    holds = all(tensor._shape.is_compatible_with(shape) for tensor, shape in zip(feeds, feed_shapes, strict=True))
    for op, node in nodes.items():
        node.outputs = [
            Value(node, t._value_index, t.name, t.dtype, t._shape if holds else TensorShape(None)) for t in op._outputs
        ]
    for op, node in nodes.items():
        node.inputs = [fed[t] if t in fed else nodes[t.op].outputs[t._value_index] for t in op._inputs]
        node.controls = [nodes[c] for c in op._control_inputs if c in nodes]
    stored = heavy_values_of_variables(nodes.values())
    for op, node in nodes.items():
        if op.type == "Const" and node.outputs[0] not in stored:
            node.outputs[0].constant = _constant(op)
    if any(tensor.dtype._is_ref_dtype for tensor in feeds):
        _check_refs(nodes, fed)
    return Draft(
        nodes=sorted(nodes.values(), key=lambda n: n.serial),
        feeds=list(fed.values()),
        fetches=[fed[t] if t in fed else nodes[t.op].outputs[t._value_index] for t in fetches],
        targets=[nodes[op] for op in targets],
    )


def _check_refs(nodes: Mapping[Operation, Node], fed: Collection[Tensor]) -> None:
    """InvalidArgumentError where a node would change a variable that is fed: there is but a value."""
    for op, node in nodes.items():
        for number, (tensor, is_ref) in enumerate(zip(op._inputs, ref_flags(node), strict=True)):
            if is_ref and tensor in fed and tensor.dtype._is_ref_dtype:
                raise InvalidArgumentError(
                    op.node_def,
                    op,
                    f"Input {number} of node {op.name} was passed {tensor.dtype.base_dtype.name} from {tensor.name}, "
                    f"which is fed, incompatible with expected {tensor.dtype.name}.",
                )


def _constant(op: Operation) -> np.ndarray | None:
    """The value of a Const. What an imported graph says of it may be no tensor, or one that fits into no memory."""
    try:
        return static_value(op._outputs[0])
    except (ValueError, TypeError, OverflowError, MemoryError) as error:
        shown = f"Cannot parse tensor from proto: {error}\n\t [[{{{{node {op.name}}}}}]]"
        raise InvalidArgumentError(op.node_def, op, shown) from error


def needed_operations(
    fetches: Sequence[Tensor], targets: Sequence[Operation], fed: Collection[Tensor]
) -> dict[Operation, None]:
    """What has to run for `fetches` and `targets` when `fed` are given; no order."""
    # A placeholder that is fed has nothing left to wait for; any other op with a fed output still runs where a control
    # edge asks for it.
    fed_placeholders = {t.op for t in fed if t.op.type in PLACEHOLDERS}
    found: dict[Operation, None] = {}
    pending: list[Operation] = [t.op for t in fetches if t not in fed]
    pending.extend(targets)
    while pending:
        op = pending.pop()
        if op in found:
            continue
        found[op] = None
        pending.extend(t.op for t in op._inputs if t not in fed)
        pending.extend(c for c in op._control_inputs if c not in fed_placeholders)
    return found
