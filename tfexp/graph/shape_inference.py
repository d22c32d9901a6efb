"""Static shapes of a new node, and the static values they may depend on.

A shape rule may ask for the value of an input (`reshape`'s target, `sum`'s axes). `static_value` finds it where it does
not depend on a feed or on state, by running the CPU kernels of the constant nodes before it; `static_value_as_shape` also
reads vectors of which only some elements are known (`[tf.shape(x)[0], 10]`).
"""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.merged_shape import shape_text
from tfexp.core.op import Op, flatten_args, group_inputs
from tfexp.core.shape import HandleShape, InputShape, TensorShape
from tfexp.formats.tensor import make_ndarray
from tfexp.graph.handles import handle_dtype, handle_shape, note_elements
from tfexp.graph.tensor import Tensor

if TYPE_CHECKING:
    from tfexp.graph.operation import Operation

# Folding at construction is for shapes and axes; larger arrays are not worth computing twice.
_MAX_ELEMENTS = 1 << 16
_MAX_TOLD = 256  # of the elements of an input, in an error
_INDEX_DTYPES = (dtypes.int32, dtypes.int64, dtypes.bool)
_UNKNOWN = object()
_STATELESS = ("RandomNormal", "RandomUniform", "RandomUniformInt", "RandomUniformFullInt", "TruncatedNormal")
# Those whose result has the shape that an input says: TensorFlow's Python layer looks for it outside of a function, too.
_SHAPED_BY_INPUT = frozenset(
    {"Fill", "Reshape", "RandomGamma", "RandomPoissonV2", "RandomStandardNormal", "RandomUniform", "RandomUniformInt"}
    | {"TruncatedNormal"}
    | {f"Stateless{kind}{version}" for kind in _STATELESS for version in ("", "V2")}
)
# What passes values into loops and branches and out of them: folding is for what is within.
_CONTROL_FLOW = frozenset({"Enter", "Exit", "LoopCond", "Merge", "NextIteration", "Switch"})


def infer(op: Operation) -> None:
    """Set the shapes of `op`'s outputs; ValueError, with the node and its input shapes, when none can work."""
    through_captured = op.type in _SHAPED_BY_INPUT and op.graph.is_traced
    inputs = [_input_shape(t, through_captured) for t in op._inputs]
    shapes = _by_rule(op._op_def, op.name, op.attrs, inputs, len(op._outputs))
    for tensor, shape in zip(op._outputs, shapes, strict=True):
        tensor._shape = _plain(shape)
        if tensor._dtype is dtypes.variant and isinstance(shape, (HandleShape, InputShape)):
            note_elements(tensor, shape.of_handle, shape.dtype_of_handle)


def output_shapes(
    op_def: Op, name: str, attrs: dict[str, Any], inputs: Sequence[InputShape], output_count: int
) -> list[TensorShape]:
    """Apply an op's shape rule; unknown shapes when it has none."""
    return [_plain(shape) for shape in _by_rule(op_def, name, attrs, inputs, output_count)]


def _plain(shape: Any) -> TensorShape:
    return shape if type(shape) is TensorShape else TensorShape(shape)


def _by_rule(op_def: Op, name: str, attrs: dict[str, Any], inputs: Sequence[InputShape], output_count: int) -> list[Any]:
    rule = op_def.shape_rule
    if rule is None:
        return [TensorShape(None)] * output_count
    try:
        result = rule(*group_inputs(op_def, inputs, attrs), **attrs)
        return [result] if op_def.has_single_output else flatten_shapes(result)
    except ValueError as error:
        listed = ", ".join(shape_text(s) for s in inputs)
        read = _what_it_read(op_def, attrs, inputs)
        raise ValueError(f"{error} for {name!r} (op: {op_def.name!r}) with input shapes: {listed}{read}.") from None


class _Noted(InputShape):
    """An input shape that remembers what a rule read of its values."""

    __slots__ = ("read_as_shape", "read_value")

    def __init__(self, of: InputShape):
        super().__init__(of, of, *(operator.attrgetter(name) for name in _ASKED))
        self.read_value: Any = None
        self.read_as_shape: TensorShape | None = None

    @property
    def value(self) -> Any:
        self.read_value = super().value
        return self.read_value

    @property
    def value_as_shape(self) -> TensorShape:
        self.read_as_shape = super().value_as_shape
        return self.read_as_shape


_ASKED = ("value", "value_as_shape", "of_handle", "dtype_of_handle")


def _what_it_read(op_def: Op, attrs: dict[str, Any], inputs: Sequence[InputShape]) -> str:
    """The values on which the rule based its refusal, as TensorFlow's errors tell them; the rule is asked once more."""
    noted = [_Noted(shape) for shape in inputs]
    with contextlib.suppress(ValueError):
        op_def.shape_rule(*group_inputs(op_def, noted, attrs), **attrs)  # type: ignore[misc]
    values = [f"input[{i}] = <{_summary(one.read_value)}>" for i, one in enumerate(noted) if one.read_value is not None]
    shapes = [
        f"input[{i}] = {shape_text(one.read_as_shape)}"
        for i, one in enumerate(noted)
        if one.read_as_shape is not None and one.read_as_shape.known_dims is not None
    ]
    told = f" and with computed input tensors: {', '.join(values)}" if values else ""
    return told + (f" and with input tensors computed as partial shapes: {', '.join(shapes)}" if shapes else "")


def _summary(value: Any) -> str:
    """The first elements of an array: `0`, `1 2`, `[0 1][2 3]`."""
    array = np.asarray(value)
    if array.ndim > 1:
        return "".join(f"[{_summary(row)}]" for row in array[:_MAX_TOLD])
    told = [str(one) for one in np.atleast_1d(array)[:_MAX_TOLD].tolist()]
    return " ".join([*told, "..."] if array.size > _MAX_TOLD else told)


def refused(op_def: Op, attrs: dict[str, Any], inputs: Sequence[InputShape]) -> str | None:
    """What the op's shape rule has against these inputs, without a node's name; None if it has nothing."""
    try:
        output_shapes(op_def, op_def.name, attrs, inputs, 0)
    except ValueError as error:
        return str(error).partition(f" for {op_def.name!r} (op:")[0]
    return None


def flatten_shapes(result: Any) -> list[Any]:
    """A rule's sequence of shapes; None stands for 'no outputs'."""
    return [] if result is None else list(result)


def _input_shape(tensor: Tensor, through_captured: bool) -> InputShape:
    as_shape = static_value_as_shape_outside if through_captured else static_value_as_shape
    return InputShape(tensor._shape, tensor, static_value, as_shape, handle_shape, handle_dtype)


def static_value(tensor: Tensor) -> np.ndarray | None:
    """The array that `tensor` always has, or None. Source: `tf.get_static_value`."""
    cached: Any = getattr(tensor, "_static_value", _UNKNOWN)
    if cached is not _UNKNOWN:
        return cached
    # Iterative, because constant chains may be longer than Python's stack.
    pending = [tensor]
    while pending:
        current = pending[-1]
        if hasattr(current, "_static_value"):
            pending.pop()
            continue
        needed = [t for t in _foldable_inputs(current) if not hasattr(t, "_static_value")]
        if needed:
            pending.extend(needed)
            continue
        current._static_value = _evaluate(current)
        pending.pop()
    value: np.ndarray | None = tensor._static_value
    if value is None:
        # Shapes get refined later (set_shape, loops), so that "not known" is only true for now.
        _forget_unknown(tensor)
    return value


def _forget_unknown(tensor: Tensor) -> None:
    pending = [tensor]
    while pending:
        current = pending.pop()
        if hasattr(current, "_static_value") and current._static_value is None:
            del current._static_value
            pending.extend(_foldable_inputs(current))


def _foldable_inputs(tensor: Tensor) -> list[Tensor]:
    """The inputs whose values would give the value of `tensor`; none where it has to come from elsewhere."""
    op = tensor._op
    if _value_by_shape(tensor) is not None or not _is_pure(op):
        return []
    # An output whose size follows from values (BroadcastGradientArgs) is judged by the inputs.
    judged = [tensor] if tensor._shape.is_fully_defined() else op._inputs
    return list(op._inputs) if all(_is_small(t) for t in judged) else []


def _is_small(tensor: Tensor) -> bool:
    """Whether a value is worth computing here. Where its size is not known (Where, ListDiff), indices are."""
    size = tensor._shape.num_elements()
    if size is None:
        return tensor._shape.rank is not None and tensor.dtype.base_dtype in _INDEX_DTYPES
    return size <= _MAX_ELEMENTS


def _is_pure(op: Operation) -> bool:
    op_def = op._op_def
    return not (
        op_def.is_stateful
        or op.type == "PlaceholderWithDefault"  # which may be fed
        or "CPU" not in op_def.kernels
        or (op.type in _CONTROL_FLOW and not _brings_constant(op))
        or op_def.has_refs
        or any(t.dtype.base_dtype.name in ("resource", "variant") for t in [*op._inputs, *op._outputs])
    )


def _brings_constant(op: Operation) -> bool:
    """Whether it takes a value of the graph itself into a loop that is in no other: these TensorFlow sees through."""
    return op.type == "Enter" and bool(op.attrs["is_constant"]) and op._inputs[0].op._control_flow_context is None


def _evaluate(tensor: Tensor) -> np.ndarray | None:
    op = tensor._op
    if op.type == "Const":
        return make_ndarray(op.attrs["value"])
    by_shape = _value_by_shape(tensor)
    if by_shape is not None:
        return by_shape
    if not op._inputs or not _foldable_inputs(tensor):
        return None
    values = [t._static_value for t in op._inputs]
    if any(value is None for value in values):
        return None
    if op.type == "Enter":
        return values[0]
    try:
        result = op._op_def.kernels["CPU"].compute(None, *group_inputs(op._op_def, values, op.attrs), **op.attrs)
    except Exception:
        # Whatever is wrong with these values is the run's to report, with the node's name.
        return None
    outputs = [result] if op._op_def.has_single_output else flatten_args(result)
    return np.asarray(outputs[tensor.value_index])


def _value_by_shape(tensor: Tensor) -> np.ndarray | None:
    """The value of a Shape, ShapeN, Size, Rank or one element of a Shape, where a static shape tells it."""
    op, dtype = tensor.op, tensor.dtype.as_numpy_dtype
    if op.type == "StridedSlice" and op._inputs[0].op.type == "Shape" and tensor._shape.rank == 0:
        size = _partial_element(op)
        return None if size is None else np.asarray(size, dtype)
    if op.type not in ("Shape", "Size", "Rank", "ShapeN"):
        return None
    shape = op._inputs[tensor.value_index]._shape
    if op.type == "Rank":
        return None if shape.rank is None else np.asarray(shape.rank, dtype)
    if not shape.is_fully_defined():
        return None
    return np.asarray(shape.num_elements() if op.type == "Size" else shape.known_dims, dtype)


# Of an op, by how more is known of its inputs.
PartialShapeRule = Callable[["Operation", Callable[[Tensor], TensorShape]], TensorShape]


def static_value_as_shape(tensor: Tensor) -> TensorShape:
    """What is known of the shape that the integer vector `tensor` describes. ValueError for dimensions below -1."""
    return _as_shape(tensor, static_value_as_shape)


def static_value_as_shape_outside(tensor: Tensor) -> TensorShape:
    """The same, but that an argument of a traced function is known as what it stands for outside, if it was captured."""
    if tensor.op.type == "Placeholder" and tensor.graph.is_traced:
        captured: dict[Tensor, Tensor] = tensor.graph.captured  # type: ignore[attr-defined]
        for outside, argument in captured.items():
            if argument is tensor:
                return static_value_as_shape_outside(outside)
    return _as_shape(tensor, static_value_as_shape_outside)


def _as_shape(tensor: Tensor, as_shape: Callable[[Tensor], TensorShape]) -> TensorShape:
    op = tensor._op
    # As in TensorFlow, the shape of a tensor is what its static shape says, even where folding would tell more.
    if op.type in ("Shape", "ShapeN"):
        return op._inputs[tensor.value_index]._shape
    if op.type in ("Concat", "ConcatV2"):
        return _partial_concat(op, as_shape)
    value = static_value(tensor)
    if value is not None:
        if value.ndim == 0 and value == -1:
            return TensorShape(None)
        if value.ndim != 1:
            raise ValueError(f"Shape must be rank 1 but is rank {value.ndim}")
        if (value < -1).any():
            raise ValueError(f"Dimension {value.min()} must be >= 0")
        return TensorShape([None if d == -1 else int(d) for d in value])
    rule = _PARTIAL.get(op.type)
    if rule is not None and (known := rule(op, as_shape)).rank is not None:
        return known
    length = tensor._shape.known_dims
    return TensorShape([None] * length[0] if length and length[0] is not None else None)


def _partial_pack(op: Operation, as_shape: Callable[[Tensor], TensorShape]) -> TensorShape:
    dims: list[int | None] = []
    for tensor in op._inputs:
        value = static_value(tensor)
        if value is None and tensor.op.type == "StridedSlice" and tensor._shape.rank == 0:
            dims.append(_partial_element(tensor.op))
        else:
            dims.append(None if value is None or value < 0 else int(value))
    return TensorShape(dims)


def _partial_concat(op: Operation, as_shape: Callable[[Tensor], TensorShape]) -> TensorShape:
    result = TensorShape([])
    for tensor in op._inputs[:-1] if op.type == "ConcatV2" else op._inputs[1:]:
        result = result.concatenate(as_shape(tensor))
    return result


def _slice_of(op: Operation, as_shape: Callable[[Tensor], TensorShape]) -> tuple[TensorShape, Any] | None:
    """The vector's partial shape and the Python index of a one-dimensional strided slice; None if it is another kind."""
    attrs = op.attrs
    if any(attrs[key] not in (0, 1) for key in ("begin_mask", "end_mask", "shrink_axis_mask")):
        return None
    if attrs["new_axis_mask"] or attrs["ellipsis_mask"]:
        return None
    begin, end, strides = (static_value(t) for t in op._inputs[1:4])
    if begin is None or end is None or strides is None or begin.shape != (1,):
        return None
    shape = as_shape(op._inputs[0])
    if attrs["shrink_axis_mask"]:
        return shape, int(begin[0])
    return shape, slice(
        None if attrs["begin_mask"] else int(begin[0]), None if attrs["end_mask"] else int(end[0]), int(strides[0])
    )


def _partial_element(op: Operation) -> int | None:
    if any(t.op.type != "Const" for t in op._inputs[1:4]):
        return None  # TensorFlow looks through a computed index no further
    found = _slice_of(op, static_value_as_shape)
    if found is None or found[0].known_dims is None or isinstance(found[1], slice):
        return None
    dims, index = found[0].known_dims, found[1]
    return dims[index] if -len(dims) <= index < len(dims) else None


def _partial_strided_slice(op: Operation, as_shape: Callable[[Tensor], TensorShape]) -> TensorShape:
    found = _slice_of(op, as_shape)
    if found is None or found[0].known_dims is None or not isinstance(found[1], slice):
        return TensorShape(None)
    return TensorShape(found[0].known_dims[found[1]])


_PARTIAL: dict[str, PartialShapeRule] = {
    "Pack": _partial_pack,
    "StridedSlice": _partial_strided_slice,
    "Cast": lambda op, as_shape: as_shape(op._inputs[0]),
    "Identity": lambda op, as_shape: as_shape(op._inputs[0]),
    "TensorListElementShape": lambda op, _: handle_shape(op._inputs[0]),
    "VariableShape": lambda op, _: handle_shape(op._inputs[0]),
}
