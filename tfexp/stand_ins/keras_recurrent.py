"""`recurrent` and `recurrent_v2` of `tensorflow.python.keras.layers`: a cell, and what masks say. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.keras.layers.recurrent_lstm import LSTMCell
from tfexp.ops.array import shape
from tfexp.ops.array_mask import sequence_mask
from tfexp.ops.array_order import transpose
from tfexp.ops.array_split import split
from tfexp.ops.cast import cast
from tfexp.ops.comparison import equal
from tfexp.ops.reduce import reduce_all, reduce_sum


class PeepholeLSTMCell(LSTMCell):
    """An LSTM whose gates see the memory as well. https://www.jmlr.org/papers/volume3/gers02a/gers02a.pdf"""

    kernel_initializer: Any

    def build(self, input_shape: Any) -> None:
        super().build(input_shape)
        self.input_gate_peephole_weights = self._peephole("input")
        self.forget_gate_peephole_weights = self._peephole("forget")
        self.output_gate_peephole_weights = self._peephole("output")

    def _peephole(self, gate: str) -> Any:
        return self.add_weight(
            shape=(self.units,), name=f"{gate}_gate_peephole_weights", initializer=self.kernel_initializer
        )

    def _next(self, gates: Any, memory: Any) -> tuple[Any, Any]:
        enter, keep, candidate, give = split(gates, 4, axis=1)
        enter = self.recurrent_activation(enter + self.input_gate_peephole_weights * memory)
        keep = self.recurrent_activation(keep + self.forget_gate_peephole_weights * memory)
        memory = keep * memory + enter * self.activation(candidate)
        give = self.recurrent_activation(give + self.output_gate_peephole_weights * memory)
        return give * self.activation(memory), memory


def calculate_sequence_by_mask(mask: Any, time_major: bool) -> Any:
    """int32 [batch]: how many steps of each sequence the mask, bools [batch, time], leaves. time_major: [time, batch]."""
    return reduce_sum(cast(mask, dtypes.int32), axis=0 if time_major else 1)


def is_sequence_right_padded(mask: Any, time_major: bool) -> Any:
    """A bool: what the mask takes away is at the sequences' ends alone."""
    mask = transpose(mask) if time_major else mask
    lengths = calculate_sequence_by_mask(mask, time_major=False)
    return reduce_all(equal(mask, sequence_mask(lengths, maxlen=shape(mask)[1])))
