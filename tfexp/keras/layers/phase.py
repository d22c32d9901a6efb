"""Training or not: how a layer chooses between its two computations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.graph.control_flow import cond
from tfexp.graph.shape_inference import static_value
from tfexp.graph.tensor import Tensor
from tfexp.keras import backend


def phase(training: Any) -> Any:
    """The given `training` (bool, number or tensor); for None the learning phase of the graph."""
    return backend.learning_phase() if training is None else training


def known_truth(value: Any) -> bool | None:
    """Whether `training` is on; None where only the run knows."""
    if isinstance(value, Tensor):
        known = static_value(value)
        return None if known is None else bool(known)
    return None if hasattr(value, "initializer") else bool(value)  # a variable changes


def by_phase(training: Any, when_training: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
    """The one or the other, or both under a `cond` where only the run knows. `training` is not None."""
    known = known_truth(training)
    return cond(training, when_training, otherwise) if known is None else when_training() if known else otherwise()
