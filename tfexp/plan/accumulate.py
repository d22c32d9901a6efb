"""Gradient descent along a product of matrices: BLAS adds the product to the variable, so that it is never an array.

    var -= alpha * (a @ b)

takes one pass over a weight matrix instead of three, and no time to fetch from another core's cache what that has just made.
The numbers are the same but for rounding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from tfexp.core.errors import InvalidArgumentError
from tfexp.core.kernel import Call, Kernel, Ref
from tfexp.core.op import parse_signature
from tfexp.core.shape import dims_text
from tfexp.core.workers import are_alone, share
from tfexp.plan.alias import Updates, find_roots
from tfexp.plan.cost import seconds
from tfexp.plan.groups import replace
from tfexp.plan.ir import Draft, Node
from tfexp.plan.mortal import find_mortal

_WORTH_IT = 1 << 14  # elements of the variable: less stays in cache anyway
_ATTRS = "{T: type; transpose_a: bool; transpose_b: bool; seconds: float}"

# What takes the place of each update, as plans have it; no graph has these. `cost` knows them as products.
DESCENTS = {
    "ApplyGradientDescent": parse_signature(f"_DescendByProduct(var: ref T, alpha: T, a: T, b: T) -> (out: ref T) {_ATTRS}"),
    "ResourceApplyGradientDescent": parse_signature(
        f"_ResourceDescendByProduct(var: resource, alpha: T, a: T, b: T) -> () {_ATTRS} #stateful", on_variables=True
    ),
}

AddProduct = Callable[[np.ndarray, float, np.ndarray, np.ndarray], None]
"""`f(target, scale, left, right)`: target += scale * left @ right."""


def accumulate(draft: Draft, add_product: AddProduct) -> None:
    """Let each update take in the product that nobody but itself reads."""
    updates = [node for node in draft.nodes if node.type in DESCENTS]
    if not updates:
        return
    mortal, roots = find_mortal(draft.nodes), find_roots(draft)
    changes = Updates(draft, roots)
    position = {node: i for i, node in enumerate(draft.nodes)}
    readers = Counter([*draft.fetches, *(value for node in draft.nodes for value in node.inputs)])
    groups = {}
    for update in updates:
        product = update.inputs[2].node
        if product is None or not _fits(product, update) or not mortal.isdisjoint((product, update)):
            continue
        read = frozenset().union(*(roots[value] for value in product.inputs))
        if readers[update.inputs[2]] == 1 and not changes.between(read, position[product], position[update]):
            groups[_descent(product, update, add_product)] = [product, update]
    replace(draft, groups)


def _fits(product: Node, update: Node) -> bool:
    gradient = product.outputs[0]
    return (
        product.type == "MatMul"
        and product.device == update.device
        and gradient.constant is None
        and gradient.dtype.name in ("float32", "float64")
        and (gradient.shape.num_elements() or 0) >= _WORTH_IT
        and all(value.shape.is_fully_defined() and value.shape.rank == 2 for value in product.inputs)
        and update.inputs[1].shape.rank == 0
    )


def _descent(product: Node, update: Node, add_product: AddProduct) -> Node:
    gradient = product.outputs[0]
    transposed = product.attrs["transpose_a"], product.attrs["transpose_b"]
    attrs = {
        "T": gradient.dtype,
        "transpose_a": transposed[0],
        "transpose_b": transposed[1],
        "seconds": seconds(product),
    }
    node = Node(update.name, DESCENTS[update.type], attrs, update.device, update.origin, update.serial)
    node.inputs, node.outputs = [*update.inputs[:2], *product.inputs], update.outputs
    for value in node.outputs:
        value.node = node
    node.controls = list(dict.fromkeys([*product.controls, *update.controls]))
    node.behind = product.behind | update.behind
    dims = tuple(dim or 0 for dim in gradient.shape.as_list())
    node.call = Call(_function(dims, *transposed, add_product))
    function = node.call.function
    node.kernel = Kernel(lambda ctx, *inputs: function(*inputs), ())
    return node


def _function(
    dims: tuple[int, ...], transpose_a: bool, transpose_b: bool, add_product: AddProduct
) -> Callable[[Ref, Any, np.ndarray, np.ndarray], Ref]:
    def descend_by_product(ref: Ref, alpha: Any, a: np.ndarray, b: np.ndarray) -> Ref:
        left, right, scale = a.T if transpose_a else a, b.T if transpose_b else b, -float(alpha)
        with ref.updating:
            var: Any = ref.value
            if var.shape != dims:
                raise InvalidArgumentError(
                    None, None, f"var and delta do not have the same shape{dims_text(var.shape)} {dims_text(dims)}"
                )
            if are_alone():
                share(lambda part, start, stop: add_product(var[start:stop], scale, left[start:stop], right), len(var))
            else:
                add_product(var, scale, left, right)
        return ref

    return descend_by_product
