"""`AbstractRNNCell`: what a cell of one's own says. Source: `tf.keras.layers.AbstractRNNCell`, TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.keras.engine.base_layer import Layer
from tfexp.keras.layers.recurrent_states import initial_state


class AbstractRNNCell(Layer):
    """A base for cells that go into `RNN`: subclasses define `call`, `state_size` and `output_size`."""

    def call(self, inputs: Any, states: Any) -> tuple[Any, Any]:
        """(output, next states) of one step. inputs: [batch, depth]; states: a list of [batch, size]."""
        raise NotImplementedError("Abstract method: a cell defines `call`")

    @property
    def state_size(self) -> Any:
        """The sizes of the states: a number or shape, or a list of these."""
        raise NotImplementedError("Abstract method: a cell defines `state_size`")

    @property
    def output_size(self) -> Any:
        """The size of an output: a number or shape."""
        raise NotImplementedError("Abstract method: a cell defines `output_size`")

    def get_initial_state(self, inputs: Any = None, batch_size: Any = None, dtype: Any = None) -> Any:
        """Zeros for a batch like `inputs`, or of that size and type."""
        return initial_state(self.state_size, inputs, batch_size, dtype)
