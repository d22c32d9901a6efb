"""Random ops for many elements at once: as many runs of a node as there are elements, in one go, of the same numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.graph.operation import Operation
from tfexp.ops import distributions, philox
from tfexp.ops.philox import Array, PhiloxState, words_per_value
from tfexp.ops.random import stream_of

# The ops whose values come from the blocks of their stream in order, some from each.
DRAWN = frozenset({"RandomUniform", "RandomUniformInt", "RandomStandardNormal"})


class RowDraws:
    """What a node of one of these ops draws for each of many elements; `inputs` are the same for all of them."""

    def __init__(self, op: Operation, inputs: Sequence[Array]):
        self.op = op
        self.dims = tuple(inputs[0].tolist())
        self.size = int(np.prod(self.dims, dtype=np.int64))
        self._bounds = [int(bound) for bound in inputs[1:]]  # of integers
        self._dtype = op.outputs[0].dtype.as_numpy_dtype
        # Otherwise a run fails, or draws nothing.
        self.possible = min(self.dims, default=1) > 0 and self._bounds == sorted(set(self._bounds))

    def stream(self, node_state: dict[str, Any]) -> PhiloxState:
        """The stream that the node draws from, in the state in which it left it."""
        return stream_of(node_state, self.op.attrs["seed"], self.op.attrs["seed2"])

    def __call__(self, state: PhiloxState, count: int) -> Array:
        """The next `count` elements' values, [count, *dims]."""
        per_block = 4 // words_per_value(self._dtype)
        blocks = -(-self.size // per_block)
        stream = state.take_for_each(count, self.size, blocks)
        values = count * blocks * per_block
        if self._bounds:
            low, high = self._bounds
            drawn = philox.uniform_int(stream, values, low, high, self._dtype)
        elif self.op.type == "RandomUniform":
            drawn = philox.uniform(stream, values, self._dtype)
        else:
            drawn = distributions.standard_normal(stream, values, self._dtype)
        rows: Array = drawn.reshape(count, -1)[:, : self.size]
        return rows.reshape(count, *self.dims)
