"""What the work of a cluster costs, in seconds of one core, and what a stage of a graph comes to."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfexp.graph.operation import Operation

__all__ = ["Costs", "Network", "Stage", "size_of"]


@dataclass(frozen=True)
class Costs:
    """Seconds of a core; those of bytes are for one byte.

    `step`: of a worker, for what it does in any step beside what follows; `compute`: for the gradients of a batch.
    `asking` and `answering`: a request, for who makes it and for who answers it. `carrying`: a byte, for each of the two.
    `applying`: a gradient to a variable; `gathering`: to a sum of gradients; `averaging`: taking their mean out.
    `spread`: the standard deviation of the logarithm of what `compute` is multiplied by, which differs from step to step.
    """

    step: float = 0.0
    compute: float = 0.0
    asking: float = 0.0
    answering: float = 0.0
    carrying: float = 0.0
    applying: float = 0.0
    gathering: float = 0.0
    averaging: float = 0.0
    spread: float = 0.0


@dataclass(frozen=True)
class Network:
    """Bytes a second in each direction of a machine's link, and the seconds that a message takes besides; `near`: those
    between two tasks of one machine, whose bytes only cost what they cost the cores.
    """

    bandwidth: float = math.inf
    latency: float = 0.0
    near: float = 0.0


def size_of(values: Iterable[Any], unit: int) -> float:
    """Bytes that the values take on the way, where a float that is part of a matrix stands for `unit` of them."""
    total = 0.0
    for value in values:
        array = np.asarray(value)
        total += array.nbytes * (unit if array.ndim and not np.issubdtype(array.dtype, np.integer) else 1)
    return total


@dataclass(frozen=True)
class Stage:
    """What a graph on one task costs: `compute` for gradients; all else `before` what it may wait for, and `after`."""

    compute: float
    before: float
    after: float
    waits: bool

    @classmethod
    def of(cls, ops: Iterable[Operation], costs: Costs, unit: int) -> Stage:
        """Taking a mean out of an accumulator waits for gradients, and what it is then used for comes after that."""
        ops = list(ops)
        kinds = [_KINDS.get(op.type.removeprefix("Resource"), "") for op in ops]
        seconds = dict.fromkeys(_KINDS.values(), 0.0)
        for op, kind in zip(ops, kinds, strict=True):
            if kind:
                seconds[kind] += _bytes(op, unit) * getattr(costs, kind)
        compute = costs.compute if any(op.type == "TanhGrad" for op in ops) else 0.0
        before, after = seconds["gathering"], seconds["applying"] + seconds["averaging"]
        if "averaging" not in kinds:
            before, after = before + after, 0.0
        return cls(compute, before, after, any("Queue" in op.type or "Accumulator" in op.type for op in ops))


_KINDS = {
    "ApplyGradientDescent": "applying",
    "ScatterSub": "applying",
    "AccumulatorApplyGradient": "gathering",
    "AccumulatorTakeGradient": "averaging",
}


def _bytes(op: Operation, unit: int) -> float:
    """Of the gradient that the op is about: the largest of its inputs and outputs."""
    shapes = [t._shape for t in (*op._inputs, *op._outputs) if t.dtype.base_dtype.is_floating]
    elements = [math.prod(d or 1 for d in shape.as_list()) for shape in shapes if shape.rank is not None]
    return 4.0 * unit * max(elements, default=1)
