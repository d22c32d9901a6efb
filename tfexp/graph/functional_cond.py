"""`tf.cond` in functions, and `tf.switch_case`: a node that calls one of several functions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tensorboard.compat.proto.attr_value_pb2 import NameAttrList

from tfexp.core import dtypes
from tfexp.core.op import get_op
from tfexp.core.shape import TensorShape
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.function import Function
from tfexp.graph.graph import Graph
from tfexp.graph.operation import Operation
from tfexp.graph.results import Results
from tfexp.graph.scopes import control_dependencies, get_default_graph
from tfexp.graph.tensor import Tensor
from tfexp.graph.traced_graph import TracedGraph, graph_within

# Of the results and the tensors of two functions: refuses those that do not go together.
Check = Callable[[Any, Any, list[Any], list[Any]], None]

_SIDES = ("then_branch", "else_branch")


def functional_cond(pred: Tensor, true_fn: Callable[[], Any], false_fn: Callable[[], Any], scope: str, check: Check) -> Any:
    """What the function that `pred` chooses returns."""
    return _chosen("If", as_scalar(pred), {"true": true_fn, "false": false_fn}, scope, check)


def functional_case(index: Tensor, functions: Sequence[Callable[[], Any]], scope: str, check: Check) -> Any:
    """What the function with the number `index` returns, the last one for numbers that none has. TypeError but for int32."""
    if index.dtype is not dtypes.int32:
        raise TypeError(
            f"Input 'branch_index' of 'Case' Op has type {index.dtype.name} that does not match expected type of int32."
        )
    return _chosen("Case", index, {f"branch{i}": function for i, function in enumerate(functions)}, scope, check)


def _chosen(kind: str, selector: Tensor, functions: Mapping[str, Callable[[], Any]], scope: str, check: Check) -> Any:
    outer: Any = get_default_graph()
    graphs = [graph_within(outer, f"{scope}{label}") for label in functions]
    results = [_traced(graph, function) for graph, function in zip(graphs, functions.values(), strict=True)]
    for other in results[1:]:
        check(results[0].structure, other.structure, results[0].tensors, other.tensors)
    branches, captured = finish_alike(graphs, list(map(_outputs, graphs, results)))
    with control_dependencies([op for graph in graphs for op in graph.awaited]):
        node = branch_node(outer, kind, selector, branches, [outer.capture(tensor) for tensor in captured], scope)
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


def branch_node(
    graph: Graph,
    kind: str,
    selector: Tensor,
    branches: Sequence[Function],
    inputs: Sequence[Tensor],
    name: str | None = None,
) -> Operation:
    """An `If` or `Case` node (`kind`) that calls one of the functions."""
    stateful = any(branch.is_stateful for branch in branches)
    attrs = {
        "Tin": [tensor.dtype.base_dtype for tensor in inputs],
        **attrs_of_branches(kind, branches),
        "_lower_using_switch_merge": True,
    }
    if kind == "If":
        attrs["Tcond"] = selector.dtype.base_dtype
    return graph.add_node(kind if stateful else f"Stateless{kind}", [selector, *inputs], attrs, name=name)


def attrs_of_branches(kind: str, branches: Sequence[Function]) -> dict[str, Any]:
    functions: Any = [NameAttrList(name=branch.name) for branch in branches]
    shapes = [
        functools.reduce(TensorShape.most_specific_compatible_shape, [result.shape for result in results])
        for results in zip(*[branch.outputs for branch in branches], strict=True)
    ]
    return {
        "Tout": [tensor.dtype.base_dtype for tensor in branches[0].outputs],
        **(dict(zip(_SIDES, functions, strict=True)) if kind == "If" else {"branches": functions}),
        "output_shapes": shapes,
    }


def branches_of(op: Operation) -> tuple[str, list[Function]]:
    """The kind of a node that calls one of several functions, and these functions."""
    kind = op.type.removeprefix("Stateless")
    named = [op.attrs[side] for side in _SIDES] if kind == "If" else op.attrs["branches"]
    return kind, [op.graph._functions[function.name] for function in named]
