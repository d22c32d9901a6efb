"""Concrete shapes, from the fed ones through the ops' shape rules, and the constants that follow from them.

Under known shapes whole subgraphs are the same in every run: `Shape -> BroadcastGradientArgs` becomes a constant, and so
does everything that is computed from constants alone. Nodes that may turn out dead (`mortal.find_mortal`) stay as they are.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core.op import Op, flatten_args, group_inputs
from tfexp.core.shape import InputShape, TensorShape
from tfexp.graph.shape_inference import output_shapes, refused
from tfexp.plan.ir import Draft, LoopDraft, Node, Value, heavy_values_of_variables, is_pure
from tfexp.plan.mortal import find_mortal
from tfexp.plan.plan import Slot, Step

# What is computed once and kept for as long as the plan; TensorFlow's own constant folding stops at 10 MB.
_MAX_CONSTANT_BYTES = 10 << 20
_constant = operator.attrgetter("constant")


def specialise(draft: Draft) -> None:
    """Refine the shapes of all values and set `constant` where a value is the same in every run. Nodes stay."""
    mortal = find_mortal(draft.nodes)
    stored = heavy_values_of_variables(draft.nodes)
    changing: set[Value] = set()
    for node in draft.nodes:
        if all(value.constant is not None for value in node.outputs) and node.outputs:
            continue
        doubtful = not changing.isdisjoint(node.inputs)
        if node.loop is not None:
            _specialise_loop(node, node.loop, doubtful)
            changing.update(node.outputs if doubtful else ())
            continue
        variable = _may_change_shape(node)
        if variable or doubtful:
            # What the graph says of these shapes holds for the variable's first shape alone, or for what was claimed.
            for value in node.outputs:
                value.shape = TensorShape(None)
            changing.update(node.outputs)
        if variable:
            continue
        if not _infer(node):
            changing.update(node.outputs)
        if node in mortal or not is_pure(node) or not stored.isdisjoint(node.outputs):
            continue
        if not _from_shapes(node) and node.inputs and all(v.constant is not None for v in node.inputs):
            _fold(node)


# A variable whose shape is not the same in each iteration loses what is not; few loops need more rounds than this.
_MAX_ROUNDS = 4


def _specialise_loop(node: Node, loop: LoopDraft, doubtful: bool) -> None:
    """Find shapes of the loop's variables that an iteration leaves as they are, starting from those that they come with.

    Where these are not those of the graph (`doubtful`), what it says of the shapes within does not hold either.
    """
    if doubtful:
        _forget_shapes(loop)
    declared = [shape for _, shape, _ in loop.original[: loop.variables]]
    shapes = [source.shape for source in node.inputs[: loop.variables]]
    for _ in range(_MAX_ROUNDS):
        following = _specialise_iteration(node, loop, shapes)
        general = [a.most_specific_compatible_shape(b) for a, b in zip(shapes, following, strict=True)]
        if general == shapes:
            break
        shapes = general
    else:
        shapes = declared
        _specialise_iteration(node, loop, shapes)
    ends = [*shapes, *(value.shape for value in loop.condition.fetches[1:])]
    for value, position in zip(node.outputs, loop.results, strict=True):
        value.shape = ends[position]


def _forget_shapes(loop: LoopDraft) -> None:
    """Those of the graph, of all values in the loop and in the loops within it."""
    loop.original = [(value, TensorShape(None), constant) for value, _, constant in loop.original]
    for part in (loop.condition, loop.body):
        for node in part.nodes:
            if node.loop is not None:
                _forget_shapes(node.loop)


def _specialise_iteration(node: Node, loop: LoopDraft, shapes: list[TensorShape]) -> list[TensorShape]:
    """Specialise the loop's parts for variables of these shapes; returns the shapes that they have afterwards."""
    for value, shape, constant in loop.original:
        value.shape, value.constant = shape, constant
    constants = node.inputs[loop.variables :]
    for part in (loop.condition, loop.body):
        for feed, shape in zip(part.feeds, shapes, strict=False):
            feed.shape = shape
        for feed, source in zip(part.feeds[loop.variables :], constants, strict=False):
            feed.shape, feed.constant = source.shape, source.constant
        if part is loop.body:
            handed_on = loop.condition.fetches[1:]
            for feed, source in zip(part.feeds[len(node.inputs) :], handed_on, strict=True):
                feed.shape, feed.constant = source.shape, source.constant
        specialise(part)
    return [value.shape for value in loop.body.fetches]


def _may_change_shape(node: Node) -> bool:
    """Whether the node is a variable that somewhere in the graph an Assign may give another shape."""
    if node.inputs or node.origin is None or not any(v.dtype._is_ref_dtype for v in node.outputs):
        return False
    shape = node.origin._outputs[0]._shape
    return any(
        op.type == "Assign" and not op.attrs["validate_shape"] and op._inputs[1]._shape.known_dims != shape.known_dims
        for op in node.origin._outputs[0]._consumers
    )


def _infer(node: Node) -> bool:
    """Refine the shapes of the node's outputs; whether they are those that the graph has, as far as these are known."""
    claimed = node.origin is not None and any(tensor._claimed for tensor in node.origin._outputs)
    if not claimed and all(v.shape.is_fully_defined() for v in node.outputs):
        return True
    inputs = [_input_shape(v) for v in node.inputs]
    try:
        shapes = output_shapes(node.op, node.name, node.attrs, inputs, len(node.outputs))
    except (ValueError, TypeError, LookupError, ArithmeticError):
        # These shapes or values cannot work: the kernel says so at run time, in the words that belong there.
        return True
    if node.type == "PlaceholderWithDefault":
        shapes = [node.inputs[0].shape]  # nobody feeds it, or it would be no node here: it holds its default
    as_said = True
    for value, shape in zip(node.outputs, shapes, strict=True):
        if value.shape.is_compatible_with(shape):
            value.shape = value.shape.merge_with(shape)
        else:
            value.shape, as_said = shape, False
    return as_said


def refusal(step: Step, slots: Sequence[Slot]) -> str | None:
    """Why a graph that knew what the plan knows of the inputs would have refused the step's node; None if it would not."""
    return refused(step.op, step.attrs, [_input_shape(slots[i]) for i in step.inputs])


def _input_shape(value: Value | Slot) -> InputShape:
    return InputShape(value.shape, value, _constant, _as_shape)


def _as_shape(value: Value | Slot) -> TensorShape:
    """The shape that an integer vector describes, as far as it is known."""
    vector = value.constant
    if vector is None:
        dims = value.shape.known_dims
        return TensorShape([None] * dims[0] if dims and dims[0] is not None else None)
    if vector.ndim == 0 and vector == -1:
        return TensorShape(None)
    if vector.ndim != 1:
        raise ValueError(f"Shape must be rank 1 but is rank {vector.ndim}")
    return TensorShape([None if d < 0 else int(d) for d in vector])


def _from_shapes(node: Node) -> bool:
    """Constants that need no more than the shapes of the inputs."""
    for source, value in zip(node.inputs, node.outputs, strict=False):
        if source.dtype._is_ref_dtype:
            continue  # whether the variable has a value shows when it is read
        shape = source.shape
        dtype = value.dtype.as_numpy_dtype
        if node.type in ("Shape", "ShapeN") and shape.is_fully_defined():
            value.constant = np.asarray(shape.known_dims, dtype)
        elif node.type == "Size" and shape.is_fully_defined():
            value.constant = np.asarray(shape.num_elements(), dtype)
        elif node.type == "Rank" and shape.rank is not None:
            value.constant = np.asarray(shape.rank, dtype)
        elif node.type in ("ZerosLike", "OnesLike") and dtype is not object and _affordable(shape, dtype):
            fill = np.zeros if node.type == "ZerosLike" else np.ones
            value.constant = fill(shape.known_dims, dtype)  # type: ignore[arg-type]
    return bool(node.outputs) and all(v.constant is not None for v in node.outputs)


def _affordable(shape: TensorShape, dtype: Any) -> bool:
    elements = shape.num_elements()
    return elements is not None and elements * np.dtype(dtype).itemsize <= _MAX_CONSTANT_BYTES


def _fold(node: Node) -> None:
    assert node.kernel is not None
    if any(v.shape.is_fully_defined() and not _affordable(v.shape, v.dtype.as_numpy_dtype) for v in node.outputs):
        return
    arrays = [v.constant for v in node.inputs]
    try:
        with np.errstate(all="ignore"):
            # A pure kernel has nothing to ask of a session.
            result = node.kernel.compute(None, *group_inputs(node.op, arrays, node.attrs), **node.attrs)
    except Exception:
        # Whatever is wrong with these values is the run's to report, with the node's name.
        return
    results = [np.asarray(array) for array in _flat(node.op, result)]
    if sum(array.nbytes for array in results) <= _MAX_CONSTANT_BYTES:
        for value, array in zip(node.outputs, results, strict=True):
            value.constant = array
            value.shape = TensorShape(array.shape)


def _flat(op: Op, result: Any) -> list[Any]:
    return [result] if op.has_single_output else flatten_args(result)
