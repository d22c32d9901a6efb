"""Fewer nodes for the same values: no-ops are bypassed, equal computations shared, what nobody needs is dropped.

Runs after `order`, which this pass keeps: a node that goes away can no longer order others, and need not.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.shape import TensorShape
from tfexp.plan.alias import RootMap, find_roots, writes
from tfexp.plan.ir import Draft, Node, Value, is_pure
from tfexp.plan.mortal import find_mortal

# Ops that are there for the error that they may raise.
_CHECKS = frozenset({"CheckNumerics", "EnsureShape", "Assert", "Placeholder", "PlaceholderV2"})

_REDUCTIONS = frozenset({"Sum", "Mean", "Prod", "Max", "Min", "All", "Any"})
_BROADCASTING = frozenset({"Add", "AddV2", "Sub", "Mul", "RealDiv", "Div", "Maximum", "Minimum", "SquaredDifference"})


# --- values that a node only passes on ---------------------------------------------------------------------------

SameAs = Callable[[Node], Value | None]


def _first(node: Node) -> Value | None:
    return node.inputs[0]


def _if_shape_stays(node: Node) -> Value | None:
    source, result = node.inputs[0].shape, node.outputs[0].shape
    return node.inputs[0] if source.is_fully_defined() and source.known_dims == result.known_dims else None


def _if_known_shape_stays(node: Node) -> Value | None:
    """For an op that is also there for the error that another target makes."""
    return _if_shape_stays(node) if node.inputs[1].constant is not None else None


def _if_type_stays(node: Node) -> Value | None:
    return node.inputs[0] if node.attrs["SrcT"] == node.attrs["DstT"] else None


def _if_no_axes(node: Node) -> Value | None:
    axes = node.inputs[1].constant
    return node.inputs[0] if axes is not None and axes.size == 0 else None


def _if_alone(node: Node) -> Value | None:
    return node.inputs[0] if node.attrs["N"] == 1 else None


def _if_in_order(node: Node) -> Value | None:
    permutation = node.inputs[1].constant
    return node.inputs[0] if permutation is not None and (permutation == np.arange(permutation.size)).all() else None


def _keeps_shape(node: Node, operand: Value) -> bool:
    shape = operand.shape
    return shape.is_fully_defined() and shape.known_dims == node.outputs[0].shape.known_dims


def _is_all(value: Value, number: int) -> bool:
    return value.constant is not None and value.constant.dtype != object and bool((value.constant == number).all())


def _if_whole(node: Node) -> Value | None:
    # A size that fits the operand does not fit behind another beginning: that is the kernel's error to raise.
    return _if_shape_stays(node) if _is_all(node.inputs[1], 0) else None


def _if_factor_is_one(node: Node) -> Value | None:
    a, b = node.inputs
    if _is_all(a, 1) and _keeps_shape(node, b):
        return b
    return a if _is_all(b, 1) and _keeps_shape(node, a) else None


def _if_divisor_is_one(node: Node) -> Value | None:
    a, b = node.inputs
    return a if _is_all(b, 1) and _keeps_shape(node, a) else None


def _if_subtrahend_is_zero(node: Node) -> Value | None:
    # x - 0 is x for every x; x + 0 is not (-0 + 0 is +0).
    a, b = node.inputs
    positive = _is_all(b, 0) and b.constant is not None and not np.signbit(b.constant).any()
    return a if positive and _keeps_shape(node, a) else None


SAME_AS: dict[str, SameAs] = {
    **dict.fromkeys(["Identity", "StopGradient", "PlaceholderWithDefault"], _first),
    **dict.fromkeys(["Tile", "Squeeze", "ExpandDims"], _if_shape_stays),
    **dict.fromkeys(["Reshape", "BroadcastTo"], _if_known_shape_stays),
    **dict.fromkeys(_REDUCTIONS, _if_no_axes),
    "AddN": _if_alone,
    "Slice": _if_whole,
    "Cast": _if_type_stays,
    "Transpose": _if_in_order,
    "Mul": _if_factor_is_one,
    "RealDiv": _if_divisor_is_one,
    "Sub": _if_subtrahend_is_zero,
}


# --- the pass ----------------------------------------------------------------------------------------------------


def simplify(draft: Draft) -> None:
    """Bypass no-ops and share equal computations; the nodes that lost their purpose go in `sweep`."""
    mortal = find_mortal(draft.nodes)
    roots = find_roots(draft)
    fetched = set(draft.fetches)
    kept = set(draft.targets)
    instead: dict[Value, Value] = {}
    known: dict[Hashable, Node] = {}
    constants: dict[Hashable, Value] = {}
    versions: dict[Hashable, int] = {}
    for node in draft.nodes:
        inputs = [instead.get(v, v) for v in node.inputs]
        node.inputs = [v if v.node in mortal else _canonical(v, constants) for v in inputs]
        for key in writes(node, roots):
            versions[key] = versions.get(key, 0) + 1
        if node in mortal or node in kept or not is_pure(node) or node.type in _CHECKS or not node.outputs:
            continue
        if all(v.constant is not None for v in node.outputs):
            continue
        _drop_kept_dims(node, roots)
        _shrink_constants(node)
        same = _same_value(node, fetched)
        if same is not None:
            instead[node.outputs[0]] = same
            continue
        key = _computation(node, roots, versions)
        if key is not None:
            first = known.setdefault(key, node)
            if first is not node:
                instead.update(zip(node.outputs, first.outputs, strict=True))
    draft.fetches = [instead.get(v, v) for v in draft.fetches]
    sweep(draft)


def _shrink_constants(node: Node) -> None:
    """Let one number stand for a large array of nothing else, where the other operand gives the result its shape."""
    if node.type not in _BROADCASTING or len(node.inputs) != 2:
        return
    for i, value in enumerate(node.inputs):
        array = value.constant
        if array is not None and array.size > 16 and array.dtype != object and _keeps_shape(node, node.inputs[1 - i]):
            first = array.ravel()[0]
            if (array == first).all() and first != 0:  # zeros may have different signs
                small = Value(value.node, value.index, value.name, value.dtype, TensorShape([]))
                small.constant = np.asarray(first)
                node.inputs[i] = small


def _drop_kept_dims(node: Node, roots: RootMap) -> None:
    """Make `reshape(sum(x, axes, keep_dims=True))`, where it only drops the kept ones, one sum (gradients often do)."""
    source = node.inputs[0].node if node.type == "Reshape" else None
    if source is None or source.type not in _REDUCTIONS or not source.attrs["keep_dims"]:
        return
    operand, axes = source.inputs
    dims, numbers = operand.shape.known_dims, axes.constant
    if dims is None or numbers is None:
        return
    reduced = {int(axis) % max(len(dims), 1) for axis in numbers.ravel()}
    if tuple(d for i, d in enumerate(dims) if i not in reduced) != node.outputs[0].shape.known_dims:
        return
    if any(isinstance(root, tuple) for root in roots[operand]):
        return  # it would read a variable later than the sum did, perhaps after an update
    node.op, node.kernel = source.op, source.kernel
    node.attrs = {**source.attrs, "keep_dims": False}
    node.inputs = list(source.inputs)


def _same_value(node: Node, fetched: set[Value]) -> Value | None:
    rule = SAME_AS.get(node.type)
    if rule is None or len(node.outputs) != 1:
        return None
    source = rule(node)
    if source is None:
        return None
    if source.dtype._is_ref_dtype and node.outputs[0] in fetched:
        # Fetching the reference instead would see the buffer that an update of another shape puts in its place.
        return None
    return source


def _computation(node: Node, roots: RootMap, versions: dict[Hashable, int]) -> Hashable | None:
    """What makes two nodes compute the same: op, attributes, inputs, and the state of the variables that they read."""
    attributes = []
    for name in node.op.attrs:
        frozen = _frozen(node.attrs.get(name))
        if frozen is None:
            return None
        attributes.append(frozen)
    state = tuple(sorted((repr(k), versions[k]) for v in node.inputs for k in roots[v] if k in versions))
    return (node.type, node.device, tuple(attributes), tuple(id(v) for v in node.inputs), state)


def _frozen(attribute: Any) -> Hashable | None:
    """A hashable stand-in for an attribute's value; None for messages, whose equality costs too much."""
    if isinstance(attribute, float):
        return (float, attribute.hex())  # which tells -0.0 from 0.0
    if isinstance(attribute, (bool, int, str, bytes, DType)):
        return (type(attribute), attribute)
    if isinstance(attribute, TensorShape):
        return ("shape", attribute.known_dims)
    if isinstance(attribute, list):
        parts = tuple(_frozen(a) for a in attribute)
        return None if None in parts else ("list", parts)
    return None


def _canonical(value: Value, constants: dict[Hashable, Value]) -> Value:
    """One Value for all equal small constants, so that the computations on them are seen to be equal."""
    array = value.constant
    if array is None or array.size > 16 or array.dtype == object or value.node is None:
        return value
    return constants.setdefault((value.dtype, array.shape, array.tobytes()), value)


def sweep(draft: Draft) -> None:
    """Drop the nodes that nothing needs: no fetch, no effect, no check.

    A pure node on which others only wait is dropped too: the order is fixed by now, and its value goes nowhere.
    """
    mortal = find_mortal(draft.nodes)
    targets = set(draft.targets)
    live: set[Node] = set()
    fetched = {v.node for v in draft.fetches}
    for node in reversed(draft.nodes):
        if not (node in live or node in fetched or node in targets or has_effect(node)):
            continue
        if node.type == "NoOp" and node not in mortal:
            continue
        live.add(node)
        # A constant is there without the node that made it.
        live.update(v.node for v in node.inputs if v.node is not None and (v.constant is None or v.node in mortal))
        live.update(c for c in node.controls if c in mortal)
    live = {n for n in live if n in mortal or not n.outputs or any(v.constant is None for v in n.outputs)}
    live.update(_last_readers(draft.nodes, live))
    draft.nodes = [n for n in draft.nodes if n in live]
    present = set(draft.nodes)
    for node in draft.nodes:
        node.controls = [c for c in node.controls if c in present]
    draft.targets = [t for t in draft.targets if t in present]


def _last_readers(nodes: list[Node], live: set[Node]) -> list[Node]:
    """One reader, with the variable, for each variable that nobody reads any more: that it has a value is still asked."""
    used = {value for node in live for value in node.inputs}
    kept: list[Node] = []
    for node in nodes:
        if node in live or node.op.allows_uninitialized_input or not is_pure(node):
            continue
        for value in node.inputs:
            if value.dtype._is_ref_dtype and value not in used:
                used.add(value)
                kept.extend(n for n in (node, value.node) if n is not None)
    return kept


def has_effect(node: Node) -> bool:
    """Whether running the node does more than give its outputs."""
    if node.kernel is not None and node.kernel.handle:
        return False
    op = node.op
    if op.is_stateful or node.type in _CHECKS:
        return True
    if op.has_ref_inputs and op.writes_refs:
        return True
    if op.has_ref_inputs and any(arg.is_ref and arg.dtype is dtypes.string for arg in op.inputs):
        return True  # the older kind of handle, of a queue, a reader, an accumulator
    return any(v.dtype.base_dtype.name in ("resource", "variant") for v in node.inputs)
