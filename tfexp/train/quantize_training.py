"""Graphs that learn with numbers of few bits. Source: `tf.train.do_quantize_training_on_graphdef`, TF 1.15."""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto.graph_pb2 import GraphDef

from tfexp.core.dtypes import as_dtype
from tfexp.core.errors import OutOfRangeError
from tfexp.core.op import get_op
from tfexp.graph.convert import constant
from tfexp.graph.graph import Graph
from tfexp.graph.graph_util import node_name
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_identity import placeholder

_ROUNDED = ("MatMul", "Conv2D")  # what has its two inputs rounded
_DECAY = 0.999
# What is known of the values of an op: whether some are negative, and their range.
_KNOWN: dict[str, tuple[bool, tuple[float, float] | None]] = {
    "Relu": (False, None),
    "Relu6": (False, (0.0, 6.0)),
    "Sigmoid": (False, (0.0, 1.0)),
    "Tanh": (True, (-1.0, 1.0)),
}
_AS_FIRST_INPUT = frozenset({"AvgPool", "ConcatV2", "Identity", "MaxPool", "Reshape"})


def do_quantize_training_on_graphdef(input_graph: Any, num_bits: int) -> GraphDef:
    """The GraphDef with the inputs of each MatMul and Conv2D rounded to 2**num_bits numbers, but for those of gradients.

    The numbers are between limits that are known for Relu6, Sigmoid and Tanh, and for others moving means of the least and
    the greatest value, which are variables of the graph: the first step sets them. OutOfRangeError for bits not in [1, 63].
    """
    if not 1 <= num_bits <= 63:
        raise OutOfRangeError(None, None, f"num_bits should be in range [1, 63] but is: {num_bits}")
    result = GraphDef()
    result.CopyFrom(input_graph)
    nodes = {node.name: node for node in input_graph.node}
    rounded: dict[str, str] = {}
    for node in result.node:
        if node.op in _ROUNDED and "gradient" not in node.name:
            for i, given in enumerate(node.input[:2]):
                if given not in rounded:
                    name, _, output = given.partition(":")
                    signed, limits = _values_of(nodes, name)
                    added = _rounding(f"{name}_{output}" if output else name, node.attr["T"].type, signed, limits, num_bits)
                    result.node.extend(_fed_by(added, given))
                    rounded[given] = added[-1].name
                node.input[i] = rounded[given]
    return result


def _values_of(nodes: dict[str, Any], name: str) -> tuple[bool, tuple[float, float] | None]:
    node = nodes[name]
    while node.op in _AS_FIRST_INPUT:
        node = nodes[node_name(node.input[0])]
    return _KNOWN.get(node.op, (True, None))


def _rounding(name: str, dtype_: Any, signed: bool, limits: tuple[float, float] | None, num_bits: int) -> list[Any]:
    """The nodes of a graph, the first of which stands for what is rounded; the last one rounds."""
    dtype = as_dtype(dtype_)
    with Graph().as_default() as graph:
        given = placeholder(dtype, name=name)
        with name_scope(f"{name}/"):
            if limits is not None:
                ends = [constant(end, dtype, name=f"Input{key}") for end, key in zip(limits, ("Min", "Max"), strict=True)]
            else:
                ends = _moving_ends(given)
            get_op("QuantizeAndDequantizeV2")(
                given, *ends, signed_input=signed, num_bits=num_bits, range_given=True, name="QuantizeAndDequantizeV2"
            )
    return list(graph.as_graph_def().node)


def _moving_ends(given: Tensor) -> list[Tensor]:
    """The moving means of the least and the greatest value."""
    decay = constant(_DECAY, given.dtype, name="Decay")
    with name_scope("ReductionAxes"):
        start, delta = constant(0, name="RangeStart"), constant(1, name="RangeDelta")
        rank = get_op("Rank")(given, name="InputRank")
        axes = get_op("Range")(start, rank, delta, name="ReductionAxes")
    found = [get_op(op)(given, axes, name=op) for op in ("Min", "Max")]
    return [_moving_mean(value, decay) for value in found]


def _moving_mean(value: Tensor, decay: Tensor) -> Tensor:
    """A variable that moves towards the value, and has it at first."""
    with name_scope(f"{value.op.name}/"):
        mean = get_op("VariableV2")(dtype=value.dtype, shape=[], name="Variable")
        is_set = get_op("IsVariableInitialized")(mean, name="IsInitialized")
        first, later = get_op("Switch")(value, is_set, name="Switch")
        with name_scope("EMA"):
            share = get_op("Sub")(constant(1.0, value.dtype, name="OneConst"), decay, name="DecayComplement")
            step = get_op("Mul")(get_op("Sub")(mean, later, name="ValueDiff"), share, name="UpdateValue")
            moved = get_op("Sub")(mean, step, name="EMAValue")
        new, _ = get_op("Merge")([first, moved], name="Merge")
        assigned: Tensor = get_op("Assign")(mean, new, name="AssignValue")
        return assigned


def _fed_by(nodes: list[Any], given: str) -> list[Any]:
    """The nodes but for the first, in the place of which they take what is named."""
    stands_for, *others = nodes
    for node in others:
        for i, name in enumerate(node.input):
            if name == stands_for.name:
                node.input[i] = given
    return others
