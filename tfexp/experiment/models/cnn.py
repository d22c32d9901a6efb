"""`model=cnn`: convolutions and pooling, then a fully connected layer; for images of numbers in rows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import tfexp as tf
from tfexp.experiment.datasets.dataset import Spec
from tfexp.experiment.errors import SettingError
from tfexp.experiment.models.dense import dense
from tfexp.experiment.models.model import Supervised
from tfexp.experiment.models.phase import dropout
from tfexp.experiment.schema import bounded

__all__ = ["Cnn"]

_POOL = 2


@dataclass(frozen=True, kw_only=True)
class Cnn(Supervised):
    """For each of `filters` a convolution and a max pooling that halves height and width, then `dense` units."""

    image: tuple[int, ...] = bounded(least=1, says="height, width and channels of the image in the features of a row")
    filters: tuple[int, ...] = bounded(least=1, says="filters of each convolution, the first next to the image")
    kernel: int = bounded(least=1, says="height and width of the filters")
    dense: int = bounded(least=1, says="units between the convolutions and the outputs")
    dropout: float = bounded(least=0, below=1, says="share of these units that a training step leaves out")
    l2: float = bounded(least=0, says="weight of the fully connected weights' sum of squares in the loss")

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.image) != 3:
            raise SettingError("image", f"{list(self.image)} must be three numbers: height, width and channels")
        smaller = min(self.image[:2])
        if _POOL ** len(self.filters) > smaller:
            raise SettingError(
                "filters",
                f"{len(self.filters)} convolutions halve the image as often, and {list(self.image)} can be halved "
                f"{int(math.log(smaller, _POOL))} times: give at most so many",
            )

    def check(self, spec: Spec) -> None:
        pixels = math.prod(self.image)
        if pixels != spec.width:
            raise SettingError(
                "model.image",
                f"{list(self.image)} is {pixels} numbers and a row of this data has {spec.width} features: give the height, "
                "width and channels of the data's images, or data=digits, whose are [8, 8, 1]",
            )

    def outputs(self, features: tf.Tensor, spec: Spec) -> tf.Tensor:
        layer = tf.reshape(features, [-1, *self.image], name="image")
        for number, filters in enumerate(self.filters, start=1):
            layer = tf.layers.conv2d(
                layer,
                filters,
                self.kernel,
                padding="same",
                activation=tf.nn.relu,
                kernel_initializer=tf.variance_scaling_initializer(scale=2.0),  # He et al. 2015, as for mlp
                name=f"conv{number}",
            )
            layer = tf.layers.max_pooling2d(layer, _POOL, _POOL, name=f"pool{number}")
        layer = tf.reshape(layer, [-1, math.prod(side.value for side in layer.get_shape()[1:])], name="flat")
        layer = tf.nn.relu(
            dense(layer, self.dense, "dense", initializer=tf.variance_scaling_initializer(scale=2.0), l2=self.l2)
        )
        layer = dropout(layer, self.dropout, "dropout")
        return dense(layer, spec.classes or 1, "outputs", l2=self.l2)
