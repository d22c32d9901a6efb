"""The interface of the config group `model`.

A model of one's own is a frozen dataclass derived from `Regression`, `Classification`, `Supervised` or `Model` (its fields
are its settings) that builds its part of the graph:

    @dataclass(frozen=True)
    class Wide(Regression):
        width: int = 8

        def outputs(self, features: tf.Tensor, spec: Spec) -> tf.Tensor:
            return dense(tf.nn.relu(dense(features, self.width, "wide")), 1, "out")

and `python -m tfexp model=own model.target=mypackage.nets:Wide model.width=64` trains it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

import tfexp as tf
from tfexp.experiment.datasets.dataset import Spec
from tfexp.experiment.errors import SettingError
from tfexp.experiment.models.objectives import (
    cross_entropy,
    mean_squared_error,
    of_classes,
    of_numbers,
    regression_metrics,
    share_of,
)
from tfexp.experiment.schema import Section

__all__ = ["Classification", "Model", "Parts", "Regression", "Supervised"]


@dataclass(frozen=True)
class Parts:
    """The losses of a model whose parts minimize something of their own each.

    `value` is reported. `minimized` has, by the scope of a part's variables within `model`, what is minimized over these.
    """

    value: tf.Tensor
    minimized: dict[str, tf.Tensor]


@dataclass(frozen=True, kw_only=True)
class Model(Section, ABC):
    """What is trained. Its graph is made in the variable scope `model`, in the default graph."""

    def check(self, spec: Spec) -> None:
        """Raise ExperimentError if data of this kind cannot be learned by this model."""

    def check_rows(self, features: np.ndarray, spec: Spec) -> None:
        """Raise ExperimentError if rows like these, float32 [rows, spec.width], cannot; called after `check`."""

    @abstractmethod
    def outputs(self, features: tf.Tensor, spec: Spec) -> Any:
        """The predictions or class scores for `features`, float32 [rows, spec.width]; or whatever `loss` and `metrics`
        take.

        A layer that trains otherwise than it evaluates asks `phase.training`, one that draws random numbers `phase`.
        """

    @abstractmethod
    def loss(self, outputs: Any, labels: tf.Tensor, spec: Spec) -> tf.Tensor | Parts:
        """The scalar to minimize, or one for each part, without the regularization losses that the variables collected.

        `labels` is float32 [rows, 1], or int64 [rows] where the data has classes.
        """

    @abstractmethod
    def metrics(self, outputs: Any, labels: tf.Tensor, spec: Spec) -> dict[str, tf.Tensor]:
        """Named scalars that say how good `outputs` are for all of a part of the data; the first is drawn."""

    def chosen(self, outputs: Any, spec: Spec) -> tf.Tensor | None:
        """The class that each row is taken for, int64 [rows]: a run keeps the confusion matrix of its test rows.

        None, as here, where no class is chosen: there is no such matrix.
        """
        return None

    def predictions(self, outputs: Any, spec: Spec) -> dict[str, tf.Tensor]:
        """What the trained model is asked for, by name, in terms of the data as it was read: each [rows, …].

        Without any, as here, `python -m tfexp.export` refuses the model.
        """
        return {}


@dataclass(frozen=True, kw_only=True)
class Supervised(Model):
    """Predicts numbers or classes, as the data has them: `outputs` are [rows, 1], or a score for each class."""

    def loss(self, outputs: tf.Tensor, labels: tf.Tensor, spec: Spec) -> tf.Tensor:
        return mean_squared_error(outputs, labels) if spec.classes is None else cross_entropy(outputs, labels)

    def metrics(self, outputs: tf.Tensor, labels: tf.Tensor, spec: Spec) -> dict[str, tf.Tensor]:
        if spec.classes is None:
            return regression_metrics(outputs, labels, spec)
        return {"accuracy": share_of(tf.equal(tf.argmax(outputs, 1), labels))}

    def chosen(self, outputs: tf.Tensor, spec: Spec) -> tf.Tensor | None:
        """That with the greatest score, where `outputs` has a score for each class."""
        scores = isinstance(outputs, tf.Tensor) and outputs.shape.ndims == 2 and outputs.shape[1] == spec.classes
        return tf.argmax(outputs, 1) if scores else None

    def predictions(self, outputs: tf.Tensor, spec: Spec) -> dict[str, tf.Tensor]:
        return of_numbers(outputs, spec) if spec.classes is None else of_classes(outputs, spec)


@dataclass(frozen=True, kw_only=True)
class Regression(Supervised):
    """Predicts a number: `outputs` are [rows, 1]."""

    def check(self, spec: Spec) -> None:
        if spec.classes is not None:
            raise SettingError(
                "model",
                f"{type(self).__name__} predicts numbers and this data has {spec.classes} classes: choose model=softmax, "
                "mlp, or another that knows classes, or data=diabetes, line, or csv without data.classes",
            )


@dataclass(frozen=True, kw_only=True)
class Classification(Supervised):
    """Chooses one of the classes: `outputs` are scores (logits), [rows, classes]."""

    def check(self, spec: Spec) -> None:
        if spec.classes is None:
            raise SettingError(
                "model",
                f"{type(self).__name__} needs classes and this data's labels are numbers: choose model=linreg, mlp, or "
                "another that predicts numbers, or data=digits, breast_cancer, or csv with data.classes=<how many>",
            )
