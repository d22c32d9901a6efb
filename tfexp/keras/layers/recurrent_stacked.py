"""`tf.keras.layers.StackedRNNCells`: cells above each other as one cell. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfexp.core import nest
from tfexp.core.shape import TensorShape
from tfexp.keras.engine.base_layer import Layer
from tfexp.keras.layers.arguments import takes
from tfexp.keras.layers.recurrent_states import map_sizes, size_shape, zero_states
from tfexp.keras.layers.serialization import deserialize
from tfexp.keras.serialization import serialize_keras_object
from tfexp.ops.array import shape


def is_bare(cell: Any) -> bool:
    """Whether it is a cell of `tf.nn.rnn_cell`, which builds itself when it is called."""
    return getattr(cell, "_is_tf_rnn_cell", None) is not None


def build_cell(cell: Any, input_shape: Any) -> None:
    """Make the variables of a cell that has none yet, for inputs of that shape; bare cells see to it themselves."""
    if not is_bare(cell) and hasattr(cell, "build") and not getattr(cell, "built", False):
        cell.build(input_shape)
        cell.built = True


def call_of(cell: Any) -> Callable[..., Any]:
    """What makes a step of an input and a sequence of states: the cell's `call`.

    Cells of `tf.nn.rnn_cell` are called as a whole, and get a single state as it is.
    """
    if not is_bare(cell):
        return cell.call  # type: ignore[no-any-return]
    return lambda inputs, states: cell(inputs, states[0] if len(states) == 1 else states)


class StackedRNNCells(Layer):
    """Each cell's output is the input of the next one; the state is a tuple of the cells' states, the first cell's first.

    reverse_state_order: the last cell's first, as very old versions had it.
    """

    def __init__(self, cells: Sequence[Any], **kwargs: Any):
        for cell in cells:
            if not hasattr(cell, "call"):
                raise ValueError(f"All cells must have a `call` method. received cells: {cells}")
            if not hasattr(cell, "state_size"):
                raise ValueError(f"All cells must have a `state_size` attribute. received cells: {cells}")
        self.reverse_state_order = kwargs.pop("reverse_state_order", False)
        super().__init__(**kwargs)
        self.cells = list(cells)
        self._layers = [self.cells]  # which TensorFlow's checkpoints have besides

    def _in_state_order(self) -> list[Any]:
        return self.cells[::-1] if self.reverse_state_order else self.cells

    @property
    def state_size(self) -> tuple[Any, ...]:
        return tuple(cell.state_size for cell in self._in_state_order())

    @property
    def output_size(self) -> Any:
        return _output_size(self.cells[-1])

    def get_initial_state(self, inputs: Any = None, batch_size: Any = None, dtype: Any = None) -> tuple[Any, ...]:
        """What each cell starts with."""
        if inputs is not None:
            batch_size, dtype = shape(inputs)[0], inputs.dtype  # type: ignore[index]
        return tuple(
            cell.get_initial_state(inputs=None, batch_size=batch_size, dtype=dtype)
            if hasattr(cell, "get_initial_state")
            else zero_states(cell.state_size, batch_size, dtype)
            for cell in self._in_state_order()
        )

    def build(self, input_shape: Any) -> None:
        if isinstance(input_shape, list):
            input_shape = input_shape[0]
        for cell in self.cells:
            build_cell(cell, input_shape)
            batch = input_shape[0]
            input_shape = map_sizes(lambda size, batch=batch: (batch, *size_shape(size).as_list()), _output_size(cell))
        self.built = True

    def call(self, inputs: Any, states: Any, constants: Any = None, training: Any = None) -> tuple[Any, tuple[Any, ...]]:
        """(output of the last cell, next states of all)."""
        sizes = self.state_size
        nested = nest.pack_sequence_as(sizes, nest.flatten(states)) if len(states) == len(sizes) else states
        followings = []
        for cell, state in zip(self.cells, nested[::-1] if self.reverse_state_order else nested, strict=True):
            given = {"training": training} if takes(cell.call, "training") else {}
            if constants is not None and takes(cell.call, "constants"):
                given["constants"] = constants
            inputs, following = call_of(cell)(inputs, state if isinstance(state, (list, tuple)) else [state], **given)
            followings.append(following)
        if self.reverse_state_order:
            followings.reverse()
        flat = nest.flatten(followings)
        return inputs, nest.pack_sequence_as(sizes, flat)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "cells": [serialize_keras_object(cell) for cell in self.cells]}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        config = dict(config)
        return cls([deserialize(cell, custom_objects=custom_objects) for cell in config.pop("cells")], **config)


def _output_size(cell: Any) -> Any:
    declared = getattr(cell, "output_size", None)
    if declared is not None:
        return declared
    size = cell.state_size
    return size[0] if isinstance(size, (list, tuple)) and not isinstance(size, TensorShape) else size
