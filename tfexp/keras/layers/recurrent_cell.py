"""What the cells of SimpleRNN, GRU and LSTM have in common.

A step is in two parts: what its input gives the gates (`project`), and from that and the state the next state (`advance`).
The first needs no state, so `RNN` computes it for all steps of a sequence at once: one large product in place of many. Nor
are variables read in the loop (`recurrent_weights`).
"""

from __future__ import annotations

from typing import Any

from tfexp.core.shape import as_shape
from tfexp.graph.convert import convert_to_tensor
from tfexp.keras import activations, constraints, initializers, regularizers
from tfexp.keras.engine.base_layer import Layer
from tfexp.keras.layers.recurrent_dropout import DropoutRNNCellMixin
from tfexp.keras.layers.recurrent_states import zero_states
from tfexp.ops.array import reshape, shape
from tfexp.ops.array_join import concat
from tfexp.ops.array_split import split
from tfexp.ops.matmul import matmul
from tfexp.ops.nn_bias import bias_add

_KINDS = {
    "activation": activations,
    "initializer": initializers,
    "regularizer": regularizers,
    "constraint": constraints,
}


def _kind(option: str) -> Any:
    """The module that knows an option's values by name; None for numbers and flags."""
    return _KINDS.get(option.rpartition("_")[2])


def option_value(option: str, given: Any) -> Any:
    """What an option of a constructor or config stands for."""
    if option in ("dropout", "recurrent_dropout"):
        return min(1.0, max(0.0, given))
    kind = _kind(option)
    return given if kind is None else kind.get(given)


def option_config(option: str, value: Any) -> Any:
    """An option's value as a config says it."""
    kind = _kind(option)
    return value if kind is None else kind.serialize(value)


def weight_by_options(layer: Layer, name: str, size: tuple[int, ...], initializer: Any = None) -> Any:
    """The weight `kernel`, `recurrent_kernel` or `bias` of a layer that has its initializer (unless another one is given),
    regularizer and constraint as attributes: `kernel_…`, `recurrent_…`, `bias_…`."""
    option = name.removesuffix("_kernel")
    return layer.add_weight(
        name,
        shape=size,
        initializer=initializer or getattr(layer, f"{option}_initializer"),
        regularizer=getattr(layer, f"{option}_regularizer"),
        constraint=getattr(layer, f"{option}_constraint"),
    )


class RecurrentCell(DropoutRNNCellMixin, Layer):
    """A cell of `units` numbers whose state decides, by `gates` blocks of weights, what becomes of it.

    Weights: `kernel` [depth, gates * units], `recurrent_kernel` [units, gates * units], `bias`. `options`: the settings by
    name, in the order of the config.
    """

    gates = 1
    kernel: Any
    recurrent_kernel: Any
    bias: Any
    use_bias: bool
    activation: Any
    bias_initializer: Any
    implementation = 1

    def __init__(self, units: int, options: dict[str, Any], **kwargs: Any):
        super().__init__(**kwargs)
        self.units = units
        self._options = tuple(options)
        for option, given in options.items():
            setattr(self, option, option_value(option, given))
        self.state_size: Any = units
        self.output_size = units

    def build(self, input_shape: Any) -> None:
        depth = as_shape(input_shape)[-1].value
        self.kernel = self._weight("kernel", (depth, self.gates * self.units))
        self.recurrent_kernel = self._weight("recurrent_kernel", (self.units, self.gates * self.units))
        initial = self._initial_bias()
        self.bias = self._weight("bias", self._bias_shape(), initial) if self.use_bias else None
        self.built = True

    def _weight(self, name: str, size: tuple[int, ...], initializer: Any = None) -> Any:
        return weight_by_options(self, name, size, initializer)

    def _bias_shape(self) -> tuple[int, ...]:
        return (self.gates * self.units,)

    def _initial_bias(self) -> Any:
        return self.bias_initializer

    def call(self, inputs: Any, states: Any, training: Any = None) -> tuple[Any, list[Any]]:
        """(output, next states) of one step. inputs: [batch, depth]."""
        return self.advance(self.project(inputs, training), states, self.recurrent_weights(), training)

    def project(self, inputs: Any, training: Any) -> Any:
        """What inputs [batch, depth], or [time, batch, depth], give the gates: the same with gates * units for the depth."""
        like = inputs if inputs.get_shape().rank == 2 else inputs[0]
        masks = self.get_dropout_mask_for_cell(like, training, self._mask_count())
        projected = self._product(inputs, masks, self.kernel)
        bias = self._projected_bias()
        return projected if bias is None else bias_add(projected, bias)

    def _projected_bias(self) -> Any:
        return self.bias

    def recurrent_weights(self) -> Any:
        """What `advance` needs of the variables: read here, once for all steps."""
        return convert_to_tensor(self.recurrent_kernel)

    def advance(self, projected: Any, states: Any, recurrent: Any, training: Any) -> tuple[Any, list[Any]]:
        """(output, next states) from what the input gives the gates, the states, and the weights for these."""
        raise NotImplementedError(f"{type(self).__name__} does not say how its state goes on")

    def _mask_count(self) -> int:
        """Masks of dropout: with implementation 1 each gate has its own."""
        return self.gates if self.implementation == 1 else 1

    def _recurrent_masks(self, state: Any, training: Any) -> Any:
        return self.get_recurrent_dropout_mask_for_cell(state, training, self._mask_count())

    def _product(self, x: Any, masks: Any, kernel: Any) -> Any:
        """x · kernel, where x is masked: for all gates alike, or for each by its own mask."""
        if masks is None:
            return dot(x, kernel)
        if not isinstance(masks, list):
            return dot(x * masks, kernel)
        kernels = split(kernel, len(masks), axis=1)
        return concat([dot(x * mask, part) for mask, part in zip(masks, kernels, strict=True)], axis=-1)

    def get_initial_state(self, inputs: Any = None, batch_size: Any = None, dtype: Any = None) -> Any:
        """Zeros for a batch like `inputs`, or of that size and type."""
        if inputs is not None:
            batch_size, dtype = shape(inputs)[0], inputs.dtype  # type: ignore[index]
        return zero_states(self.state_size, batch_size, dtype)

    def get_config(self) -> dict[str, Any]:
        own = {option: option_config(option, getattr(self, option)) for option in self._options}
        return {**super().get_config(), "units": self.units, **own}


def dot(x: Any, kernel: Any) -> Any:
    """x [batch, depth] or [time, batch, depth] by kernel [depth, n]."""
    known = x.get_shape()
    if known.rank == 2:
        return matmul(x, kernel)
    depth, width = kernel.get_shape().as_list()
    product = matmul(reshape(x, [-1, depth]), kernel)
    if known[:-1].is_fully_defined():
        return reshape(product, [*known.as_list()[:-1], width])
    whole = reshape(product, concat([shape(x)[:-1], [width]], axis=0))  # type: ignore[index]
    whole.set_shape(known[:-1].concatenate(width))
    return whole
