"""Whole beams from the steps of a beam search, where a step knows only its parent in the step before."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.errors import InvalidArgumentError
from tfexp.core.merged_shape import merged
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array
from tfexp.ops.shape_rules import with_rank

gather_tree_op = define_op(
    "GatherTree(step_ids: T, parent_ids: T, max_sequence_lengths: int32, end_token: T) -> (beams: T) {T: type in [int32]}"
)


@gather_tree_op.shape
def _(step_ids: InputShape, parent_ids: InputShape, lengths: InputShape, end_token: InputShape) -> TensorShape:
    dims = merged(with_rank(step_ids, 3), with_rank(parent_ids, 3)).as_list()
    [batch] = merged(TensorShape([dims[1]]), with_rank(lengths, 1)).as_list()
    with_rank(end_token, 0)
    return TensorShape([dims[0], batch, dims[2]])


@gather_tree_op.kernel("CPU")
def _(ctx: Any, step_ids: Array, parent_ids: Array, lengths: Array, end_token: Array) -> Array:
    if step_ids.ndim != 3 or step_ids.shape != parent_ids.shape:
        raise InvalidArgumentError(
            None,
            None,
            "step_ids and parent_ids must be [time, batch, beams], of one shape, "
            f"but are {dims_text(step_ids.shape)} and {dims_text(parent_ids.shape)}",
        )
    times, batch, width = step_ids.shape
    if lengths.shape != (batch,) or end_token.ndim != 0:
        raise InvalidArgumentError(
            None,
            None,
            f"max_sequence_lengths must be [{batch}] and end_token a scalar, "
            f"but are {dims_text(lengths.shape)} and {dims_text(end_token.shape)}",
        )
    beams = np.full_like(step_ids, end_token)
    example, beam = np.ogrid[:batch, :width]
    at = np.broadcast_to(beam, (batch, width))
    # Each step hangs on the one behind it; all beams of all examples go back together, from where each example ends.
    for time in reversed(range(times)):
        begun = time < lengths[:, np.newaxis]
        beams[time] = np.where(begun, step_ids[time][example, at], end_token)
        if time == 0:
            break
        parents = parent_ids[time][example, at]
        lost = begun & ((parents < 0) | (parents >= width))
        if lost.any():
            b, w = (int(i) for i in np.argwhere(lost)[0])
            raise InvalidArgumentError(
                None, None, f"parent id {parents[b, w]} at (batch, time, beam) == ({b}, {time}, {w}) is not in [0, {width})"
            )
        at = np.where(begun, parents, beam)
    ended = np.logical_or.accumulate(beams == end_token, axis=0)
    beams[ended] = end_token
    return beams


def gather_tree(
    step_ids: Any, parent_ids: Any, max_sequence_lengths: Any, end_token: Any, name: str | None = None
) -> Tensor:
    """[time, batch, beams] ids of whole beams, with `end_token` from where each first has it or its example is over.

    step_ids, parent_ids: int32 [time, batch, beams], the ids of each step and the beams of the step before that they follow.
    max_sequence_lengths: int32 [batch]. Source: `tf.contrib.seq2seq.gather_tree`.
    """
    beams: Tensor = gather_tree_op(step_ids, parent_ids, max_sequence_lengths, end_token, name=name)
    return beams
