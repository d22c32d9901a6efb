"""`model=mlp`: fully connected layers, for numbers and for classes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import tfexp as tf
from tfexp.experiment.datasets.dataset import Spec
from tfexp.experiment.models.dense import dense
from tfexp.experiment.models.model import Supervised
from tfexp.experiment.schema import bounded

__all__ = ["Activation", "Mlp"]


class Activation(Enum):
    """Each member's value is its function's name in `tf.nn`."""

    relu = "relu"
    tanh = "tanh"
    sigmoid = "sigmoid"
    elu = "elu"


@dataclass(frozen=True, kw_only=True)
class Mlp(Supervised):
    """`hidden` layers of those widths, then one output, or one for each class."""

    hidden: tuple[int, ...] = bounded(least=1, says="widths of the hidden layers, the first next to the features")
    activation: Activation = bounded(says="of the hidden layers")
    l2: float = bounded(least=0, says="weight of the weights' sum of squares in the loss")

    def outputs(self, features: tf.Tensor, spec: Spec) -> tf.Tensor:
        activate = getattr(tf.nn, self.activation.value)
        # He et al. 2015 for units that are half off, Glorot & Bengio 2010 for the others
        initializer = (
            tf.variance_scaling_initializer(scale=2.0)
            if self.activation is Activation.relu
            else tf.glorot_uniform_initializer()
        )
        layer = features
        for number, width in enumerate(self.hidden, start=1):
            layer = activate(dense(layer, width, f"hidden{number}", initializer=initializer, l2=self.l2))
        return dense(layer, spec.classes or 1, "outputs", l2=self.l2)
