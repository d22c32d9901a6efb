"""Weights behind masks: the variables, and the layers and cells that have them. Source: `tf.contrib.model_pruning`."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from tfexp.contributed.arg_scope import add_arg_scope
from tfexp.contributed.layer_scope import collected, finished, keep, variable_getter
from tfexp.contributed.layers import layout
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import add_to_collections, get_collection
from tfexp.graph.tensor import Tensor
from tfexp.layers import conv, core
from tfexp.layers.regularizers import xavier_initializer
from tfexp.layers.rnn_lstm import BasicLSTMCell, LSTMCell
from tfexp.ops.elementwise_binary import mul
from tfexp.ops.initializers import ones_initializer, zeros_initializer
from tfexp.ops.nn_activation import relu
from tfexp.ops.variable_scope import get_variable, variable_scope

_MASKS, _THRESHOLDS, _MASKED, _WEIGHTS = "masks", "thresholds", "masked_weights", "kernel"
_NAME = "weights/masked_weight"


def apply_mask(x: Any, scope: Any = "") -> Tensor:
    """Weights times a mask of ones, which pruning will set to zeros: variables `mask` and `threshold`, below `scope`."""
    with variable_scope(scope) if scope else nullcontext():
        dtype = x.dtype.base_dtype
        mask = get_variable("mask", x.get_shape(), dtype, ones_initializer(), trainable=False)
        threshold = get_variable("threshold", [], dtype, zeros_initializer(), trainable=False)
        masked: Tensor = mul(mask, x, name=_NAME)
    # A layer that is used again has the variables of before: what has been pruned counts once.
    if mask not in get_collection(_MASKS):
        for key, value in ((_MASKS, mask), (_THRESHOLDS, threshold), (_MASKED, masked), (_WEIGHTS, x)):
            add_to_collections([key], value)
    return masked


def get_masks() -> list[Any]:
    """The variables with 1 where weights are kept and 0 where they are not."""
    return get_collection(_MASKS)


def get_thresholds() -> list[Any]:
    """The variables with the sizes below which weights are not kept."""
    return get_collection(_THRESHOLDS)


def get_masked_weights() -> list[Any]:
    """The products of masks and weights."""
    return get_collection(_MASKED)


def get_weights() -> list[Any]:
    """The weights that have masks."""
    return get_collection(_WEIGHTS)


class _Masked:
    """A layer whose kernel is masked once it is there."""

    kernel: Any
    unmasked: Any

    def build(self, input_shape: Any) -> None:
        super().build(input_shape)  # type: ignore[misc]
        self.unmasked = self.kernel
        self.kernel = apply_mask(self.unmasked)


class _MaskedDense(_Masked, core.Dense):
    pass


class _MaskedConv2D(_Masked, conv.Conv2D):
    pass


@add_arg_scope
def masked_fully_connected(
    inputs: Any,
    num_outputs: int,
    activation_fn: Any = relu,
    normalizer_fn: Any = None,
    normalizer_params: Any = None,
    weights_initializer: Any = xavier_initializer(),  # noqa: B008 (it has no state)
    weights_regularizer: Any = None,
    biases_initializer: Any = zeros_initializer(),  # noqa: B008
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """`tf.contrib.layers.fully_connected` with a mask over its weights. ValueError unless that many outputs can be."""
    if isinstance(num_outputs, bool) or not hasattr(num_outputs, "__index__"):
        raise ValueError(f"num_outputs type should be one of an integer, got {num_outputs}.")
    with variable_scope(scope, "fully_connected", [inputs], reuse=reuse, custom_getter=variable_getter()) as opened:
        inputs = convert_to_tensor(inputs)
        layer = _MaskedDense(
            num_outputs,
            None,
            not normalizer_fn and biases_initializer is not None,
            weights_initializer,
            biases_initializer,
            weights_regularizer,
            biases_regularizer,
            trainable=trainable,
            name=opened.name,
            dtype=inputs.dtype.base_dtype,
            _scope=opened,
            _reuse=reuse,
        )
        outputs = layer.apply(inputs)
        keep(variables_collections, weights=layer.unmasked, biases=layer.bias)
        outputs = finished(outputs, normalizer_fn, normalizer_params, activation_fn)
        return collected(outputs_collections, opened.name, outputs)


@add_arg_scope
def masked_convolution(
    inputs: Any,
    num_outputs: int,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str | None = None,
    rate: Any = 1,
    activation_fn: Any = relu,
    normalizer_fn: Any = None,
    normalizer_params: Any = None,
    weights_initializer: Any = xavier_initializer(),  # noqa: B008 (it has no state)
    weights_regularizer: Any = None,
    biases_initializer: Any = zeros_initializer(),  # noqa: B008
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """`tf.contrib.layers.conv2d` with a mask over its weights. ValueError for what is no batch of images."""
    with variable_scope(scope, "Conv", [inputs], reuse=reuse, custom_getter=variable_getter()) as opened:
        inputs = convert_to_tensor(inputs)
        if inputs.get_shape().ndims != 4:
            raise ValueError(f"Convolution not supported for input with rank {inputs.get_shape().ndims}")
        layer = _MaskedConv2D(
            num_outputs,
            kernel_size,
            stride,
            padding,
            layout(data_format),
            rate,
            None,
            not normalizer_fn and biases_initializer is not None,
            weights_initializer,
            biases_initializer,
            weights_regularizer,
            biases_regularizer,
            trainable=trainable,
            name=opened.name,
            dtype=inputs.dtype.base_dtype,
            _scope=opened,
            _reuse=reuse,
        )
        outputs = layer.apply(inputs)
        keep(variables_collections, weights=layer.unmasked, biases=layer.bias)
        outputs = finished(outputs, normalizer_fn, normalizer_params, activation_fn)
        return collected(outputs_collections, opened.name, outputs)


class _MaskedCell:
    """A cell whose kernel is masked once it is there."""

    _kernel: Any

    def build(self, input_shape: Any) -> None:
        super().build(input_shape)  # type: ignore[misc]
        self._kernel = apply_mask(self._kernel)


class MaskedBasicLSTMCell(_MaskedCell, BasicLSTMCell):
    """`tf.nn.rnn_cell.BasicLSTMCell` with a mask over its kernel. `tf.contrib.model_pruning.MaskedBasicLSTMCell`."""

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = None,
        reuse: Any = None,
        name: str | None = None,
    ):
        super().__init__(num_units, forget_bias, state_is_tuple, activation, reuse, name)


class MaskedLSTMCell(_MaskedCell, LSTMCell):
    """`tf.nn.rnn_cell.LSTMCell` with a mask over its kernel. `tf.contrib.model_pruning.MaskedLSTMCell`."""

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        num_unit_shards: int | None = None,
        num_proj_shards: int | None = None,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = None,
        reuse: Any = None,
    ):
        super().__init__(
            num_units,
            use_peepholes,
            cell_clip,
            initializer,
            num_proj,
            proj_clip,
            num_unit_shards,
            num_proj_shards,
            forget_bias,
            state_is_tuple,
            activation,
            reuse,
        )
