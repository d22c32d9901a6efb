"""Cells of `tf.keras` around others: with dropout, with a residual connection, on a device.

Source: `tf.compat.v2.nn.{RNNCellDropoutWrapper,RNNCellResidualWrapper,RNNCellDeviceWrapper}`, TF 1.15.
"""

from __future__ import annotations

import functools
from typing import Any

from tfexp.keras.layers.recurrent_abstract import AbstractRNNCell
from tfexp.keras.layers.serialization import deserialize
from tfexp.layers.rnn_wrappers import Adding, Dropping, Placing, Wrapping


class KerasCellWrapper(Wrapping, AbstractRNNCell):
    """A layer around a cell, whose variables are made in the wrapper's scope. call: further arguments are the cell's."""

    def build(self, input_shape: Any) -> None:
        self.cell.build(input_shape)
        self.cell.built = self.built = True

    def call(self, inputs: Any, states: Any, **kwargs: Any) -> Any:
        return self._wrapped(inputs, states, functools.partial(self.cell.call, **kwargs))

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """Such a wrapper around the cell that the config describes."""
        cell = deserialize(config["cell"], custom_objects=custom_objects)
        return cls(**cls._arguments({**config, "cell": cell}))


class DropoutWrapper(Dropping, KerasCellWrapper):
    __doc__ = Dropping.__doc__


class ResidualWrapper(Adding, KerasCellWrapper):
    __doc__ = Adding.__doc__


class DeviceWrapper(Placing, KerasCellWrapper):
    __doc__ = Placing.__doc__
