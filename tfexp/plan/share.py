"""In steps whose kernels split their work over the intra-op threads, large element-wise nodes do so too."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from tfexp.core.kernel import Call
from tfexp.core.workers import share
from tfexp.plan.ir import Draft, Node

_WORTH_SHARING = 1 << 18  # elements: some hundred microseconds


def share_elementwise(draft: Draft) -> None:
    """Let the direct calls of large element-wise nodes share out their rows, if the step owns the cores anyway."""
    if not draft.sections and not any(node.kernel is not None and node.kernel.shares for node in draft.nodes):
        return
    in_strands = {node for strands in draft.sections for strand in strands for node in strand}
    for node in draft.nodes:
        if node in in_strands:
            continue  # its thread is one of those already
        if node.call is not None and node.call.elementwise and node.call.out and len(node.outputs) == 1:
            node.call = _shared(node, node.call)


def _shared(node: Node, call: Call) -> Call:
    output = node.outputs[0]
    dims = output.shape.known_dims
    known = [value.shape.known_dims for value in node.inputs]
    if dims is None or len(dims) < 2 or None in dims or any(d is None or None in d for d in known):
        return call
    if (output.shape.num_elements() or 0) < _WORTH_SHARING or dims[0] == 1:
        return call
    shapes: list[Any] = [*known, *(shape for shape, _ in call.scratch)]
    cut = [len(shape) == len(dims) and shape[0] == dims[0] for shape in shapes]
    dtype = np.dtype(output.dtype.as_numpy_dtype)
    return dataclasses.replace(call, function=_by_rows(call.function, cut, dims, dtype))  # type: ignore[arg-type]  # known


def _by_rows(
    function: Callable[..., Any], cut: list[bool], dims: tuple[int, ...], dtype: np.dtype[Any]
) -> Callable[..., Any]:
    """`function` on parts of the arrays that are `cut` along their first axis, and on the others as they are."""

    def shared(*arrays: Any, out: Any = None) -> Any:
        result = np.empty(dims, dtype) if out is None else out

        def work(part: int, start: int, stop: int) -> None:
            rows = [a[start:stop] if is_cut else a for a, is_cut in zip(arrays, cut, strict=True)]
            function(*rows, out=result[start:stop])

        share(work, dims[0])
        return result

    return shared
