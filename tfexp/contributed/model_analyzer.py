"""`tf.contrib.slim.model_analyzer`: how large variables and the outputs of nodes are. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfexp.graph.graph import Graph

_RULE = "---------"


def tensor_description(var: Any) -> str:
    """`(float32 3x5)`: a tensor's or variable's type and sizes. ValueError where their number is unknown."""
    sizes = ["?" if size is None else str(size) for size in var.get_shape().as_list()]
    return f"({var.dtype.name} {'x'.join(sizes)})"


def analyze_vars(variables: Iterable[Any], print_info: bool = False) -> tuple[int, int]:
    """(number of elements, bytes) of variables together; print_info: with a line for each."""
    lines, elements, size = [_RULE, "Variables: name (type shape) [size]", _RULE], 0, 0
    for variable in variables:
        count = variable.get_shape().num_elements() or 0
        number_of_bytes = count * variable.dtype.size
        elements, size = elements + count, size + number_of_bytes
        lines.append(f"{variable.name} {tensor_description(variable)} [{count}, bytes: {number_of_bytes}]")
    lines += [f"Total size of variables: {elements}", f"Total bytes of variables: {size}"]
    if print_info:
        print(*lines, sep="\n")
    return elements, size


def analyze_ops(graph: Graph, print_info: bool = False) -> int:
    """The number of elements of what a graph's nodes give, as far as it is known; print_info: with a line for each."""
    lines, elements = [_RULE, "Operations: name -> (type shapes) [size]", _RULE], 0
    for op in graph.get_operations():
        known = [output for output in op.outputs if output.get_shape().ndims is not None]
        count = sum(output.get_shape().num_elements() or 0 for output in known)
        elements += count
        if op.outputs:
            lines.append(f"{op.name} \t-> {', '.join(map(tensor_description, known))} [{count}]")
    if print_info:
        print(*lines, sep="\n")
    return elements
