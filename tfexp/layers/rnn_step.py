"""One step of a recurrent network over examples of different lengths: those that are over keep their state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.core import nest
from tfexp.graph.control_flow import cond
from tfexp.graph.scopes import colocate_with
from tfexp.ops.array_mask import where
from tfexp.ops.tensor_array import TensorArray

Step = Callable[[], tuple[Any, Any]]


def masked_step(
    time: Any, lengths: Any, shortest: Any, longest: Any, zero_output: Any, state: Any, step: Step, *, always: bool
) -> tuple[Any, Any]:
    """(output, next state) of `step`, but zeros and the old state for examples whose length is not above `time`.

    always: the step runs even when all examples are over, else not; and selecting is skipped while none is.
    """
    outputs_before, states_before = nest.flatten(zero_output), nest.flatten(state)
    is_over = time >= lengths
    structure: list[Any] = []

    def stepped() -> tuple[list[Any], list[Any]]:
        output, following = step()
        nest.assert_same_structure(zero_output, output)
        nest.assert_same_structure(state, following)
        structure[:] = [following]
        return nest.flatten(output), nest.flatten(following)

    def selected(outputs: list[Any], states: list[Any]) -> list[Any]:
        pairs = [*zip(outputs_before, outputs, strict=True), *zip(states_before, states, strict=True)]
        return [_select(is_over, before, after) for before, after in pairs]

    def stepped_and_selected() -> Any:
        outputs, states = stepped()
        return cond(time < shortest, lambda: outputs + states, lambda: selected(outputs, states))

    if always:
        results = selected(*stepped())
    else:
        results = cond(time >= longest, lambda: outputs_before + states_before, stepped_and_selected)
    outputs, states = results[: len(outputs_before)], results[len(outputs_before) :]
    for before, after in [*zip(outputs_before, outputs, strict=True), *zip(states_before, states, strict=True)]:
        if not isinstance(after, TensorArray):
            after.set_shape(before.get_shape())
    return nest.pack_sequence_as(zero_output, outputs), nest.pack_sequence_as(structure[0], states)


def _select(is_over: Any, before: Any, after: Any) -> Any:
    if isinstance(before, TensorArray) or before.get_shape().ndims == 0:
        return after
    with colocate_with(after):
        return where(is_over, before, after)
