"""Networks over whole sequences, time first: cells in their form, and going from the end to the start.

Source: `tf.contrib.rnn.{FusedRNNCell,FusedRNNCellAdaptor,TimeReversedFusedRNN}`, TF 1.15.
"""

from __future__ import annotations

import abc
from typing import Any

from tfexp.core import nest
from tfexp.layers.rnn_dynamic import dynamic_rnn
from tfexp.layers.rnn_static import static_rnn
from tfexp.ops.array_join import stack, unstack
from tfexp.ops.array_order import reverse, reverse_sequence


class FusedRNNCell(abc.ABC):
    """What computes all steps of a network at once."""

    @abc.abstractmethod
    def __call__(
        self, inputs: Any, initial_state: Any = None, dtype: Any = None, sequence_length: Any = None, scope: Any = None
    ) -> tuple[Any, Any]:
        """(outputs, final state) for inputs [time, batch, depth], or a list of [batch, depth]; outputs are as inputs."""


class FusedRNNCellAdaptor(FusedRNNCell):
    """An RNNCell, run over sequences by `tf.nn.static_rnn` or, with `use_dynamic_rnn`, by `tf.nn.dynamic_rnn`."""

    def __init__(self, cell: Any, use_dynamic_rnn: bool = False):
        self._cell, self._use_dynamic_rnn = cell, use_dynamic_rnn

    def __call__(
        self, inputs: Any, initial_state: Any = None, dtype: Any = None, sequence_length: Any = None, scope: Any = None
    ) -> tuple[Any, Any]:
        in_steps = isinstance(inputs, list)
        options = {"initial_state": initial_state, "dtype": dtype, "sequence_length": sequence_length, "scope": scope}
        if self._use_dynamic_rnn:
            inputs = stack(inputs) if in_steps else inputs
            outputs, state = dynamic_rnn(self._cell, inputs, time_major=True, **options)
            return (unstack(outputs) if in_steps else outputs), state
        steps, state = static_rnn(self._cell, inputs if in_steps else unstack(inputs), **options)
        return (steps if in_steps else stack(steps)), state


class TimeReversedFusedRNN(FusedRNNCell):
    """A network run from the last step to the first; each example from its own last one, given `sequence_length`."""

    def __init__(self, cell: Any):
        self._cell = cell

    def __call__(
        self, inputs: Any, initial_state: Any = None, dtype: Any = None, sequence_length: Any = None, scope: Any = None
    ) -> tuple[Any, Any]:
        def reversed_in_time(sequence: Any) -> Any:
            if isinstance(sequence, list):
                return unstack(reversed_in_time(stack(sequence)))
            if sequence_length is None:
                return reverse(sequence, [0])
            return reverse_sequence(sequence, sequence_length, 0, 1)

        outputs, state = self._cell(
            reversed_in_time(inputs), initial_state=initial_state, dtype=dtype, sequence_length=sequence_length, scope=scope
        )
        if isinstance(outputs, list):
            return reversed_in_time(outputs), state
        return nest.map_structure(reversed_in_time, outputs), state
