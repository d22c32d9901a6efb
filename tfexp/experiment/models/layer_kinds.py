"""The entries of `model=layers`: each kind of layer with its settings, the shapes that it takes, and its part of the graph.

An entry is a kind's name (`relu`), a kind with its first setting (`{dense: 64}`) or with several (`{conv: {filters: 8,
kernel: 5}}`).
"""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import tfexp as tf
from tfexp.experiment.errors import SettingError, no_such
from tfexp.experiment.models.dense import dense
from tfexp.experiment.models.phase import dropout, training
from tfexp.experiment.reading import read
from tfexp.experiment.schema import Section, bounded

__all__ = ["KINDS", "Layer", "Shape", "parse"]

Shape = tuple[int, ...]
"""Of one row."""


@dataclass(frozen=True, kw_only=True)
class Layer(Section, ABC):
    @abstractmethod
    def shape(self, before: Shape) -> Shape:
        """What comes out of rows of the shape `before`. Raises SettingError, without a key, for one that does not fit."""

    @abstractmethod
    def make(self, inputs: tf.Tensor, name: str) -> tf.Tensor:
        """The layer in the default graph, its variables and nodes under `name`; inputs are [rows, *before]."""


class Padding(Enum):
    same = "same"
    valid = "valid"


@dataclass(frozen=True, kw_only=True)
class Dense(Layer):
    units: int = bounded(least=1, says="outputs")
    l2: float = bounded(least=0, default=0.0, says="weight of the weights' sum of squares in the loss")

    def shape(self, before: Shape) -> Shape:
        if len(before) != 1:
            raise SettingError("", f"takes rows of numbers and gets {list(before)}: put flatten before it")
        return (self.units,)

    def make(self, inputs: tf.Tensor, name: str) -> tf.Tensor:
        # He et al. 2015: what follows is mostly a unit that is half off
        return dense(inputs, self.units, name, initializer=tf.variance_scaling_initializer(scale=2.0), l2=self.l2)


@dataclass(frozen=True, kw_only=True)
class Conv(Layer):
    filters: int = bounded(least=1, says="channels that come out")
    kernel: int = bounded(least=1, default=3, says="height and width of the filters")
    stride: int = bounded(least=1, default=1, says="step from one place of the filters to the next")
    padding: Padding = bounded(default=Padding.same, says="same: zeros around the image; valid: none")

    def shape(self, before: Shape) -> Shape:
        height, width, _ = _image(before)
        return (*_places((height, width), self.kernel, self.stride, self.padding), self.filters)

    def make(self, inputs: tf.Tensor, name: str) -> tf.Tensor:
        initializer = tf.variance_scaling_initializer(scale=2.0)
        padding = self.padding.value
        return tf.layers.conv2d(
            inputs, self.filters, self.kernel, self.stride, padding, kernel_initializer=initializer, name=name
        )


@dataclass(frozen=True, kw_only=True)
class _Pool(Layer):
    size: int = bounded(least=1, default=2, says="height and width of what becomes one number; also the step between them")

    def shape(self, before: Shape) -> Shape:
        height, width, channels = _image(before)
        return (*_places((height, width), self.size, self.size, Padding.valid), channels)


@dataclass(frozen=True, kw_only=True)
class MaxPool(_Pool):
    def make(self, inputs: tf.Tensor, name: str) -> tf.Tensor:
        return tf.layers.max_pooling2d(inputs, self.size, self.size, name=name)


@dataclass(frozen=True, kw_only=True)
class AveragePool(_Pool):
    def make(self, inputs: tf.Tensor, name: str) -> tf.Tensor:
        return tf.layers.average_pooling2d(inputs, self.size, self.size, name=name)


@dataclass(frozen=True, kw_only=True)
class Lstm(Layer):
    units: int = bounded(least=1, says="of the cell")
    every: bool = bounded(default=False, says="give the output after each piece, not only after the last")

    def shape(self, before: Shape) -> Shape:
        if len(before) != 2:
            raise SettingError("", f"takes sequences [pieces, width] and gets {list(before)}: put {{reshape: …}} before it")
        return (before[0], self.units) if self.every else (self.units,)

    def make(self, inputs: tf.Tensor, name: str) -> tf.Tensor:
        cell = tf.nn.rnn_cell.LSTMCell(self.units, name=name)
        every, _ = tf.nn.static_rnn(cell, tf.unstack(inputs, axis=1), dtype=tf.float32, scope=name)
        return tf.stack(every, axis=1) if self.every else every[-1]


@dataclass(frozen=True, kw_only=True)
class Reshape(Layer):
    to: tuple[int, ...] = bounded(least=1, says="the row's new shape")

    def shape(self, before: Shape) -> Shape:
        if math.prod(before) != math.prod(self.to):
            raise SettingError(
                "", f"{list(self.to)} has {math.prod(self.to)} numbers and gets {math.prod(before)} ({list(before)})"
            )
        return self.to

    def make(self, inputs: tf.Tensor, name: str) -> tf.Tensor:
        return tf.reshape(inputs, [-1, *self.to], name=name)


@dataclass(frozen=True, kw_only=True)
class Flatten(Layer):
    def shape(self, before: Shape) -> Shape:
        return (math.prod(before),)

    def make(self, inputs: tf.Tensor, name: str) -> tf.Tensor:
        return tf.reshape(inputs, [-1, math.prod(side.value for side in inputs.get_shape()[1:])], name=name)


@dataclass(frozen=True, kw_only=True)
class _Same(Layer):
    """A layer that does not change the shape."""

    def shape(self, before: Shape) -> Shape:
        return before


@dataclass(frozen=True, kw_only=True)
class Dropout(_Same):
    rate: float = bounded(least=0, below=1, default=0.5, says="share of the numbers that a training step leaves out")

    def make(self, inputs: tf.Tensor, name: str) -> tf.Tensor:
        return dropout(inputs, self.rate, name)


@dataclass(frozen=True, kw_only=True)
class BatchNorm(_Same):
    """Ioffe & Szegedy 2015; evaluations use the means and variances that training has averaged."""

    momentum: float = bounded(least=0, below=1, default=0.9, says="share of the averages that a training step keeps")
    epsilon: float = bounded(above=0, default=1e-3, says="added to the variances")

    def make(self, inputs: tf.Tensor, name: str) -> tf.Tensor:
        return tf.layers.batch_normalization(
            inputs, momentum=self.momentum, epsilon=self.epsilon, training=training(), name=name
        )


@dataclass(frozen=True, kw_only=True)
class Relu(_Same):
    def make(self, inputs: tf.Tensor, name: str) -> tf.Tensor:
        return tf.nn.relu(inputs, name=name)


@dataclass(frozen=True, kw_only=True)
class LeakyRelu(_Same):
    slope: float = bounded(least=0, default=0.2, says="of what is below zero")

    def make(self, inputs: tf.Tensor, name: str) -> tf.Tensor:
        return tf.nn.leaky_relu(inputs, self.slope, name=name)


@dataclass(frozen=True, kw_only=True)
class Elu(_Same):
    def make(self, inputs: tf.Tensor, name: str) -> tf.Tensor:
        return tf.nn.elu(inputs, name=name)


@dataclass(frozen=True, kw_only=True)
class Tanh(_Same):
    def make(self, inputs: tf.Tensor, name: str) -> tf.Tensor:
        return tf.tanh(inputs, name=name)


@dataclass(frozen=True, kw_only=True)
class Sigmoid(_Same):
    def make(self, inputs: tf.Tensor, name: str) -> tf.Tensor:
        return tf.sigmoid(inputs, name=name)


KINDS: dict[str, type[Layer]] = {
    "average_pool": AveragePool,
    "batch_norm": BatchNorm,
    "conv": Conv,
    "dense": Dense,
    "dropout": Dropout,
    "elu": Elu,
    "flatten": Flatten,
    "leaky_relu": LeakyRelu,
    "lstm": Lstm,
    "max_pool": MaxPool,
    "relu": Relu,
    "reshape": Reshape,
    "sigmoid": Sigmoid,
    "tanh": Tanh,
}


def parse(entry: Any) -> tuple[str, Layer]:
    """The kind's name and the layer. Raises SettingError, its key within the entry."""
    given: Any
    if isinstance(entry, str):
        name, given = entry, {}
    elif isinstance(entry, Mapping) and len(entry) == 1:
        ((name, given),) = entry.items()
    else:
        raise SettingError(
            "", f"{entry!r} is not a layer such as relu, {{dense: 64}} or {{conv: {{filters: 8, kernel: 5}}}}"
        )
    if name not in KINDS:
        raise SettingError("", no_such("layer", str(name), KINDS))
    kind = KINDS[name]
    settings = [field.name for field in dataclasses.fields(kind)]
    if not isinstance(given, Mapping):
        if not settings:
            raise SettingError(name, f"has no settings and gets {given!r}")
        given = {settings[0]: given}
    try:
        return name, read(kind, given)
    except SettingError as error:
        raise error.under(name) from error.__cause__


def _image(before: Shape) -> Shape:
    if len(before) != 3:
        raise SettingError(
            "",
            f"takes images [height, width, channels] and gets {list(before)}: put {{reshape: [height, width, channels]}} "
            "before it",
        )
    return before


def _places(sides: Shape, size: int, stride: int, padding: Padding) -> Shape:
    """At how many places along each side of an image a window of that size is put."""
    if padding is Padding.same:
        return tuple(math.ceil(side / stride) for side in sides)
    if size > min(sides):
        raise SettingError("", f"is {size}x{size} and gets an image of {'x'.join(map(str, sides))}")
    return tuple((side - size) // stride + 1 for side in sides)
