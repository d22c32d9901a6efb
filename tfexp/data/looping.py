"""Loops over the elements of a data set in converted functions (`tf.autograph`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfexp.autograph.iteration import register_iteration
from tfexp.data.dataset import Dataset
from tfexp.data.mixing import scanned
from tfexp.data.transformations import get_single_element, take_while
from tfexp.graph.control_flow import cond
from tfexp.graph.tensor import Tensor


def looped(
    dataset: Dataset,
    state: Sequence[Tensor],
    step: Callable[..., list[Any]],
    going_on: Callable[..., Any] | None,
) -> Sequence[Tensor]:
    """The state after `step(element, *state)` gave the next one for all elements, or for as long as `going_on(*state)`."""
    initial = tuple(state)
    if going_on is None:
        result: Sequence[Tensor] = dataset.reduce(initial, lambda state, element: tuple(step(element, *state)))
        return result

    def advance(state: tuple[Any, ...], element: Any) -> Any:
        goes_on = going_on(*state)
        following = tuple(cond(goes_on, lambda: step(element, *state), lambda: list(state), strict=True))
        return following, (goes_on, following)

    steps = take_while(lambda goes_on, _: goes_on)(scanned(dataset, initial, advance))
    last: Sequence[Tensor] = steps.reduce(initial, lambda _, step: step[1])
    return last


register_iteration(Dataset, looped, get_single_element)
