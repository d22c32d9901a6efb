"""What a node finds out on its way stays for its gradient, where both have calls for that (`Call.leaves`, `Call.finds`).

Max pooling knows which element was the largest of a window; its gradient need not look for it again. What is left is a value
of the plan, an array that the step has memory for before it is filled: steps at the same time have one each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.kernel import Call, Kernel
from tfexp.core.op import parse_signature
from tfexp.core.shape import TensorShape
from tfexp.plan.groups import node_of, replace
from tfexp.plan.ir import Draft, Node, Value
from tfexp.plan.mortal import find_mortal

_ARRAY = parse_signature("_Array() -> (output: T) {T: type; seconds: float}")


def leave(draft: Draft) -> None:
    """Let nodes leave what their gradients find: one gradient each, the first one."""
    finders = [node for node in draft.nodes if node.call is not None and node.call.finds is not None]
    if not finders:
        return
    mortal = find_mortal(draft.nodes)
    array_of: dict[Node, Node] = {}
    instead: dict[Node, list[Node]] = {}
    for gradient in finders:
        node = _of(gradient)
        if node is None or node in mortal or gradient in mortal:
            continue
        assert node.call is not None and node.call.leaves is not None
        assert gradient.call is not None and gradient.call.finds is not None
        dims, dtype, leaving = node.call.leaves
        array_of[node] = array = _array(node, dims, dtype)
        instead[_with(node, array, leaving)] = [node]
        instead[_with(gradient, array, gradient.call.finds)] = [gradient]
    draft.nodes = [n for node in draft.nodes for n in ([array_of[node], node] if node in array_of else [node])]
    replace(draft, instead)


def _of(gradient: Node) -> Node | None:
    """The node that this is the gradient of: its inputs are that one's, then the output and the gradient of that."""
    node = gradient.inputs[-2].node
    if node is None or node.call is None or node.call.leaves is None:
        return None
    if gradient.type != f"{node.type}Grad":
        return None
    alike = all(gradient.attrs[name] == node.attrs[name] for name in gradient.attrs.keys() & node.attrs.keys())
    return node if alike and gradient.inputs[:-2] == node.inputs and gradient.device == node.device else None


def _array(node: Node, dims: tuple[int, ...], dtype: Any) -> Node:
    kind = dtypes.as_dtype(dtype)
    array = Node(f"{node.name}/left", _ARRAY, {"T": kind, "seconds": 0.0}, node.device, node.origin, node.serial)
    value = Value(array, 0, f"{array.name}:0", kind, TensorShape(dims))
    array.outputs = [value]
    array.controls, array.behind = list(node.controls), node.behind
    empty = _empty(dims, dtype)
    array.call, array.kernel = Call(empty, out=True), Kernel(lambda ctx: empty(), ())
    return array


def _empty(dims: tuple[int, ...], dtype: Any) -> Callable[..., np.ndarray]:
    def empty(out: np.ndarray | None = None) -> np.ndarray:
        return np.empty(dims, dtype) if out is None else out

    return empty


def _with(node: Node, array: Node, call: Call) -> Node:
    """The node with a further input."""
    return node_of([node], [*node.inputs, array.outputs[0]], call, shares=True)
