"""`model=ensemble`: several models of one kind, trained side by side, whose predictions are averaged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import tfexp as tf
from tfexp.experiment.datasets.dataset import Spec
from tfexp.experiment.errors import SettingError
from tfexp.experiment.models.model import Model, Parts, Supervised
from tfexp.experiment.reading import read
from tfexp.experiment.schema import bounded, resolve

__all__ = ["Ensemble"]


@dataclass(frozen=True, kw_only=True)
class Ensemble(Model):
    """`members` models that differ in their initial values (and what dropout leaves out), in the scopes `member1`,
    `member2`…. Each minimizes its own loss. The average is of numbers, or of scores; the loss that is reported is the
    average's.

    Source: Lakshminarayanan et al. 2017, "Simple and scalable predictive uncertainty estimation using deep ensembles".
    """

    members: int = bounded(least=1, says="how many models")
    member: dict[str, Any] = bounded(
        says="the kind of model, with its settings: model@model.member=<choice> chooses another"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self._member()

    def check(self, spec: Spec) -> None:
        try:
            self._member().check(spec)
        except SettingError as error:
            raise SettingError(f"model.member{error.key.removeprefix('model')}", error.problem) from error

    def outputs(self, features: tf.Tensor, spec: Spec) -> tf.Tensor:
        """[members, rows, …]: what each member says."""
        member, found = self._member(), []
        for number in range(1, self.members + 1):
            with tf.variable_scope(f"member{number}"):
                found.append(member.outputs(features, spec))
        return tf.stack(found, name="members")

    def loss(self, outputs: tf.Tensor, labels: tf.Tensor, spec: Spec) -> Parts:
        member = self._member()
        with tf.name_scope("average"):
            average = member.loss(tf.reduce_mean(outputs, axis=0), labels, spec)
        own = {}
        for number, its in enumerate(tf.unstack(outputs, self.members), start=1):
            with tf.name_scope(f"member{number}"):
                own[f"member{number}"] = member.loss(its, labels, spec)
        return Parts(average, own)

    def metrics(self, outputs: tf.Tensor, labels: tf.Tensor, spec: Spec) -> dict[str, tf.Tensor]:
        return self._member().metrics(tf.reduce_mean(outputs, axis=0), labels, spec)

    def chosen(self, outputs: tf.Tensor, spec: Spec) -> tf.Tensor | None:
        return self._member().chosen(tf.reduce_mean(outputs, axis=0), spec)

    def predictions(self, outputs: tf.Tensor, spec: Spec) -> dict[str, tf.Tensor]:
        return self._member().predictions(tf.reduce_mean(outputs, axis=0), spec)

    def _member(self) -> Supervised:
        settings = dict(self.member)
        try:
            kind = resolve(str(settings.pop("target", "")), Model)
            if not issubclass(kind, Supervised):
                raise SettingError("target", f"{kind.__name__} predicts no numbers or classes that could be averaged")
            return read(kind, settings)
        except SettingError as error:
            raise error.under("member") from error.__cause__
