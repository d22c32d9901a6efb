"""The arguments of functions that stand for what the functions use of the graphs around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.graph.eager_tensor import EagerTensor
from tfexp.graph.tensor import Tensor


def within(ys: Sequence[Any], x: Tensor) -> Tensor:
    """What stands for `x` in the graph of the ys: in a function, a copy or an eager tensor's argument."""
    captured: dict[Tensor, Tensor] = getattr(ys[0].graph, "captured", {}) if ys else {}
    found = captured.get(x, x)
    return found if isinstance(x, EagerTensor) or not _is_argument(found) else x


def _is_argument(tensor: Tensor) -> bool:
    """Whether what a function has for a captured tensor is an argument; else it is a copy."""
    return not isinstance(tensor, EagerTensor) and tensor.op.type == "Placeholder"


def captured_arguments(ys: Sequence[Any], xs: Sequence[Tensor]) -> dict[Tensor, Tensor]:
    """{argument: what it stands for in a graph around} of the functions that the ys are in, but for the xs themselves."""
    found: dict[Tensor, Tensor] = {}
    graphs: dict[Any, None] = dict.fromkeys(y.graph for y in ys)
    while graphs:
        graph, _ = graphs.popitem()
        captured: dict[Tensor, Tensor] = getattr(graph, "captured", {})
        for outer, inner in captured.items():
            if _is_argument(inner) and not isinstance(outer, EagerTensor):
                found[inner] = outer
        if captured:
            graphs[graph.outer] = None
    for x in xs:
        found.pop(x, None)
    return found
