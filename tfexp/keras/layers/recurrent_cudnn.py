"""`tf.keras.layers.CuDNNGRU` and `CuDNNLSTM`: weights as CuDNN has them, computed by the kernels at hand. Source: TF 1.15.

CuDNN adds two biases to each gate, one to the input's part and one to the state's; both are in `bias`, the input's first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.core.shape import as_shape
from tfexp.graph.convert import convert_to_tensor
from tfexp.keras import regularizers
from tfexp.keras.engine.input_spec import InputSpec
from tfexp.keras.layers.recurrent import RNN
from tfexp.keras.layers.recurrent_cell import dot, option_config, option_value, weight_by_options
from tfexp.keras.layers.recurrent_gru import next_after_reset
from tfexp.keras.layers.recurrent_lstm import initial_bias, next_memory
from tfexp.ops.array import reshape
from tfexp.ops.array_join import concat
from tfexp.ops.array_order import transpose
from tfexp.ops.array_split import split
from tfexp.ops.elementwise_unary import sigmoid, tanh
from tfexp.ops.matmul import matmul
from tfexp.ops.nn_bias import bias_add


class _StatesOnly:
    """In place of a cell: the sizes. The layer computes the steps itself."""

    def __init__(self, units: int, count: int):
        self.state_size: Any = (units,) * count if count > 1 else units
        self.output_size = units

    def call(self, inputs: Any, states: Any) -> Any:
        raise NotImplementedError("CuDNN's layers compute their steps without a cell")

    def get_config(self) -> dict[str, Any]:
        return {}


class _CuDNNRNN(RNN):
    """What both have in common. `options`: the settings by name, in the order of the config."""

    _gates: int
    _states_count: int
    bias_initializer: Any
    kernel: Any
    recurrent_kernel: Any
    bias: Any

    def __init__(self, units: int, options: dict[str, Any], flags: dict[str, Any], kwargs: dict[str, Any]):
        if "unroll" in kwargs:
            raise TypeError("Keyword argument not understood:", "unroll")
        activity = regularizers.get(options.pop("activity_regularizer"))
        super().__init__(_StatesOnly(units, self._states_count), **flags, activity_regularizer=activity, **kwargs)
        self.units = units
        self._options = tuple(options)
        for option, given in options.items():
            setattr(self, option, option_value(option, given))
        self.supports_masking = False
        self.input_spec = [InputSpec(ndim=3)]

    def build(self, input_shape: Any) -> None:
        depth = as_shape(input_shape[0] if isinstance(input_shape, list) else input_shape)[-1].value
        width = self._gates * self.units
        sizes = {"kernel": (depth, width), "recurrent_kernel": (self.units, width), "bias": (2 * width,)}
        for name, size in sizes.items():
            initializer = self._initial_bias() if name == "bias" else None
            setattr(self, name, weight_by_options(self, name, size, initializer))
        super().build(input_shape)

    def _initial_bias(self) -> Any:
        return self.bias_initializer

    def call(
        self, inputs: Any, mask: Any = None, training: Any = None, initial_state: Any = None, constants: Any = None
    ) -> Any:
        if mask is not None and (not isinstance(mask, (list, tuple)) or mask[0] is not None):
            raise ValueError("Masking is not supported for CuDNN RNNs.")
        if constants is not None:
            raise ValueError(f"{type(self).__name__} does not support constants. Received: constants={constants}")
        return super().call(inputs, training=training, initial_state=initial_state)

    def _in_two_parts(self) -> bool:
        return True

    def _step(self, inputs: Any, training: Any, constants: Any) -> tuple[Any, Callable[[Any, Any], Any]]:
        width = self._gates * self.units
        own_bias, state_bias = self.bias[:width], self.bias[width:]
        recurrent = self._from_rows(self.recurrent_kernel)  # once for all steps

        def step(now: Any, states: Any) -> Any:
            return self._next(now, bias_add(matmul(states[0], recurrent), state_bias), states)

        return bias_add(dot(inputs, self._from_rows(self.kernel)), own_bias), step

    def _from_rows(self, kernel: Any) -> Any:
        """The kernel as others have it: CuDNN takes each gate's memory for the rows of the transposed matrix."""
        depth = kernel.shape[0].value
        gates = split(convert_to_tensor(kernel), self._gates, axis=1)
        return concat([transpose(reshape(gate, [self.units, depth])) for gate in gates], axis=1)

    def _next(self, from_input: Any, from_state: Any, states: Any) -> tuple[Any, list[Any]]:
        """(output, next states) from what input and state give the gates."""
        raise NotImplementedError(f"{type(self).__name__} does not say how its state goes on")

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        del config["cell"], config["unroll"]
        own = {option: option_config(option, getattr(self, option)) for option in self._options}
        activity = regularizers.serialize(self.activity_regularizer)
        return {**config, "units": self.units, **own, "activity_regularizer": activity}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        return cls(**config)


class CuDNNGRU(_CuDNNRNN):
    """A GRU with logistic gates whose reset gate works behind the recurrent weights. It takes no masks."""

    _gates, _states_count = 3, 1

    def __init__(
        self,
        units: int,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        **kwargs: Any,
    ):
        options = {
            "kernel_initializer": kernel_initializer,
            "recurrent_initializer": recurrent_initializer,
            "bias_initializer": bias_initializer,
            "kernel_regularizer": kernel_regularizer,
            "recurrent_regularizer": recurrent_regularizer,
            "bias_regularizer": bias_regularizer,
            "activity_regularizer": activity_regularizer,
            "kernel_constraint": kernel_constraint,
            "recurrent_constraint": recurrent_constraint,
            "bias_constraint": bias_constraint,
        }
        flags = {
            "return_sequences": return_sequences,
            "return_state": return_state,
            "go_backwards": go_backwards,
            "stateful": stateful,
        }
        super().__init__(units, options, flags, kwargs)

    def _next(self, from_input: Any, from_state: Any, states: Any) -> tuple[Any, list[Any]]:
        output = next_after_reset(from_input, from_state, states[0], tanh, sigmoid)
        return output, [output]


class CuDNNLSTM(_CuDNNRNN):
    """An LSTM with logistic gates. It takes no masks. unit_forget_bias: the forget gate's second bias starts at 1."""

    _gates, _states_count = 4, 2
    unit_forget_bias: bool

    def __init__(
        self,
        units: int,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        **kwargs: Any,
    ):
        options = {
            "kernel_initializer": kernel_initializer,
            "recurrent_initializer": recurrent_initializer,
            "bias_initializer": bias_initializer,
            "unit_forget_bias": unit_forget_bias,
            "kernel_regularizer": kernel_regularizer,
            "recurrent_regularizer": recurrent_regularizer,
            "bias_regularizer": bias_regularizer,
            "activity_regularizer": activity_regularizer,
            "kernel_constraint": kernel_constraint,
            "recurrent_constraint": recurrent_constraint,
            "bias_constraint": bias_constraint,
        }
        flags = {
            "return_sequences": return_sequences,
            "return_state": return_state,
            "go_backwards": go_backwards,
            "stateful": stateful,
        }
        super().__init__(units, options, flags, kwargs)

    def _initial_bias(self) -> Any:
        return initial_bias(self.bias_initializer, self.units, 5, 2) if self.unit_forget_bias else self.bias_initializer

    def _next(self, from_input: Any, from_state: Any, states: Any) -> tuple[Any, list[Any]]:
        output, memory = next_memory(from_input + from_state, states[1], tanh, sigmoid)
        return output, [output, memory]
