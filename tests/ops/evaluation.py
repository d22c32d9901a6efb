"""Values of tensors by their kernels alone, one node after another: so that a perturbed input costs little."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core.op import flatten_args, group_inputs
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor


def evaluate(fetches: Sequence[Tensor], feeds: dict[Tensor, Any]) -> list[np.ndarray]:
    """Values by running kernels one after another: no plan, no session."""
    values: dict[Tensor, Any] = dict(feeds)
    run([Step(op) for op in needed(fetches, feeds)], values)
    return [np.asarray(values[t]) for t in fetches]


def needed(fetches: Sequence[Tensor], feeds: dict[Tensor, Any]) -> list[Operation]:
    """The nodes to run for these values, inputs first."""
    known = set(feeds)
    ordered: list[Operation] = []
    pending: list[Operation] = [t.op for t in fetches if t not in known]
    while pending:
        op = pending[-1]
        missing = [t.op for t in op.inputs if t not in known]
        if all(t in known for t in op.outputs):
            pending.pop()
        elif missing:
            pending.extend(missing)
        else:
            ordered.append(pending.pop())
            known.update(op.outputs)
    return ordered


class Step:
    """A node's kernel, with what it takes from the node."""

    def __init__(self, op: Operation):
        kernel = op._op_def.kernels["CPU"]
        self.op, self.inputs, self.outputs, self.attrs = op._op_def, op.inputs, op.outputs, op.attrs
        self.kernel = functools.partial(kernel.function, None, **kernel.declared(op.attrs))


def run(steps: Sequence[Step], values: dict[Tensor, Any]) -> None:
    """Add what the nodes give to what is known."""
    with np.errstate(all="ignore"):
        for step in steps:
            result = step.kernel(*group_inputs(step.op, [values[t] for t in step.inputs], step.attrs))
            results = [result] if step.op.has_single_output else flatten_args(result)
            values.update(zip(step.outputs, results, strict=True))
