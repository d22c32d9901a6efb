"""What a run minimizes: one loss, or one for each part of a model, over that part's variables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import tfexp as tf
from tfexp.experiment.models.model import Parts

__all__ = ["Objective", "updates"]


@dataclass(frozen=True)
class Objective:
    """`value` is reported. `parts` has (scope in `model`, loss) of each part that minimizes a loss of its own."""

    value: tf.Tensor
    parts: tuple[tuple[str, tf.Tensor], ...] = ()

    @classmethod
    def of(cls, loss: tf.Tensor | Parts) -> Objective:
        """What a model's `loss` gave, and the regularization losses that its variables collected."""
        if isinstance(loss, Parts):
            parts = tuple((scope, _regularized(part, f"model/{scope}/")) for scope, part in loss.minimized.items())
            return cls(_regularized(loss.value, None), parts)
        return cls(_regularized(loss, None))

    def gradients(self, optimizer: tf.train.Optimizer) -> list[tuple[Any, Any]]:
        """(gradient, variable) pairs for `optimizer.apply_gradients`."""
        if not self.parts:
            return list(optimizer.compute_gradients(self.value))
        pairs = []
        for scope, loss in self.parts:
            variables = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope=f"model/{scope}/")
            pairs += optimizer.compute_gradients(loss, var_list=variables)
        return pairs


def updates(scope: str | None = None) -> list[Any]:
    """What is to be done in each training step beside applying gradients; of one copy of the model, whose scope that is."""
    return list(tf.get_collection(tf.GraphKeys.UPDATE_OPS, scope=scope))


def _regularized(loss: tf.Tensor, scope: str | None) -> tf.Tensor:
    collected = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES, scope=scope)
    return tf.add_n([loss, *collected], name="objective") if collected else loss
