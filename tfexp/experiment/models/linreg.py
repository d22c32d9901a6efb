"""`model=linreg`: linear regression."""

from __future__ import annotations

from dataclasses import dataclass

import tfexp as tf
from tfexp.experiment.datasets.dataset import Spec
from tfexp.experiment.models.dense import dense
from tfexp.experiment.models.model import Regression
from tfexp.experiment.schema import bounded

__all__ = ["Linreg"]


@dataclass(frozen=True, kw_only=True)
class Linreg(Regression):
    l2: float = bounded(least=0, says="weight of the weights' sum of squares in the loss")

    def outputs(self, features: tf.Tensor, spec: Spec) -> tf.Tensor:
        return dense(features, 1, "linear", initializer=tf.zeros_initializer(), l2=self.l2)
