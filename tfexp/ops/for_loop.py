"""For: a loop whose body is a function of the graph's library, called with the number of the turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.ops.array import Array, own_copies

for_op = define_op("For(start: int32, limit: int32, delta: int32, input: T) -> (output: T) {T: list(type) >= 0; body: func}")


@for_op.shape
def _(start: InputShape, limit: InputShape, delta: InputShape, input: Sequence[InputShape]) -> list[TensorShape]:
    return [TensorShape(None)] * len(input)


@for_op.kernel("CPU")
def _(ctx: Any, start: Array, limit: Array, delta: Array, input: Sequence[Any], *, body: Any) -> list[Any]:
    """What body(i, *values) gives, i from `start` to before `limit` by `delta`, values being what it gave before."""
    for name, number in (("start", start), ("limit", limit), ("delta", delta)):
        if np.ndim(number):
            raise InvalidArgumentError(None, None, f"{name} must be a scalar, but {list(np.shape(number))}")
    first, last, step = int(start), int(limit), int(delta)
    if not (first <= last and step > 0) and not (first >= last and step < 0):
        raise InvalidArgumentError(
            None,
            None,
            f"Invalid start/limit/delta: {first} {last} {step}: delta must be positive where start is below limit, "
            "and negative where it is above",
        )
    function = ctx.function(body)
    values = list(input)
    for turn in range(first, last, step):
        given = list(function([np.int32(turn), *values]))
        if len(given) != len(values):
            text = f"For loop body returned {len(given)} arguments. Expected: {len(values)}"
            raise InvalidArgumentError(None, None, text)
        values = given
    return own_copies(values)
