"""Recurrent cells: one step of a network, from an input and a state to an output and the next state.

Source: `tf.nn.rnn_cell`, TF 1.15.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.core import dtypes, nest
from tfexp.core.shape import TensorShape
from tfexp.graph.scopes import get_default_graph, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.layers.base import InputSpec, Layer
from tfexp.layers.rnn_state import zero_states
from tfexp.ops.array import shape
from tfexp.ops.array_join import concat
from tfexp.ops.array_split import split
from tfexp.ops.elementwise_unary import sigmoid, tanh
from tfexp.ops.initializers import constant_initializer, zeros_initializer
from tfexp.ops.matmul import matmul
from tfexp.ops.nn_bias import bias_add
from tfexp.ops.variable_scope import get_variable_scope, variable_scope


class RNNCell(Layer):
    """Base class of cells: `call(inputs, state)` gives (output, next state).

    inputs: [batch, depth] or a structure of such. Variables of cells that are not layers themselves go below the variable
    scope of the call (or `scope`).
    """

    _own_scope: Any = None

    def __init__(self, trainable: bool = True, name: str | None = None, dtype: Any = None, **kwargs: Any):
        super().__init__(trainable=trainable, name=name, dtype=dtype, **kwargs)

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        if scope is not None:
            with variable_scope(scope, custom_getter=self._remember) as opened:
                return super().__call__(inputs, state, scope=opened)
        if self._own_scope is None:
            self._own_scope = variable_scope(get_variable_scope(), custom_getter=self._remember)
        with self._own_scope:
            return super().__call__(inputs, state)

    def _remember(self, getter: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        variable = getter(*args, **kwargs)
        trainable = any(variable is v for v in get_default_graph().get_collection("trainable_variables"))
        self._keep_weight(variable, trainable)
        return variable

    @property
    def state_size(self) -> Any:
        """The depth of the state, or a structure of depths."""
        raise NotImplementedError("Abstract method")

    @property
    def output_size(self) -> Any:
        """The depth of the output, or a shape."""
        raise NotImplementedError("Abstract method")

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """A state of zeros for `batch_size` examples, with one dtype or one for each part."""
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return zero_states(self.state_size, batch_size, dtype)

    def get_initial_state(self, inputs: Any = None, batch_size: Any = None, dtype: Any = None) -> Any:
        """The state to start with: zeros, for a batch like that of `inputs` ([batch, …]) or of that size and type."""
        if inputs is not None:
            known = inputs.get_shape()[0].value
            if batch_size is not None and isinstance(batch_size, int) and known not in (None, batch_size):
                raise ValueError(
                    f"batch size from input tensor is different from the input param. Input: {known}, {batch_size}"
                )
            if dtype is not None and inputs.dtype.base_dtype is not dtypes.as_dtype(dtype):
                raise ValueError(
                    f"dtype from input tensor is different from the input param. Input: {inputs.dtype}, {dtype}"
                )
            batch_size = known if known is not None else shape(inputs)[0]
            dtype = inputs.dtype
        if batch_size is None or dtype is None:
            raise ValueError(
                "batch_size and dtype cannot be None while constructing initial state: "
                f"batch_size={batch_size}, dtype={dtype}"
            )
        return self.zero_state(batch_size, dtype)


class LayerRNNCell(RNNCell):
    """A cell whose variables are a layer's: made once, shared by all calls."""

    def __call__(self, inputs: Any, state: Any, scope: Any = None, **kwargs: Any) -> Any:
        for leaf in nest.flatten([inputs, state]):
            dtype = dtypes.as_dtype(leaf.dtype) if hasattr(leaf, "dtype") else None
            if dtype is not None and not (dtype.is_floating or dtype.is_complex):
                raise ValueError(f"RNN cell only supports floating point inputs, but saw dtype: {dtype.base_dtype.name}")
        return Layer.__call__(self, inputs, state, scope=scope, **kwargs)

    def _input_depth(self, input_shape: Any) -> int:
        depth = TensorShape(input_shape)[-1].value
        if depth is None:
            raise ValueError(f"Expected inputs.shape[-1] to be known, saw shape: {input_shape}")
        return int(depth)


def activation_of(activation: Any, default: Callable[[Any], Tensor] = tanh) -> Callable[[Any], Tensor]:
    """A function as it is, one by its name in `tf.nn`, or the default. ValueError for other names."""
    if not activation:
        return default
    if callable(activation):
        return activation  # type: ignore[no-any-return]
    from tfexp.api import nn

    if not isinstance(activation, str) or not hasattr(nn, activation):
        raise ValueError(f"Unknown activation function: {activation}")
    return getattr(nn, activation)  # type: ignore[no-any-return]


class BasicRNNCell(LayerRNNCell):
    """output = state = activation(W [inputs, state] + b)."""

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: Any = None,
        name: str | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ):
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        self.input_spec = InputSpec(ndim=2)
        self._num_units, self._activation = num_units, activation_of(activation)

    @property
    def state_size(self) -> Any:
        return self._num_units

    @property
    def output_size(self) -> Any:
        return self._num_units

    def build(self, input_shape: Any) -> None:
        depth = self._input_depth(input_shape)
        self._kernel = self.add_weight("kernel", [depth + self._num_units, self._num_units])
        self._bias = self.add_weight("bias", [self._num_units], initializer=zeros_initializer(dtype=self.dtype))
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        gates = matmul(concat([inputs, state], 1), self._kernel)
        output = self._activation(bias_add(gates, self._bias))
        return output, output


class GRUCell(LayerRNNCell):
    """A gated recurrent unit (http://arxiv.org/abs/1406.1078): state = u * state + (1 - u) * candidate."""

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: Any = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ):
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        self.input_spec = InputSpec(ndim=2)
        self._num_units, self._activation = num_units, activation_of(activation)
        self._kernel_initializer, self._bias_initializer = kernel_initializer, bias_initializer

    @property
    def state_size(self) -> Any:
        return self._num_units

    @property
    def output_size(self) -> Any:
        return self._num_units

    def build(self, input_shape: Any) -> None:
        depth, units = self._input_depth(input_shape) + self._num_units, self._num_units
        kernel, bias = self._kernel_initializer, self._bias_initializer
        self._gate_kernel = self.add_weight("gates/kernel", [depth, 2 * units], initializer=kernel)
        # Gates start near 1, so that the state is kept at first.
        open_gates = constant_initializer(1.0, dtype=self.dtype) if bias is None else bias
        self._gate_bias = self.add_weight("gates/bias", [2 * units], initializer=open_gates)
        self._candidate_kernel = self.add_weight("candidate/kernel", [depth, units], initializer=kernel)
        nothing = zeros_initializer(dtype=self.dtype) if bias is None else bias
        self._candidate_bias = self.add_weight("candidate/bias", [units], initializer=nothing)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        gates = sigmoid(bias_add(matmul(concat([inputs, state], 1), self._gate_kernel), self._gate_bias))
        reset, update = split(value=gates, num_or_size_splits=2, axis=1)
        kept = reset * state  # type: ignore[operator]
        candidate = bias_add(matmul(concat([inputs, kept], 1), self._candidate_kernel), self._candidate_bias)
        candidate = self._activation(candidate)
        following = update * state + (1 - update) * candidate  # type: ignore[operator]
        return following, following


def is_structure(value: Any) -> bool:
    return nest.is_nested(value)
