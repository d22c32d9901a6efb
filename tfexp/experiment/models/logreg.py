"""`model=logreg`: logistic regression of two classes."""

from __future__ import annotations

from dataclasses import dataclass

import tfexp as tf
from tfexp.experiment.datasets.dataset import Spec
from tfexp.experiment.errors import SettingError
from tfexp.experiment.models.dense import dense
from tfexp.experiment.models.model import Classification
from tfexp.experiment.models.objectives import share_of
from tfexp.experiment.schema import bounded

__all__ = ["Logreg"]


@dataclass(frozen=True, kw_only=True)
class Logreg(Classification):
    """The outputs are log-odds of class 1, [rows, 1]."""

    l2: float = bounded(least=0, says="weight of the weights' sum of squares in the loss")

    def check(self, spec: Spec) -> None:
        super().check(spec)
        if spec.classes != 2:
            raise SettingError(
                "model",
                f"Logreg tells two classes apart and this data has {spec.classes}: choose model=softmax, or "
                "data=breast_cancer",
            )

    def outputs(self, features: tf.Tensor, spec: Spec) -> tf.Tensor:
        return dense(features, 1, "linear", initializer=tf.zeros_initializer(), l2=self.l2)

    def loss(self, outputs: tf.Tensor, labels: tf.Tensor, spec: Spec) -> tf.Tensor:
        targets = tf.expand_dims(tf.cast(labels, tf.float32), 1)
        losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=targets, logits=outputs)
        return tf.reduce_mean(losses, name="cross_entropy")

    def metrics(self, outputs: tf.Tensor, labels: tf.Tensor, spec: Spec) -> dict[str, tf.Tensor]:
        return {"accuracy": share_of(tf.equal(self.chosen(outputs, spec), labels))}

    def chosen(self, outputs: tf.Tensor, spec: Spec) -> tf.Tensor:
        return tf.cast(tf.squeeze(outputs, [1]) > 0.0, tf.int64)

    def predictions(self, outputs: tf.Tensor, spec: Spec) -> dict[str, tf.Tensor]:
        return super().predictions(tf.concat([tf.zeros_like(outputs), outputs], 1), spec)
