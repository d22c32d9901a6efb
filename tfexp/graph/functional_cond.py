"""`tf.cond` in functions: a node that calls one of two functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorboard.compat.proto.attr_value_pb2 import NameAttrList

from tfexp.core.op import get_op
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.function import Function
from tfexp.graph.graph import Graph
from tfexp.graph.operation import Operation
from tfexp.graph.results import Results
from tfexp.graph.scopes import control_dependencies, get_default_graph
from tfexp.graph.tensor import Tensor
from tfexp.graph.traced_graph import TracedGraph, graph_within


def functional_cond(
    pred: Tensor, true_fn: Callable[[], Any], false_fn: Callable[[], Any], scope: str, check: Callable[..., None]
) -> Any:
    """What the function that `pred` chooses returns. `check(*results, *tensors)` refuses results that do not go together."""
    outer: Any = get_default_graph()
    pred = as_scalar(pred)
    graphs = [graph_within(outer, f"{scope}{label}") for label in ("true", "false")]
    results = [_traced(graph, function) for graph, function in zip(graphs, (true_fn, false_fn), strict=True)]
    check(*[one.structure for one in results], *[one.tensors for one in results])
    branches, captured = finish_alike(graphs, list(map(_outputs, graphs, results)))
    with control_dependencies([op for graph in graphs for op in graph.awaited]):
        node = if_node(outer, pred, branches, [outer.capture(tensor) for tensor in captured], scope)
    return results[0].pack([get_op("Identity")(tensor) for tensor in node.outputs])


def as_scalar(pred: Any) -> Any:
    """What decides, of any shape of one element; what is no tensor as it is."""
    return get_op("Squeeze")(pred) if isinstance(pred, Tensor) and pred.shape.rank != 0 else pred


def _traced(graph: TracedGraph, function: Callable[[], Any]) -> Results:
    def done(op: Operation) -> Tensor:
        with control_dependencies([op]):
            return convert_to_tensor(True)

    with graph.as_default():
        return Results(function(), done)


def _outputs(graph: TracedGraph, results: Results) -> list[Tensor]:
    with graph.as_default():
        return graph.results(results.tensors)


def finish_alike(graphs: Sequence[TracedGraph], outputs: Sequence[Sequence[Tensor]]) -> tuple[list[Function], list[Tensor]]:
    """Functions that take the same arguments: all that one of them captured; and these tensors."""
    captured = list(dict.fromkeys(tensor for graph in graphs for tensor in graph.captured))
    functions = []
    for graph, results in zip(graphs, outputs, strict=True):
        functions.append(graph.finish([graph.capture(tensor) for tensor in captured], results))
    return functions, captured


def if_node(
    graph: Graph, pred: Tensor, branches: Sequence[Function], inputs: Sequence[Tensor], name: str | None = None
) -> Operation:
    stateful = any(branch.is_stateful for branch in branches)
    attrs = {
        "Tcond": pred.dtype.base_dtype,
        "Tin": [tensor.dtype.base_dtype for tensor in inputs],
        **attrs_of_branches(branches),
        "_lower_using_switch_merge": True,
    }
    return graph.add_node("If" if stateful else "StatelessIf", [pred, *inputs], attrs, name=name)


def attrs_of_branches(branches: Sequence[Function]) -> dict[str, Any]:
    then, otherwise = branches
    return {
        "Tout": [tensor.dtype.base_dtype for tensor in then.outputs],
        "then_branch": NameAttrList(name=then.name),
        "else_branch": NameAttrList(name=otherwise.name),
        "output_shapes": [
            t.shape.most_specific_compatible_shape(o.shape) for t, o in zip(then.outputs, otherwise.outputs, strict=True)
        ],
    }
