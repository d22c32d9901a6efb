"""LSTMs whose gates (https://arxiv.org/abs/1607.06450) or weights (https://arxiv.org/abs/1602.07868) are normalised.

Source: `tf.contrib.rnn.{LayerNormBasicLSTMCell,LayerNormLSTMCell,WeightNormLSTMCell}`, TF 1.15.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.contributed.rnn.linear import bias_variable, depth_of, layer_normalized, linear
from tfexp.layers.rnn_cell import RNNCell
from tfexp.layers.rnn_lstm import LSTMStateTuple
from tfexp.ops.array_join import concat
from tfexp.ops.array_split import split
from tfexp.ops.clip import clip_by_value
from tfexp.ops.elementwise_unary import sigmoid, tanh
from tfexp.ops.matmul import matmul
from tfexp.ops.nn_bias import bias_add
from tfexp.ops.nn_dropout import dropout
from tfexp.ops.nn_norm import l2_normalize
from tfexp.ops.variable_scope import get_variable, variable_scope


class LayerNormBasicLSTMCell(RNNCell):
    """An LSTM with its gates and its memory normalised, and with dropout of what it is to remember.

    dropout: of the candidate (https://arxiv.org/abs/1603.05118), each kept with `dropout_keep_prob`. `layer_norm=False`
    gives the gates a bias instead.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        input_size: Any = None,
        activation: Any = tanh,
        layer_norm: bool = True,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
        dropout_keep_prob: Any = 1.0,
        dropout_prob_seed: int | None = None,
        reuse: Any = None,
    ):
        super().__init__(_reuse=reuse)
        self._num_units, self._activation, self._forget_bias = num_units, activation, forget_bias
        self._keep_prob, self._seed = dropout_keep_prob, dropout_prob_seed
        self._layer_norm, self._gain, self._shift = layer_norm, norm_gain, norm_shift

    @property
    def state_size(self) -> Any:
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self) -> Any:
        return self._num_units

    def _norm(self, x: Any, name: str) -> Any:
        return layer_normalized(x, name, self._gain, self._shift) if self._layer_norm else x

    def call(self, inputs: Any, state: Any) -> Any:
        c, h = state
        gates = linear([inputs, h], 4 * self._num_units, bias=not self._layer_norm)
        i, j, f, o = split(value=gates, num_or_size_splits=4, axis=1)
        i, j = self._norm(i, "input"), self._norm(j, "transform")
        f, o = self._norm(f, "forget"), self._norm(o, "output")
        candidate = self._activation(j)
        if not isinstance(self._keep_prob, float) or self._keep_prob < 1:
            candidate = dropout(candidate, rate=1 - self._keep_prob, seed=self._seed)
        new_c = c * sigmoid(f + self._forget_bias) + sigmoid(i) * candidate
        new_c = self._norm(new_c, "state")
        new_h = self._activation(new_c) * sigmoid(o)
        return new_h, LSTMStateTuple(new_c, new_h)


class _PeepholeLSTMCell(RNNCell):
    """An LSTM with optional peepholes, clipping and projection, whose products and norms subclasses define."""

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool,
        cell_clip: float | None,
        initializer: Any,
        num_proj: int | None,
        proj_clip: float | None,
        forget_bias: float,
        activation: Any,
        reuse: Any,
    ):
        super().__init__(_reuse=reuse)
        self._num_units, self._use_peepholes, self._cell_clip = num_units, use_peepholes, cell_clip
        self._initializer, self._num_proj, self._proj_clip = initializer, num_proj, proj_clip
        self._forget_bias, self._activation = forget_bias, activation or tanh

    @property
    def state_size(self) -> Any:
        return LSTMStateTuple(self._num_units, self.output_size)

    @property
    def output_size(self) -> Any:
        return self._num_proj or self._num_units

    def _product(self, args: Sequence[Any], size: int, bias: bool) -> Any:
        raise NotImplementedError

    def _norm(self, x: Any, name: str) -> Any:
        return x

    def call(self, inputs: Any, state: Any) -> Any:
        c, m = state

        def peephole(name: str, memory: Any) -> Any:
            if not self._use_peepholes:
                return 0
            return get_variable(name, [self._num_units], inputs.dtype, initializer=self._initializer) * memory

        gates = self._product([inputs, m], 4 * self._num_units, bias=True)
        i, j, f, o = split(value=gates, num_or_size_splits=4, axis=1)
        i, j = self._norm(i, "input"), self._norm(j, "transform")
        f, o = self._norm(f, "forget"), self._norm(o, "output")
        forget = sigmoid(_plus(f + self._forget_bias, peephole("w_f_diag", c)))
        new_c: Any = forget * c + sigmoid(_plus(i, peephole("w_i_diag", c))) * self._activation(j)
        new_c = self._norm(new_c, "state")
        if self._cell_clip is not None:
            new_c = clip_by_value(new_c, -self._cell_clip, self._cell_clip)
        new_m = sigmoid(_plus(o, peephole("w_o_diag", new_c))) * self._activation(new_c)
        if self._num_proj is not None:
            with variable_scope("projection"):
                new_m = self._product([new_m], self._num_proj, bias=False)
            if self._proj_clip is not None:
                new_m = clip_by_value(new_m, -self._proj_clip, self._proj_clip)
        return new_m, LSTMStateTuple(new_c, new_m)


def _plus(gate: Any, addend: Any) -> Any:
    return gate if isinstance(addend, int) else gate + addend


class LayerNormLSTMCell(_PeepholeLSTMCell):
    """An LSTM with peepholes, clipping and projection (as LSTMCell), its gates and memory normalised with `layer_norm`."""

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        forget_bias: float = 1.0,
        activation: Any = None,
        layer_norm: bool = False,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
        reuse: Any = None,
    ):
        super().__init__(
            num_units, use_peepholes, cell_clip, initializer, num_proj, proj_clip, forget_bias, activation, reuse
        )
        self._layer_norm, self._gain, self._shift = layer_norm, norm_gain, norm_shift

    def _product(self, args: Sequence[Any], size: int, bias: bool) -> Any:
        # With layer_norm the bias is made, for the sake of checkpoints, but the norms' own shifts take its place.
        product = linear(args, size, bias=False, kernel_initializer=self._initializer)
        if not bias:
            return product
        made = bias_variable(size, product.dtype)
        return product if self._layer_norm else bias_add(product, made)

    def _norm(self, x: Any, name: str) -> Any:
        return layer_normalized(x, name, self._gain, self._shift) if self._layer_norm else x


class WeightNormLSTMCell(_PeepholeLSTMCell):
    """An LSTM with peepholes, clipping and projection (as LSTMCell) each column of whose kernels has a learned length.

    The rows that meet the inputs and those that meet the outputs are normalised apart, with lengths `norm_0` and `norm_1`.
    """

    def __init__(
        self,
        num_units: int,
        norm: bool = True,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        forget_bias: float = 1,
        activation: Any = None,
        reuse: Any = None,
    ):
        super().__init__(
            num_units, use_peepholes, cell_clip, initializer, num_proj, proj_clip, forget_bias, activation, reuse
        )
        self._normalizes = norm

    def _product(self, args: Sequence[Any], size: int, bias: bool) -> Any:
        if not self._normalizes:
            return linear(args, size, bias, kernel_initializer=self._initializer)
        depths, dtype = [depth_of(x) for x in args], args[0].dtype
        kernel = get_variable("kernel", [sum(depths), size], dtype, initializer=self._initializer)
        normalized = []
        for number, rows in enumerate(split(kernel, depths, 0)):
            length = get_variable(f"norm_{number}", [size], dtype, initializer=self._initializer)
            normalized.append(l2_normalize(rows, axis=0) * length)  # type: ignore[operator]
        product = matmul(concat(args, 1), concat(normalized, 0))
        return bias_add(product, bias_variable(size, dtype)) if bias else product
