"""What a function does besides computing, in the order in which the program says it: automatic control dependencies.

Nodes that use the same resource run in the order in which they were made, but for reads among themselves; so do those with
an effect on the world outside (prints, Python calls, assertions). All that has an effect runs, whether or not its result is
used. Source: what `tf.function` does in TF 1.15.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tfexp.core import dtypes
from tfexp.core.op import flatten_args, group_inputs
from tfexp.graph.calls import called_functions
from tfexp.graph.function import Function
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor

# They keep a state, but nobody minds in which order or whether they run.
_UNORDERED = frozenset(
    {
        "Placeholder",
        "VarHandleOp",
        "RandomUniform",
        "RandomUniformInt",
        "RandomStandardNormal",
        "TruncatedNormal",
        "RandomShuffle",
        "Multinomial",
        "RandomGamma",
        "RandomPoisson",
        "RandomPoissonV2",
    }
)


@dataclass
class _Users:
    """Of one resource: who wrote to it last, and who has read it since."""

    writer: Operation | None = None
    readers: list[Operation] = field(default_factory=list)


def order_effects(operations: Iterable[Operation]) -> list[Operation]:
    """Add the control inputs among nodes, in the order in which they were made, and return those that have to run."""
    users: dict[Tensor, _Users] = {}
    outside = _Users()
    must_run = []
    for op in operations:
        if not op._op_def.is_stateful or op.type in _UNORDERED or op._get_control_flow_context() is not None:
            continue
        before: dict[Operation, None] = {}
        resources = {tensor: _writes(op, i) for i, tensor in enumerate(op.inputs) if tensor.dtype is dtypes.resource}
        if not resources or _acts_outside(op):
            _use(outside, op, True, before)
        for tensor, writes in resources.items():
            _use(users.setdefault(_source(tensor), _Users()), op, writes, before)
        op._add_control_inputs([one for one in before if one not in op.control_inputs])
        must_run.append(op)
    return must_run


def _use(users: _Users, op: Operation, writes: bool, before: dict[Operation, None]) -> None:
    if users.writer is not None:
        before[users.writer] = None
    if writes:
        before.update(dict.fromkeys(users.readers))
        users.writer, users.readers = op, []
    else:
        users.readers.append(op)


def _source(tensor: Tensor) -> Tensor:
    while tensor._op.type == "Identity":
        tensor = tensor._op.inputs[0]
    return tensor


def _functions(op: Operation) -> list[Function]:
    library = op.graph._functions
    return [found for name in called_functions(op) if (found := library.get(name)) is not None]


def written_by(op: Operation) -> list[Tensor]:
    """The inputs of a node, references and resources, that it or a function that it calls may change."""
    kind = op._op_def
    resources = [tensor for i, tensor in enumerate(op.inputs) if tensor.dtype is dtypes.resource and _writes(op, i)]
    if not kind.has_ref_inputs or not kind.writes_refs:
        return resources
    given = zip(kind.inputs, group_inputs(kind, op.inputs, op.attrs), strict=True)
    return resources + flatten_args([tensors for arg, tensors in given if arg.is_ref])


def _writes(op: Operation, index: int) -> bool:
    """Whether a node may change the resource that is its input of that index."""
    functions = _functions(op)
    if not functions:
        return op._op_def.writes_refs or not op._op_def.on_variables
    first = len(op.inputs) - max(len(function.inputs) for function in functions)  # a condition may come before
    return any(_written_by(function, function.inputs[index - first]) for function in functions if index >= first)


def _written_by(function: Function, argument: Tensor) -> bool:
    same: Sequence[Tensor] = [argument, *(op.outputs[0] for op in argument.consumers() if op.type == "Identity")]
    return any(
        _writes(op, i)
        for tensor in same
        for op in tensor.consumers()
        for i, one in enumerate(op.inputs)
        if one is tensor and op.type != "Identity"
    )


def _acts_outside(op: Operation) -> bool:
    """Whether it calls a function that does something without a resource."""
    return any(
        inner._op_def.is_stateful
        and inner.type not in _UNORDERED
        and (_acts_outside(inner) or not any(tensor.dtype is dtypes.resource for tensor in inner.inputs))
        for function in _functions(op)
        for inner in function.body.get_operations()
    )
