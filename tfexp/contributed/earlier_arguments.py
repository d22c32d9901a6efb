"""What the core has by now, with the arguments that it has in `tf.contrib`. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfexp.graph.tensor import Tensor
from tfexp.ops import losses
from tfexp.train import assignment_maps, checkpoint_utils

# --- `tf.contrib.framework` --------------------------------------------------------------------------------------------


def load_checkpoint(filepattern: str) -> Any:
    """`tf.train.load_checkpoint`."""
    return checkpoint_utils.load_checkpoint(filepattern)


def load_variable(checkpoint_dir: str, name: str) -> Any:
    """`tf.train.load_variable`."""
    return checkpoint_utils.load_variable(checkpoint_dir, name)


def list_variables(checkpoint_dir: str) -> list[tuple[str, list[int]]]:
    """`tf.train.list_variables`."""
    return checkpoint_utils.list_variables(checkpoint_dir)


def init_from_checkpoint(checkpoint_dir: str, assignment_map: Mapping[str, Any]) -> None:
    """`tf.train.init_from_checkpoint`."""
    assignment_maps.init_from_checkpoint(checkpoint_dir, assignment_map)


def remove_squeezable_dimensions(predictions: Any, labels: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """(predictions, labels), the one without its last dimension of 1 that has one more dimension than the other."""
    labels, predictions = losses.without_last_ones(labels, predictions, name=name)
    return predictions, labels
