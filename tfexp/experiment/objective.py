"""What a run minimizes: one loss, or one for each part of a model, over that part's variables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import tfexp as tf
from tfexp.experiment.models.model import Parts

__all__ = ["Objective"]


@dataclass(frozen=True)
class Objective:
    """`value` is reported. `parts` has (scope in `model`, loss) of each part that minimizes a loss of its own."""

    value: tf.Tensor
    parts: tuple[tuple[str, tf.Tensor], ...] = ()

    @property
    def scopes(self) -> tuple[str, ...]:
        """What the names of each part's variables begin with."""
        return tuple(_scope_of(part) for part, _ in self.parts)

    @classmethod
    def of(cls, loss: tf.Tensor | Parts) -> Objective:
        """What a model's `loss` gave, and the regularization losses that its variables collected."""
        if isinstance(loss, Parts):
            parts = tuple((scope, _regularized(part, _scope_of(scope))) for scope, part in loss.minimized.items())
            return cls(_regularized(loss.value, None), parts)
        return cls(_regularized(loss, None))

    def gradients(self, optimizer: tf.train.Optimizer, scope: str | None = None) -> list[tuple[Any, Any]]:
        """(gradient, variable) pairs for `optimizer.apply_gradients`.

        Whoever takes a gradient has done what else belongs to a training step (`tf.GraphKeys.UPDATE_OPS`: the moving
        averages of batch normalization), of the copy of the model in the name scope `scope`. The gradients wait for it,
        not what is done with them: of several workers, one applies what others have handed in.
        """
        pairs = []
        for part, loss in self.parts or ((None, self.value),):
            variables = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope=None if part is None else _scope_of(part))
            if variables or part is None:  # a part may have been frozen as a whole
                pairs += optimizer.compute_gradients(loss, var_list=variables)
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS, scope=scope)
        if not updates:
            return pairs
        with tf.control_dependencies(updates):
            return [(gradient if gradient is None else _same(gradient), variable) for gradient, variable in pairs]


def _scope_of(part: str) -> str:
    return f"model/{part}/"


def _same(gradient: Any) -> Any:
    if isinstance(gradient, tf.IndexedSlices):
        return tf.IndexedSlices(tf.identity(gradient.values), gradient.indices, gradient.dense_shape)
    return tf.identity(gradient)


def _regularized(loss: tf.Tensor, scope: str | None) -> tf.Tensor:
    collected = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES, scope=scope)
    return tf.add_n([loss, *collected], name="objective") if collected else loss
