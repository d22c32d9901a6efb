"""Cells that compute what cuDNN's networks do, so that what was trained there can be used anywhere.

Source: `tf.contrib.cudnn_rnn.{CudnnCompatibleLSTMCell,CudnnCompatibleGRUCell}`, TF 1.15.
"""

from __future__ import annotations

from typing import Any

from tfexp.contributed.rnn.block import LSTMBlockCell
from tfexp.layers.rnn_cell import GRUCell
from tfexp.ops.array_join import concat
from tfexp.ops.array_split import split
from tfexp.ops.elementwise_unary import sigmoid
from tfexp.ops.initializers import constant_initializer
from tfexp.ops.matmul import matmul
from tfexp.ops.nn_bias import bias_add


class CudnnCompatibleLSTMCell(LSTMBlockCell):
    """LSTMBlockCell without an extra bias of the forget gate."""

    def __init__(self, num_units: int, reuse: Any = None):
        super().__init__(
            num_units, forget_bias=0, cell_clip=None, use_peephole=False, reuse=reuse, name="cudnn_compatible_lstm_cell"
        )


class CudnnCompatibleGRUCell(GRUCell):
    """GRUCell whose reset gate comes after the product with the state: candidate = tanh(W x + b + r * (U h + c))."""

    def __init__(self, num_units: int, reuse: Any = None, kernel_initializer: Any = None):
        super().__init__(num_units, reuse=reuse, kernel_initializer=kernel_initializer, name="cudnn_compatible_gru_cell")

    def build(self, input_shape: Any) -> None:
        depth, units, initializer = self._input_depth(input_shape), self._num_units, self._kernel_initializer
        bias = self._bias_initializer
        nothing = constant_initializer(0.0, dtype=self.dtype) if bias is None else bias
        open_gates = constant_initializer(1.0, dtype=self.dtype) if bias is None else bias
        self._gate_kernel = self.add_weight("gates/kernel", [depth + units, 2 * units], initializer=initializer)
        self._gate_bias = self.add_weight("gates/bias", [2 * units], initializer=open_gates)
        self._projections = [
            (
                self.add_weight(f"candidate/{name}/kernel", [size, units], initializer=initializer),
                self.add_weight(f"candidate/{name}/bias", [units], initializer=nothing),
            )
            for name, size in (("input_projection", depth), ("hidden_projection", units))
        ]
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        gates = sigmoid(bias_add(matmul(concat([inputs, state], 1), self._gate_kernel), self._gate_bias))
        reset, update = split(value=gates, num_or_size_splits=2, axis=1)
        from_inputs, from_state = (
            bias_add(matmul(x, kernel), bias) for x, (kernel, bias) in zip((inputs, state), self._projections, strict=True)
        )
        candidate = self._activation(from_inputs + reset * from_state)  # type: ignore[operator]
        new = (1 - update) * candidate + update * state  # type: ignore[operator]
        return new, new
