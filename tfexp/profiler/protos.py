"""A profile as messages: GraphNodeProto, MultiGraphNodeProto, and a Profiler's nodes and steps as a ProfileProto."""

from __future__ import annotations

from typing import Any

from tfexp.core.shape import TensorShape
from tfexp.formats.protos.profiler import GraphNodeProto, MultiGraphNodeProto, ProfileProto
from tfexp.profiler.measures import Measures
from tfexp.profiler.nodes import Node, Nodes
from tfexp.profiler.options import Options
from tfexp.profiler.views import Row


def tree_proto(root: Row, options: Options) -> Any:
    """A tree of nodes as a GraphNodeProto."""
    proto = GraphNodeProto()
    pending = [(root, proto)]
    while pending:
        row, own = pending.pop()
        own.name = row.name
        if row.accounted:
            row.own.write(own, "")
        row.total.write(own, "total_")
        if row.node is not None:
            _describe(own, row.node)
        pending.extend((child, own.children.add()) for child in row.children)
    return proto


def lines_proto(root: Row, options: Options) -> Any:
    """A tree of lines of a program as a MultiGraphNodeProto."""
    proto = MultiGraphNodeProto(name=root.name)
    root.total.write(proto, "total_")
    for row in root.children:
        _add_many(proto, row, options)
    return proto


def list_proto(root: Row, options: Options) -> Any:
    """A list as a MultiGraphNodeProto, in which each row is the child of the one before."""
    proto = MultiGraphNodeProto(name=root.name)
    root.total.write(proto, "total_")
    last = proto
    for row in root.children:
        last = _add_many(last, row, options)
    return proto


def _add_many(above: Any, row: Row, options: Options) -> Any:
    proto = above.children.add(name=row.name)
    row.own.write(proto, "")
    row.total.write(proto, "total_")
    for node in row.nodes:
        part = proto.graph_nodes.add(name=node.name)
        measures = node.measures(options.step)
        measures.write(part, "")
        measures.write(part, "total_")
        _describe(part, node)
    return proto


def _describe(proto: Any, node: Node) -> None:
    if node.device:
        proto.devices.append(node.device)
    for number, shape in enumerate(node.input_shapes):
        known = proto.input_shapes[number]  # is there from here on, though nothing is known of it
        if shape.rank is not None:
            # A scalar has one element, which TensorFlow's profiles tell so.
            for size in _sizes(shape) or [1]:
                known.dim.add(size=size)


def _sizes(shape: TensorShape) -> list[int]:
    return [-1 if dim is None else dim for dim in shape.as_list()]


def profile_proto(nodes: Nodes) -> Any:
    """All nodes with what they are and what was measured of them."""
    proto = ProfileProto(steps=sorted(nodes.steps))
    numbers = {node.name: number for number, node in enumerate(nodes)}
    for number, node in enumerate(nodes):
        part = proto.nodes[number]
        part.name, part.op, part.id, part.float_ops = node.name, node.type, number, node.float_ops
        part.op_types.extend(sorted(node.all_types))
        part.canonical_device = part.host_device = node.device
        if node.shape is not None:
            part.shape.extend(_sizes(node.shape))
        for position, (name, shape) in enumerate(zip(node.inputs, node.input_shapes, strict=True)):
            part.inputs[position] = numbers[name]
            if shape.rank is not None:
                part.input_shapes[position].int64_values.extend(_sizes(shape))
        for step, ran in node.runs.items():
            _write_run(part.execs[step], node.device, ran)
    return proto


def _write_run(proto: Any, device: str, ran: Measures) -> None:
    proto.run_count = ran.run_count
    proto.devices.append(device)
    for times, micros in ((proto.cpu_execs, ran.cpu_exec_micros), (proto.accelerator_execs, ran.accelerator_exec_micros)):
        if micros:
            times[device].times.add(int64_values=[0, micros])
    proto.memory_execs.add(
        requested_bytes=ran.requested_bytes,
        peak_bytes=ran.peak_bytes,
        residual_bytes=ran.residual_bytes,
        output_bytes=ran.output_bytes,
    )
