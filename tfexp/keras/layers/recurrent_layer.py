"""Layers that make their own cell and have its settings: what SimpleRNN, GRU and LSTM have in common."""

from __future__ import annotations

from typing import Any

from tfexp.keras import regularizers
from tfexp.keras.engine.input_spec import InputSpec
from tfexp.keras.layers.recurrent import RNN
from tfexp.keras.layers.recurrent_cell import RecurrentCell


class OfCell:
    """An attribute of a layer that is its cell's."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, layer: Any, owner: type) -> Any:
        return self if layer is None else getattr(layer.cell, self._name)


class CellRNN(RNN):
    """A layer over a cell of its own, whose settings it shows as attributes and in its config.

    `flags`: of `RNN`, by name; `kwargs`: of any layer.
    """

    units = OfCell()
    use_bias = OfCell()
    activation = OfCell()
    kernel_initializer = OfCell()
    recurrent_initializer = OfCell()
    bias_initializer = OfCell()
    kernel_regularizer = OfCell()
    recurrent_regularizer = OfCell()
    bias_regularizer = OfCell()
    kernel_constraint = OfCell()
    recurrent_constraint = OfCell()
    bias_constraint = OfCell()
    dropout = OfCell()
    recurrent_dropout = OfCell()

    def __init__(self, cell: RecurrentCell, flags: dict[str, Any], activity_regularizer: Any, kwargs: dict[str, Any]):
        super().__init__(cell, **flags, activity_regularizer=regularizers.get(activity_regularizer), **kwargs)
        self.input_spec = [InputSpec(ndim=3)]

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        described = config.pop("cell")["config"]
        config.update(self._sizes())
        for option in self.cell._options:
            config[option] = described[option]
            if option == "bias_regularizer":
                config["activity_regularizer"] = regularizers.serialize(self.activity_regularizer)
        return config

    def _sizes(self) -> dict[str, Any]:
        """What the config says first: how much the cell computes."""
        return {"units": self.units}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        if config.get("implementation") == 0:
            config = {**config, "implementation": 1}
        return cls(**config)
