"""`tensorflow.python.framework.convert_to_constants`: functions whose variables become constants. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tfexp.core import nest
from tfexp.core.op import get_op
from tfexp.functions.concrete import ConcreteFunction
from tfexp.functions.wrapped import WrappedFunction, wrap_function
from tfexp.graph.convert import constant
from tfexp.graph.scopes import get_default_graph, init_scope, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.graph.type_spec import TensorSpec
from tfexp.stand_ins.graph_copies import in_order, lift_to_graph

_CALLS = ("PartitionedCall", "StatefulPartitionedCall")


def convert_variables_to_constants_v2(func: ConcreteFunction, lower_control_flow: bool = True) -> WrappedFunction:
    """A function of the same arguments that gives the same, with the values that the variables have now.

    Made while ops run at once. The bodies of functions stand where these are called. Control flow stays what it is:
    NotImplementedError for variables that its functions read.
    """
    handles = {inner: outer for outer, inner in func.graph.captures}

    def frozen(*tensors: Tensor) -> Any:
        known = dict(zip(func.arguments, tensors, strict=True))
        return nest.pack_sequence_as(func.structured_outputs, _frozen(func.outputs, known, handles))

    return wrap_function(frozen, [TensorSpec.from_tensor(tensor) for tensor in func.arguments])


def _frozen(outputs: Sequence[Tensor], known: Mapping[Tensor, Tensor], handles: Mapping[Tensor, Tensor]) -> list[Tensor]:
    """What a function's outputs are in the default graph.

    known: what its arguments are there. handles: the variables, by the arguments that stand for them.
    """
    graph, copies = get_default_graph(), dict[Any, Any](known)
    for op in in_order([tensor.op for tensor in outputs], {tensor.op for tensor in (*known, *handles)}):
        taken = [tensor for tensor in op.inputs if tensor in handles]
        if op.type in _CALLS:
            lift_to_graph([tensor for tensor in op.inputs if tensor not in handles], graph, list(copies), op_map=copies)
            function = op.graph._functions[op.attrs["f"].name]
            arguments = list(zip(function.inputs, op.inputs, strict=True))
            with name_scope(op.name):
                results = _frozen(
                    function.outputs,
                    {inner: copies[tensor] for inner, tensor in arguments if tensor not in handles},
                    {inner: handles[tensor] for inner, tensor in arguments if tensor in handles},
                )
        elif not taken:
            continue
        elif op.type == "ReadVariableOp":
            with init_scope():
                value = get_op("ReadVariableOp")(handles[taken[0]], dtype=op.attrs["dtype"]).numpy()
            results = [constant(value, name=op.name)]
        else:
            raise NotImplementedError(f"{op.name!r} ({op.type}) takes a variable: only reading one becomes a constant")
        copies.update(zip(op.outputs, results, strict=True))
        if results:  # what depends on the operation, too
            copies[op] = results[0].op
    lift_to_graph(outputs, graph, list(copies), op_map=copies)
    return [copies[tensor] for tensor in outputs]
