"""The gradient of a node that calls a function over and over: a loop from the last iteration to the first.

The forward loop gets lists as further variables, to which each iteration appends what its gradient needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorboard.compat.proto.attr_value_pb2 import NameAttrList

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.op import get_op
from tfexp.core.shape import TensorShape, sizes_of
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.function import Function
from tfexp.graph.function_graph import FunctionGraph, add_argument, unique_number
from tfexp.graph.functional_cond_gradient import zeros_like
from tfexp.graph.functional_while import while_node
from tfexp.graph.gradient_sums import add_n
from tfexp.graph.gradients import gradients, is_trainable
from tfexp.graph.handles import handle_dtype, handle_shape
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import control_dependencies, get_default_graph, name_scope
from tfexp.graph.tensor import Tensor


class _BackwardBody(FunctionGraph):
    """The gradient of one iteration: it takes what it needs of the forward one from the ends of lists.

    `lists` maps tensors of the forward body to (argument, what is left of the list).
    """

    def __init__(self, body: Function):
        super().__init__(f"{body.name}_grad_{unique_number()}", body.body)
        self._unchanged = {i for i, o in zip(body.inputs, body.outputs, strict=True) if i is o}
        self._popped: dict[Tensor, Tensor] = {}
        self.lists: dict[Tensor, tuple[Tensor, Tensor]] = {}

    def capture(self, tensor: Tensor) -> Tensor:
        if tensor.graph is self or tensor in self._unchanged:
            return super().capture(tensor)
        if tensor not in self._popped:
            with self.as_default(), name_scope(None), control_dependencies(None):
                self._popped[tensor] = self._copied(tensor) if tensor.op.type == "Const" else self._last_of(tensor)
        return self._popped[tensor]

    def _copied(self, tensor: Tensor) -> Tensor:
        return self.add_node("Const", [], dict(tensor.op.attrs), name=tensor.op.name).outputs[0]

    def _last_of(self, tensor: Tensor) -> Tensor:
        if tensor.dtype is dtypes.resource:
            raise LookupError(f"The gradient of a loop needs {tensor.name}, a resource that each iteration makes anew.")
        values = self.argument(dtypes.variant, [], f"{tensor.op.name}_values")
        rest, last = get_op("TensorListPopBack")(values, _sizes(tensor.shape), element_dtype=tensor.dtype)
        last.set_shape(tensor.shape)
        self.lists[tensor] = values, rest
        value: Tensor = last
        return value


def _sizes(shape: TensorShape) -> Tensor:
    """A shape as lists are told it: -1 for what is unknown."""
    return constant(sizes_of(shape), name="element_shape")


def while_gradient(op: Operation, *grads: Any) -> list[Tensor | None]:
    """The gradients of what the loop's variables started with."""
    if "_num_original_outputs" not in op.attrs:
        raise LookupError(f"The loop {op.name!r} does not count its iterations, as those of tf.while_loop do: no gradient.")
    graph = get_default_graph()
    body: Function = op.graph._functions[op.attrs["body"].name]
    wanted = [i for i, tensor in enumerate(op.inputs) if is_trainable(tensor)]
    backward = _BackwardBody(body)
    with backward.as_default():
        weights = [backward.argument(*_kind_of_gradient(body.inputs[i]), f"gradients_{i}") for i in wanted]
        following = _of_iteration(body, wanted, weights)
        following = [backward.capture(tensor) for tensor in following]
        number = backward.argument(op.inputs[0].dtype, [], "grad_counter")
        count = backward.argument(op.inputs[0].dtype, [], "loop_counter")
        next_number: Tensor = get_op("AddV2")(number, 1, name="add")
    kept = dict(backward.captured)
    first = [
        zeros_like(op.inputs[i] if op.inputs[i].dtype is dtypes.resource else op.outputs[i])
        if grads[i] is None
        else convert_to_tensor(grads[i])
        for i in wanted
    ]
    arguments = [number, count, *weights, *[one for one, _ in backward.lists.values()], *kept.values()]
    outputs = [next_number, count, *following, *[rest for _, rest in backward.lists.values()], *kept.values()]
    done = Function(backward.name, backward, arguments, outputs)
    graph._functions[done.name] = done
    lists = _accumulate(op, body, list(backward.lists))
    outside = dict(zip(body.inputs, op.inputs, strict=False))
    zero = constant(0, dtype=op.inputs[0].dtype, name="grad_counter")
    starts = [zero, op.outputs[0], *first, *lists, *[outside[tensor] for tensor in kept]]
    node = while_node(
        graph, _asking(graph, done), done, starts, [t.shape for t in arguments], op.attrs["parallel_iterations"]
    )
    results: list[Tensor | None] = [None] * len(op.inputs)
    for position, i in enumerate(wanted):
        results[i] = node.outputs[2 + position]
    return results


def _kind_of_gradient(tensor: Tensor) -> tuple[DType, TensorShape]:
    """The dtype and shape of a tensor's gradient; a handle's is that of its variable."""
    if tensor.dtype is dtypes.resource:
        return handle_dtype(tensor) or dtypes.float32, handle_shape(tensor)
    return tensor.dtype, tensor.shape


def _of_iteration(body: Function, wanted: Sequence[int], weights: Sequence[Tensor]) -> list[Tensor]:
    """The gradients of the variables before an iteration, of those after it."""
    changed = [(i, w) for i, w in zip(wanted, weights, strict=True) if body.outputs[i] is not body.inputs[i]]
    found = gradients([body.outputs[i] for i, _ in changed], [body.inputs[i] for i in wanted], [w for _, w in changed])
    results = []
    for i, weight, grad in zip(wanted, weights, found, strict=True):
        if body.outputs[i] is body.inputs[i]:
            results.append(weight if grad is None else add_n([weight, convert_to_tensor(grad)]))
        else:
            results.append(zeros_like(body.inputs[i]) if grad is None else convert_to_tensor(grad))
    return results


def _asking(graph: Any, body: Function) -> Function:
    """Whether there are iterations left."""
    asking = FunctionGraph(f"{body.name}_cond", graph)
    arguments = [asking.argument(tensor.dtype, tensor.shape, tensor.op.name) for tensor in body.inputs]
    with asking.as_default():
        left = get_op("Less")(arguments[0], arguments[1])
    function = Function(asking.name, asking, arguments, [left])
    graph._functions[function.name] = function
    return function


def _accumulate(op: Operation, body: Function, tensors: Sequence[Tensor]) -> list[Tensor]:
    """Have the loop collect what these tensors of its body are in each iteration; the lists, once it is over."""
    if not tensors:
        return []
    library = op.graph._functions
    cond: Function = library[op.attrs["cond"].name]
    with op.graph.as_default(), name_scope(None), control_dependencies(None):
        empty = [
            get_op("EmptyTensorList")(_sizes(t.shape), constant(-1), element_dtype=t.dtype, name=f"{op.name}/accumulator")
            for t in tensors
        ]
    arguments = [add_argument(body.body, dtypes.variant, [], "accumulator") for _ in tensors]
    with body.body.as_default(), name_scope(None), control_dependencies(None):
        longer = [get_op("TensorListPushBack")(values, t) for values, t in zip(arguments, tensors, strict=True)]
    unused = [add_argument(cond.body, dtypes.variant, [], "accumulator") for _ in tensors]
    rewritten = (
        ("cond", Function(_rewritten(cond), cond.body, [*cond.inputs, *unused], cond.outputs, effects=cond.effects)),
        (
            "body",
            Function(
                _rewritten(body), body.body, [*body.inputs, *arguments], [*body.outputs, *longer], effects=body.effects
            ),
        ),
    )
    for key, function in rewritten:
        library[function.name] = function
        op._set_attr(key, NameAttrList(name=function.name))
    op._append_inputs(empty)
    op._set_attr("T", [tensor.dtype.base_dtype for tensor in op.inputs])
    op._set_attr("output_shapes", [*op.attrs["output_shapes"], *[TensorShape([])] * len(empty)])
    op._set_attr("_num_original_outputs", len(op.inputs))
    lists = [Tensor(op, len(op.outputs) + i, dtypes.variant, TensorShape([])) for i in range(len(empty))]
    op.outputs.extend(lists)
    return lists


def _rewritten(function: Function) -> str:
    return f"{function.name}_rewritten_{unique_number()}"
