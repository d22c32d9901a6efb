"""`model=layers`: a network written as a list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import tfexp as tf
from tfexp.experiment.datasets.dataset import Spec
from tfexp.experiment.errors import SettingError
from tfexp.experiment.models.dense import dense
from tfexp.experiment.models.layer_kinds import Layer, parse
from tfexp.experiment.models.model import Supervised
from tfexp.experiment.schema import bounded

__all__ = ["Layers"]


@dataclass(frozen=True, kw_only=True)
class Layers(Supervised):
    """The `layers` one after the other (`layer_kinds`), then one output, or one for each class.

    Layer number 3, a conv, has its variables and nodes in the scope `3_conv`.
    """

    layers: tuple[Any, ...] = bounded(
        says="what stands between features and outputs: each a kind (relu), one with its first setting ({dense: 64}) or "
        "with several ({conv: {filters: 8, kernel: 5}})"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self._parsed()

    def check(self, spec: Spec) -> None:
        shape: tuple[int, ...] = (spec.width,)
        for at, (name, layer) in enumerate(self._parsed()):
            try:
                shape = layer.shape(shape)
            except SettingError as error:
                raise SettingError(f"model.layers[{at}].{name}", error.problem) from error
        if len(shape) != 1:
            raise SettingError(
                "model.layers",
                f"the last gives {list(shape)} and the outputs take rows of numbers: put flatten after it",
            )

    def outputs(self, features: tf.Tensor, spec: Spec) -> tf.Tensor:
        layer = features
        for number, (name, made) in enumerate(self._parsed(), start=1):
            layer = made.make(layer, f"{number}_{name}")
        return dense(layer, spec.classes or 1, "outputs")

    def _parsed(self) -> list[tuple[str, Layer]]:
        found = []
        for at, entry in enumerate(self.layers):
            try:
                found.append(parse(entry))
            except SettingError as error:
                raise error.under(f"layers[{at}]") from error.__cause__
        return found
