"""Of two nodes that may change places, the one that is cheap goes where it has fewer elements to compute.

The gradient of a Relu whose output was pooled masks what the gradient of the maxima laid out over all of the input. Where
each element is in one window, it gives the same bits to mask the maxima's gradient before, which for windows of 2 x 2 has a
quarter of the elements:

    relu_grad(max_pool_grad(x, y, g), x) = max_pool_grad(x, y, relu_grad(g, y))    with y = max_pool(x)

What a window's gradient is laid on equals its maximum (or both are NaN, which every mask stops), so that both masks have the
same to say of it; all other elements are 0, masked or not. Where windows overlap, a sum of masked gradients is not the
masked sum: -0 and overflow tell them apart.
"""

from __future__ import annotations

from collections import Counter

from tfexp.plan.ir import Draft, Node, Value
from tfexp.plan.mortal import find_mortal

# By the op of their gradients: masks f(gradients, features) by their outputs, and maxima over windows.
_MASKS = {"ReluGrad": "Relu", "Relu6Grad": "Relu6"}
_MAXIMA = {"MaxPoolGrad": "MaxPool", "MaxPool3DGrad": "MaxPool3D"}
_OF_WINDOWS = ("ksize", "strides", "padding", "data_format")


def commute(draft: Draft) -> None:
    """Let masks and gradients of maxima change places where that is exact and nobody else needs what lies between them."""
    masks = [node for node in draft.nodes if node.type in _MASKS]
    if not masks:
        return
    mortal = find_mortal(draft.nodes)
    readers = Counter(value for node in draft.nodes for value in node.inputs)
    fetched = set(draft.fetches)
    for mask in masks:
        between, last = mask.inputs[0], mask.outputs[0]
        if mask in mortal or readers[between] > 1 or between in fetched or last in fetched:
            continue
        if between.node is not None and between.constant is None and _commute(between.node, mask):
            _swap(between.node, mask)


def _commute(gradient: Node, mask: Node) -> bool:
    if gradient.type not in _MAXIMA or gradient.device != mask.device:
        return False
    x, y, above = gradient.inputs
    return (
        mask.inputs[1] is x
        and _is_made_by(x, _MASKS[mask.type])
        and _is_made_by(y, _MAXIMA[gradient.type])
        and y.node is not None
        and y.node.inputs[0] is x
        and all(y.node.attrs[name] == gradient.attrs[name] for name in _OF_WINDOWS)
        and above.shape.known_dims == y.shape.known_dims
        and _has_each_element_once(x, y, gradient)
    )


def _is_made_by(value: Value, op: str) -> bool:
    return value.node is not None and value.node.type == op


def _has_each_element_once(x: Value, y: Value, gradient: Node) -> bool:
    """Whether the windows share the elements of x out among them."""
    if not (x.shape.is_fully_defined() and y.shape.is_fully_defined()):
        return False
    sizes, strides = gradient.attrs["ksize"], gradient.attrs["strides"]
    dims = zip(x.shape.as_list(), y.shape.as_list(), sizes, strides, strict=True)
    return all(size == stride and n <= windows * stride for n, windows, size, stride in dims)


def _swap(gradient: Node, mask: Node) -> None:
    """Each runs in the other's place, under its own name; what orders others there still does."""
    x, y, above = gradient.inputs
    for part in ("name", "op", "attrs", "kernel", "origin"):
        of_gradient, of_mask = getattr(gradient, part), getattr(mask, part)
        setattr(gradient, part, of_mask)
        setattr(mask, part, of_gradient)
    masked, result = gradient.outputs[0], mask.outputs[0]
    masked.name, result.name = result.name, masked.name
    masked.shape = y.shape
    gradient.inputs, mask.inputs = [above, y], [x, y, masked]
