"""Lifting: from a function of one element to a function of many at once, where every node allows it.

Each value of the function either depends on the element, and then has a new first axis in the lifted function, or it does
not, and stays as it is. A table says for each op how its node has to change when inputs have that axis. Functions with
state (random numbers, py_func) and ops that are not in the table are not lifted. As in pfor (Agarwal 2019,
"Auto-vectorizing TensorFlow graphs"), of which this is the part that data sets use most.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from tfexp.core import dtypes
from tfexp.core.op import get_op
from tfexp.core.shape import TensorShape
from tfexp.formats.tensor import make_tensor_proto
from tfexp.graph.function import Function
from tfexp.graph.graph import Graph
from tfexp.graph.operation import Operation
from tfexp.graph.shape_inference import static_value
from tfexp.graph.tensor import Tensor
from tfexp.ops.dataset import kept

_ELEMENTWISE = """
Abs Acos Acosh AsString Asin Asinh Atan Atanh Cast Ceil Conj Cos Cosh Digamma Elu Erf Erfc Exp Expm1 Floor Identity Imag
Inv Invert IsFinite IsInf IsNan LeakyRelu Lgamma Log Log1p LogicalNot Neg OnesLike Real Reciprocal Relu Relu6 Rint Round
Rsqrt Selu Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Square StaticRegexFullMatch StaticRegexReplace StringLength
StringLower StringStrip StringToHashBucket StringToHashBucketFast StringToHashBucketStrong StringToNumber StringUpper Tan
Tanh ZerosLike DecodeBase64 DecodeCompressed DecodeJSONExample EncodeBase64
"""
_BROADCASTING = """
Add AddV2 Atan2 BitwiseAnd BitwiseOr BitwiseXor Complex Div DivNoNan Equal FloorDiv FloorMod Greater GreaterEqual
LeftShift Less LessEqual LogicalAnd LogicalOr Maximum Minimum Mod Mul MulNoNan NotEqual Pow RealDiv RightShift SelectV2
SquaredDifference Sub TruncateDiv TruncateMod Xdivy Xlogy
"""
_REDUCTIONS = "All Any Max Mean Min Prod Sum"


class _NotLiftableError(Exception):
    """A node that has no lifted form."""


@dataclass(frozen=True)
class _Lifted:
    """A value in the lifted function; `many` says whether it has the new first axis."""

    tensor: Tensor
    many: bool


# The branches of conditions that a value is computed in, outermost first: (the condition, whether it holds).
Guards = tuple[tuple[Tensor, bool], ...]
Rule = Callable[["_Lifting", Operation, list[_Lifted]], list[Tensor]]


def lifted(ctx: Any, named: Any, arguments: Sequence[Any]) -> Callable[[Sequence[np.ndarray]], list[np.ndarray]] | None:
    """The function of a node as a function of blocks: stacked components in, stacked results out. None if not liftable."""
    call = ctx.function(named)
    if call not in _liftings:
        _liftings[call] = _lift(call, len(arguments))
    lifting = _liftings[call]
    if lifting is None:
        return None
    of_blocks, many = lifting
    captured = [kept(value) for value in arguments]

    def function(block: Sequence[np.ndarray]) -> list[np.ndarray]:
        results = of_blocks([*block, *captured])
        if all(many):
            return list(results)
        size = len(block[0])
        return [
            value if is_many else np.broadcast_to(value, (size, *np.shape(value)))
            for value, is_many in zip(results, many, strict=True)
        ]

    return function


def lifted_function(function: Function, captured: int) -> tuple[Function, list[bool]] | None:
    """A function of many elements at once, and which of its results have the new axis; None if not liftable.

    The last `captured` arguments are the same for all elements.
    """
    try:
        lifting = _Lifting(function, captured)
    except _NotLiftableError:
        return None
    return lifting.function, lifting.many


# Of the functions that a node has bound: a node that makes a data set again and again lifts its function once.
_liftings: WeakKeyDictionary[Any, tuple[Any, list[bool]] | None] = WeakKeyDictionary()


def _lift(call: Any, captured: int) -> tuple[Any, list[bool]] | None:
    """The lifted function, bound, and which of its results have the new axis."""
    try:
        lifting = _Lifting(call.function, captured)
    except _NotLiftableError:
        return None
    return call.rebound(lifting.function), lifting.many


class _Lifting:
    """Builds the lifted function; _NotLiftableError when there is none."""

    def __init__(self, function: Function, captured: int):
        if function.effects:
            raise _NotLiftableError
        self.graph = Graph()
        self.graph._functions = function.body._functions
        self.values: dict[Tensor, _Lifted] = {}
        self.guards: dict[Tensor, Guards] = {}
        elements = len(function.inputs) - captured
        with self.graph.as_default():
            inputs = [self._argument(tensor, position < elements) for position, tensor in enumerate(function.inputs)]
            for op in _needed(function):
                if not (op.outputs and op.outputs[0] in self.values):
                    self._lift(op)
        outputs = [self.values[tensor] for tensor in function.outputs]
        self.many = [value.many for value in outputs]
        self.function = Function(f"{function.name}_of_blocks", self.graph, inputs, [value.tensor for value in outputs])

    def _argument(self, tensor: Tensor, many: bool) -> Tensor:
        if tensor.dtype in (dtypes.resource, dtypes.variant) or tensor.shape.rank is None:
            raise _NotLiftableError
        shape = tensor.shape
        if many:
            shape = TensorShape([None, *shape.as_list()])
        argument = self.node("Placeholder", [], {"dtype": tensor.dtype, "shape": shape}, name=tensor.op.name)
        self.values[tensor] = _Lifted(argument, many)
        return argument

    def _lift(self, op: Operation) -> None:
        if op._op_def.is_stateful or not all(tensor in self.values for tensor in op.inputs):
            raise _NotLiftableError
        if any(not before.outputs for before in op.control_inputs):
            raise _NotLiftableError
        inputs = [self.values[tensor] for tensor in op.inputs]
        self.guards.update(dict.fromkeys(op.outputs, self._guards(op)))
        if op.type in ("Switch", "Merge"):
            (self._switch if op.type == "Switch" else self._merge)(op, inputs)
            return
        many = any(value.many for value in inputs)
        if many:
            rule = RULES.get(op.type)
            if rule is None:
                raise _NotLiftableError
            outputs = rule(self, op, inputs)
        else:
            outputs = self.graph.add_node(op.type, [value.tensor for value in inputs], op.attrs, name=op.name).outputs
        self.values.update((old, _Lifted(new, many)) for old, new in zip(op.outputs, outputs, strict=True))

    def _guards(self, op: Operation) -> Guards:
        """The branches that a node is in: those of its innermost input. Its control inputs have no other effect."""
        before = [*op.inputs, *(other.outputs[0] for other in op.control_inputs)]
        return max((self.guards.get(tensor, ()) for tensor in before), key=len, default=())

    def _switch(self, op: Operation, inputs: list[_Lifted]) -> None:
        """Both branches are computed for all elements: where one of them fails, the elements are looked at singly."""
        condition = op.inputs[1]
        while condition.op.type == "Identity":
            condition = condition.op.inputs[0]
        outer = self.guards[op.outputs[0]]
        for branch, output in enumerate(op.outputs):
            self.values[output] = inputs[0]
            self.guards[output] = (*outer, (condition, bool(branch)))

    def _merge(self, op: Operation, inputs: list[_Lifted]) -> None:
        """For each element, what comes from the branch that it takes."""
        guards = [self.guards.get(tensor, ()) for tensor in op.inputs]
        depth = len(guards[0]) - 1
        if len(inputs) != 2 or depth < 0 or len(guards[1]) != depth + 1 or guards[0][:depth] != guards[1][:depth]:
            raise _NotLiftableError
        (condition, first), (other, second) = guards[0][depth], guards[1][depth]
        shapes = [tensor.shape for tensor in op.inputs]
        if condition is not other or first == second or not shapes[0].is_fully_defined() or shapes[0] != shapes[1]:
            raise _NotLiftableError
        holds = self.values[condition]
        if not holds.many or condition.shape.rank != 0:
            raise _NotLiftableError
        rank = _rank(op.inputs[0])
        parts = [value.tensor for value in inputs]
        taken, left = parts if first else reversed(parts)
        chosen = self.node("SelectV2", [self.with_rank(holds, 0, rank), taken, left], {"T": op.inputs[0].dtype})
        self.values[op.outputs[0]] = _Lifted(chosen, True)
        self.guards[op.outputs[0]] = guards[0][:depth]

    # --- for the rules -------------------------------------------------------------------------------------------

    def node(self, op_type: str, inputs: Sequence[Tensor], attrs: dict[str, Any], name: str | None = None) -> Tensor:
        declared = get_op(op_type).attrs
        given = {key: attr.default for key, attr in declared.items() if attr.has_default} | attrs
        return self.graph.add_node(op_type, inputs, given, name=name).outputs[0]

    def same(self, op: Operation, inputs: Sequence[Tensor], **attrs: Any) -> list[Tensor]:
        """The same node on these inputs, with these attributes changed."""
        return self.graph.add_node(op.type, inputs, {**op.attrs, **attrs}, name=op.name).outputs

    def constant(self, value: Any, dtype: Any) -> Tensor:
        array = np.array(value, dtype.as_numpy_dtype)
        return self.node("Const", [], {"dtype": dtype, "value": make_tensor_proto(array)})

    def with_rank(self, value: _Lifted, rank: int, wanted: int) -> Tensor:
        """A value that has the new axis, with axes of length 1 behind it up to `wanted` further ones."""
        tensor = value.tensor
        for _ in range(wanted - rank):
            attrs = {"T": tensor.dtype, "Tdim": dtypes.int32}
            tensor = self.node("ExpandDims", [tensor, self.constant(1, dtypes.int32)], attrs)
        return tensor


def _needed(function: Function) -> list[Operation]:
    """The nodes that the outputs depend on, each after those that it depends on (but for the way back in a loop)."""
    order: list[Operation] = []
    seen: set[Operation] = set()
    pending = [(tensor.op, False) for tensor in reversed(function.outputs)]
    while pending:
        op, its_inputs_are_there = pending.pop()
        if its_inputs_are_there:
            order.append(op)
        elif op not in seen:
            seen.add(op)
            pending.append((op, True))
            pending.extend((before, False) for before in (*(tensor.op for tensor in op.inputs), *op.control_inputs))
    return order


def _rank(tensor: Tensor) -> int:
    if tensor.shape.rank is None:
        raise _NotLiftableError
    return tensor.shape.rank


def _fixed(op: Operation, position: int) -> np.ndarray:
    """The value of an input that is known now."""
    value = static_value(op.inputs[position])
    if value is None:
        raise _NotLiftableError
    return np.asarray(value)


def _elementwise(lifting: _Lifting, op: Operation, inputs: list[_Lifted]) -> list[Tensor]:
    return lifting.same(op, [value.tensor for value in inputs])


def _broadcasting(lifting: _Lifting, op: Operation, inputs: list[_Lifted]) -> list[Tensor]:
    ranks = [_rank(tensor) for tensor in op.inputs]
    wanted = max(ranks)
    return lifting.same(
        op,
        [lifting.with_rank(v, rank, wanted) if v.many else v.tensor for v, rank in zip(inputs, ranks, strict=True)],
    )


def _reduction(lifting: _Lifting, op: Operation, inputs: list[_Lifted]) -> list[Tensor]:
    rank, axes = _rank(op.inputs[0]), _fixed(op, 1)
    moved = np.ravel(axes) % max(rank, 1) + 1
    return lifting.same(op, [inputs[0].tensor, lifting.constant(moved, op.inputs[1].dtype)])


def _reshape(lifting: _Lifting, op: Operation, inputs: list[_Lifted]) -> list[Tensor]:
    if inputs[1].many or not op.outputs[0].shape.is_fully_defined():
        raise _NotLiftableError
    shape = [-1, *op.outputs[0].shape.as_list()]
    if 0 in shape:
        raise _NotLiftableError
    return lifting.same(op, [inputs[0].tensor, lifting.constant(shape, op.inputs[1].dtype)])


def _expand_dims(lifting: _Lifting, op: Operation, inputs: list[_Lifted]) -> list[Tensor]:
    axis = int(_fixed(op, 1))
    moved = axis if axis < 0 else axis + 1
    return lifting.same(op, [inputs[0].tensor, lifting.constant(moved, op.inputs[1].dtype)])


def _squeeze(lifting: _Lifting, op: Operation, inputs: list[_Lifted]) -> list[Tensor]:
    rank, dims = _rank(op.inputs[0]), op.inputs[0].shape.as_list()
    axes = [axis % rank for axis in op.attrs["squeeze_dims"]] or [axis for axis in range(rank) if dims[axis] == 1]
    if not op.attrs["squeeze_dims"] and None in dims:
        raise _NotLiftableError
    if not axes:
        return [inputs[0].tensor]
    return lifting.same(op, [inputs[0].tensor], squeeze_dims=[axis + 1 for axis in axes])


def _transpose(lifting: _Lifting, op: Operation, inputs: list[_Lifted]) -> list[Tensor]:
    order = [0, *(int(axis) + 1 for axis in _fixed(op, 1))]
    return lifting.same(op, [inputs[0].tensor, lifting.constant(order, op.inputs[1].dtype)])


def _one_hot(lifting: _Lifting, op: Operation, inputs: list[_Lifted]) -> list[Tensor]:
    if any(value.many for value in inputs[1:]):
        raise _NotLiftableError
    axis = op.attrs["axis"]
    return lifting.same(op, [value.tensor for value in inputs], axis=axis if axis < 0 else axis + 1)


def _gather(lifting: _Lifting, op: Operation, inputs: list[_Lifted]) -> list[Tensor]:
    if inputs[0].many or inputs[2].many or op.attrs["batch_dims"] != 0 or int(_fixed(op, 2)) != 0:
        raise _NotLiftableError
    return lifting.same(op, [value.tensor for value in inputs])


def _pack(lifting: _Lifting, op: Operation, inputs: list[_Lifted]) -> list[Tensor]:
    if not all(value.many for value in inputs):
        raise _NotLiftableError
    axis = op.attrs["axis"]
    return lifting.same(op, [value.tensor for value in inputs], axis=axis if axis < 0 else axis + 1)


def _first_only(lifting: _Lifting, op: Operation, inputs: list[_Lifted]) -> list[Tensor]:
    if any(value.many for value in inputs[1:]):
        raise _NotLiftableError
    return lifting.same(op, [value.tensor for value in inputs])


def _parse_example(lifting: _Lifting, op: Operation, inputs: list[_Lifted]) -> list[Tensor]:
    """Of one example and of a vector it is the same op; what is of another length for each example does not stack."""
    same_for_all = all(shape.is_fully_defined() for shape in op.attrs["dense_shapes"])
    if any(value.many for value in inputs[1:]) or not same_for_all or _fixed(op, 1).size or _rank(op.inputs[0]):
        raise _NotLiftableError
    if op.attrs["num_sparse"] or op.attrs["ragged_value_types"]:
        raise _NotLiftableError
    return lifting.same(op, [value.tensor for value in inputs])


def _reverse(lifting: _Lifting, op: Operation, inputs: list[_Lifted]) -> list[Tensor]:
    rank = _rank(op.inputs[0])
    axes = [int(axis) % rank + 1 for axis in np.ravel(_fixed(op, 1))]
    return lifting.same(op, [inputs[0].tensor, lifting.constant(axes, op.inputs[1].dtype)])


def _concat(lifting: _Lifting, op: Operation, inputs: list[_Lifted]) -> list[Tensor]:
    *values, axis = inputs
    if not all(value.many for value in values) or axis.many:
        raise _NotLiftableError
    moved = int(_fixed(op, len(values))) % _rank(op.inputs[0]) + 1
    return lifting.same(op, [*(value.tensor for value in values), lifting.constant(moved, op.inputs[-1].dtype)])


def _strided_slice(lifting: _Lifting, op: Operation, inputs: list[_Lifted]) -> list[Tensor]:
    """All of the new axis, then what is taken of an element."""
    if any(value.many for value in inputs[1:]):
        raise _NotLiftableError
    limits = [
        lifting.constant([first, *np.ravel(_fixed(op, position)).tolist()], op.inputs[position].dtype)
        for position, first in ((1, 0), (2, 0), (3, 1))
    ]
    masks = {name: op.attrs[name] << 1 for name in ("ellipsis_mask", "new_axis_mask", "shrink_axis_mask")}
    whole = {name: op.attrs[name] << 1 | 1 for name in ("begin_mask", "end_mask")}
    return lifting.same(op, [inputs[0].tensor, *limits], **masks, **whole)


RULES: dict[str, Rule] = {
    **dict.fromkeys(_ELEMENTWISE.split(), _elementwise),
    **dict.fromkeys(_BROADCASTING.split(), _broadcasting),
    **dict.fromkeys(_REDUCTIONS.split(), _reduction),
    "DecodeCSV": _first_only,
    "ConcatV2": _concat,
    "ExpandDims": _expand_dims,
    "GatherV2": _gather,
    "OneHot": _one_hot,
    "Pack": _pack,
    "ParseExampleV2": _parse_example,
    "RegexFullMatch": _first_only,
    "RegexReplace": _first_only,
    "Reshape": _reshape,
    "ReverseV2": _reverse,
    "Squeeze": _squeeze,
    "StridedSlice": _strided_slice,
    "Transpose": _transpose,
}
