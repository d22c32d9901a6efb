"""`tf.while_loop` in functions: a node that calls one function for as long as another one says so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorboard.compat.proto.attr_value_pb2 import NameAttrList

from tfexp.core import nest
from tfexp.core.op import get_op
from tfexp.core.shape import TensorShape
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.function import Function
from tfexp.graph.functional_cond import as_scalar
from tfexp.graph.graph import Graph
from tfexp.graph.handles import capture_handle
from tfexp.graph.operation import Operation
from tfexp.graph.results import Results
from tfexp.graph.scopes import control_dependencies, get_default_graph
from tfexp.graph.tensor import Tensor
from tfexp.graph.traced_graph import TracedGraph, graph_within

# The first variables of every such loop: the number of the iteration, and how many there may be (-1: as many as it takes).
_OWN_VARIABLES = 2


def functional_while(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Sequence[Any],
    shapes: Sequence[TensorShape],
    maximum_iterations: Tensor | None,
    parallel_iterations: int,
    scope: str,
    returned: Callable[[Any], Sequence[Any]],
    check: Callable[[Tensor, TensorShape, Tensor], None],
) -> list[Any]:
    """What `loop_vars` are after the loop. `shapes`: what the body keeps of them, for each tensor.

    `returned` brings the body's result into the structure of the variables; `check(start, shape, value)` refuses a value
    that cannot take the place of the variable that started so.
    """
    outer: Any = get_default_graph()
    variables = Results(list(loop_vars))
    limit = constant(-1, name="maximum_iterations") if maximum_iterations is None else maximum_iterations
    counter = constant(0, dtype=limit.dtype, name="loop_counter")
    starts = [counter, limit, *variables.tensors]
    all_shapes = [TensorShape([]), TensorShape([]), *shapes]
    asking, doing = (graph_within(outer, f"{scope}{label}") for label in ("cond", "body"))
    inputs_of = {graph: _arguments(graph, starts, all_shapes) for graph in (asking, doing)}
    with asking.as_default():
        decided = _decide(cond, variables, inputs_of[asking], maximum_iterations is not None)
        decision = asking.results([decided])
    with doing.as_default():
        number, most, *values = inputs_of[doing]
        following = get_op("AddV2")(number, 1, name="add")
        results = Results(returned(body(*variables.pack(values))))
        if (found := len(results.tensors)) != (wanted := len(variables.tensors)):
            raise AssertionError(f"body_graph has {found + _OWN_VARIABLES} outputs; Expected: {wanted + _OWN_VARIABLES}")
        for start, shape, value in zip(variables.tensors, shapes, results.tensors, strict=True):
            check(start, shape, value)
        outcome = doing.results([following, most, *results.tensors])
    captured = list(dict.fromkeys([*doing.captured, *asking.captured]))
    for graph in (asking, doing):
        inputs_of[graph] += [graph.capture(tensor) for tensor in captured]
    asked = asking.finish(inputs_of[asking], decision)
    done = doing.finish(inputs_of[doing], [*outcome, *[doing.capture(tensor) for tensor in captured]])
    starts += [outer.capture(tensor) for tensor in captured]
    all_shapes += [tensor.shape for tensor in captured]
    with control_dependencies([*asking.awaited, *doing.awaited]):
        node = while_node(outer, asked, done, starts, all_shapes, parallel_iterations, scope)
    # A TensorArray leaves as the body left it: what is known of its elements has grown.
    left = [get_op("Identity")(tensor) for tensor in node.outputs]
    after: list[Any] = results.pack(left[_OWN_VARIABLES : _OWN_VARIABLES + len(results.tensors)])
    return after


def _arguments(graph: TracedGraph, starts: Sequence[Tensor], shapes: Sequence[TensorShape]) -> list[Tensor]:
    arguments = []
    for i, (tensor, shape) in enumerate(zip(starts, shapes, strict=True)):
        name = ("loop_counter", "maximum_iterations")[i] if i < _OWN_VARIABLES else "placeholder"
        argument = graph.argument(tensor.dtype.base_dtype, shape, name)
        capture_handle(argument, tensor)
        arguments.append(argument)
    return arguments


def _decide(cond: Callable[..., Any], variables: Results, arguments: Sequence[Tensor], limited: bool) -> Tensor:
    number, most, *values = arguments
    decided = as_scalar(cond(*variables.pack(values)))
    if limited:
        bounded: Tensor = get_op("LogicalAnd")(get_op("Less")(number, most), decided)
        return bounded
    results = [result for result in nest.flatten(decided) if result is not None]
    if len(results) != 1:
        raise AssertionError(f"cond_graph has {len(results)} outputs; Expected: 1")
    return convert_to_tensor(results[0])


def while_node(
    graph: Graph,
    cond: Function,
    body: Function,
    starts: Sequence[Tensor],
    shapes: Sequence[TensorShape],
    parallel_iterations: int,
    name: str | None = None,
) -> Operation:
    """A node of a loop whose first variable counts iterations, as its gradient needs it."""
    stateful = cond.is_stateful or body.is_stateful
    attrs = {
        "T": [tensor.dtype.base_dtype for tensor in starts],
        "cond": NameAttrList(name=cond.name),
        "body": NameAttrList(name=body.name),
        "output_shapes": list(shapes),
        "parallel_iterations": parallel_iterations,
        "_num_original_outputs": len(starts),
        "_lower_using_switch_merge": True,
    }
    node = graph.add_node("While" if stateful else "StatelessWhile", starts, attrs, name=name)
    for output, inner in zip(node.outputs, body.outputs, strict=True):
        capture_handle(output, inner)
    return node
