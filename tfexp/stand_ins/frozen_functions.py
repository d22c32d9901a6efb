"""`tensorflow.python.framework.convert_to_constants`: functions whose variables become constants. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core import nest
from tfexp.core.op import get_op
from tfexp.functions.concrete import ConcreteFunction
from tfexp.functions.wrapped import WrappedFunction, wrap_function
from tfexp.graph.convert import constant
from tfexp.graph.scopes import get_default_graph
from tfexp.graph.tensor import Tensor
from tfexp.graph.type_spec import TensorSpec
from tfexp.stand_ins.graph_copies import lift_to_graph


def convert_variables_to_constants_v2(func: ConcreteFunction, lower_control_flow: bool = True) -> WrappedFunction:
    """A function of the same arguments that gives the same, with the values that the variables have now.

    Made while ops run at once. Control flow stays what it is: NotImplementedError for variables that its functions read.
    """
    handles = {inner: outer for outer, inner in func.graph.captures}
    reads = {}
    for op in func.graph.get_operations():
        for handle in set(op.inputs) & handles.keys():
            if op.type != "ReadVariableOp":
                raise NotImplementedError(f"{op.name!r} ({op.type}) takes a variable: only reading one becomes a constant")
            reads[op] = get_op("ReadVariableOp")(handles[handle], dtype=op.attrs["dtype"]).numpy()

    def frozen(*tensors: Tensor) -> Any:
        known: dict[Any, Any] = dict(zip(func.arguments, tensors, strict=True))
        for op, value in reads.items():
            known[op.outputs[0]] = constant(value, name=op.name)
            known[op] = known[op.outputs[0]].op
        copies = lift_to_graph(func.outputs, get_default_graph(), [*func.arguments, *reads], op_map=known)
        return nest.pack_sequence_as(func.structured_outputs, [copies[tensor] for tensor in func.outputs])

    return wrap_function(frozen, [TensorSpec.from_tensor(tensor) for tensor in func.arguments])
