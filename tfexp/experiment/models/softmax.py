"""`model=softmax`: softmax regression, one linear score for each class."""

from __future__ import annotations

from dataclasses import dataclass

import tfexp as tf
from tfexp.experiment.datasets.dataset import Spec
from tfexp.experiment.models.dense import dense
from tfexp.experiment.models.model import Classification
from tfexp.experiment.schema import bounded

__all__ = ["Softmax"]


@dataclass(frozen=True, kw_only=True)
class Softmax(Classification):
    l2: float = bounded(least=0, says="weight of the weights' sum of squares in the loss")

    def outputs(self, features: tf.Tensor, spec: Spec) -> tf.Tensor:
        assert spec.classes is not None  # checked by Classification.check
        return dense(features, spec.classes, "linear", initializer=tf.zeros_initializer(), l2=self.l2)
