"""`tf.contrib.layers.batch_norm`: by the layer of `tf.layers` where that can do it, else by variables of its own.

Source: TF 1.15; Ioffe and Szegedy, arXiv 1502.03167.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from tfexp.contributed.arg_scope import add_arg_scope
from tfexp.contributed.layer_scope import collected, get_variable_collections, keep, variable_getter
from tfexp.contributed.layers import layout
from tfexp.contributed.variables import model_variable
from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.nest import map_structure
from tfexp.core.shape import TensorShape
from tfexp.graph.collections import GraphKeys
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.scopes import add_to_collections, control_dependencies
from tfexp.graph.tensor import Tensor
from tfexp.keras.layers.phase import by_phase, known_truth
from tfexp.layers.normalization import BatchNormalization
from tfexp.ops.array import reshape, shape
from tfexp.ops.array_identity import identity
from tfexp.ops.batch_norm import fused_batch_norm
from tfexp.ops.initializers import ones_initializer, zeros_initializer
from tfexp.ops.nn_norm import batch_normalization, moments
from tfexp.ops.nn_statistics import weighted_moments
from tfexp.ops.variable_scope import get_variable_scope, variable_scope
from tfexp.train.moving_averages import assign_moving_average


@add_arg_scope
def batch_norm(
    inputs: Any,
    decay: float = 0.999,
    center: bool = True,
    scale: bool = False,
    epsilon: float = 0.001,
    activation_fn: Any = None,
    param_initializers: Any = None,
    param_regularizers: Any = None,
    updates_collections: Any = GraphKeys.UPDATE_OPS,
    is_training: Any = True,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    batch_weights: Any = None,
    fused: bool | None = None,
    data_format: str = "NHWC",
    zero_debias_moving_mean: bool = False,
    scope: Any = None,
    renorm: bool = False,
    renorm_clipping: Any = None,
    renorm_decay: float = 0.99,
    adjustment: Any = None,
) -> Any:
    """Normalised over all dimensions but the channels', by the batch's statistics in training, else by moving averages.

    updates_collections: where the averages' updates are kept; None: they run before the output is there. is_training may be
    a tensor. batch_weights, [batch]: how often each example counts. zero_debias_moving_mean: the average of means is
    corrected for its start at zero. ValueError for channels or a rank that are not known, and for `renorm` where one of
    these three is not the default.
    """
    if data_format not in ("NHWC", "NCHW"):
        raise ValueError("data_format has to be either NCHW or NHWC.")
    inputs = convert_to_tensor(inputs)
    rank = inputs.get_shape().ndims
    is_plain = batch_weights is None and updates_collections == GraphKeys.UPDATE_OPS and not zero_debias_moving_mean
    fuses = fused is not False and batch_weights is None and not renorm and adjustment is None and rank in (2, 4)
    by_layer = is_plain and not (fuses and rank == 2)
    if renorm and not by_layer:
        raise ValueError("renorm is not supported with batch_weights, updates_collections or zero_debias_moving_mean")
    initializers, regularizers = dict(param_initializers or {}), dict(param_regularizers or {})
    getter = variable_getter(renames={}) if by_layer else None
    with variable_scope(scope, "BatchNorm", [inputs], reuse=reuse, custom_getter=getter) as opened:
        if by_layer:
            layer = BatchNormalization(
                axis=-1 if layout(data_format) == "channels_last" else 1,
                momentum=decay,
                epsilon=epsilon,
                center=center,
                scale=scale,
                beta_initializer=initializers.get("beta", zeros_initializer()),
                gamma_initializer=initializers.get("gamma", ones_initializer()),
                moving_mean_initializer=initializers.get("moving_mean", zeros_initializer()),
                moving_variance_initializer=initializers.get("moving_variance", ones_initializer()),
                beta_regularizer=regularizers.get("beta"),
                gamma_regularizer=regularizers.get("gamma"),
                trainable=trainable,
                renorm=renorm,
                renorm_clipping=renorm_clipping,
                renorm_momentum=renorm_decay,
                adjustment=adjustment,
                fused=fused,
                name=opened.name,
                dtype=inputs.dtype.base_dtype,
                _scope=opened,
                _reuse=reuse,
            )
            outputs = layer.apply(inputs, training=is_training)
            keep(variables_collections, beta=layer.beta, gamma=layer.gamma)
            keep(variables_collections, moving_mean=layer.moving_mean, moving_variance=layer.moving_variance)
        else:
            made = _Variables(initializers, regularizers if fuses else {}, variables_collections, trainable)
            updates = _Updates(is_training, decay, zero_debias_moving_mean, updates_collections)
            if fuses:
                outputs = _fused(inputs, made, updates, center, scale, epsilon, data_format)
            else:
                outputs = _by_moments(inputs, made, updates, center, scale, epsilon, data_format, batch_weights)
        if activation_fn is not None:
            outputs = activation_fn(outputs)
        return collected(outputs_collections, opened.name, outputs)


class _Variables(NamedTuple):
    """How the variables are made; regularizers are those of the fused op alone, as in 1.15."""

    initializers: Mapping[str, Any]
    regularizers: Mapping[str, Any]
    collections: Any
    trainable: bool

    def parameter(self, name: str, sizes: TensorShape, dtype: DType, default: Any) -> Any:
        """`beta` or `gamma`."""
        return model_variable(
            name,
            shape=sizes,
            dtype=dtype,
            initializer=self.initializers.get(name, default),
            regularizer=self.regularizers.get(name),
            collections=get_variable_collections(self.collections, name),
            trainable=self.trainable,
        )

    def averages(self, sizes: TensorShape, dtype: DType) -> list[Any]:
        """The moving mean and variance, which are not partitioned."""
        with variable_scope(get_variable_scope()) as unpartitioned:
            unpartitioned.set_partitioner(None)
            return [
                model_variable(
                    name,
                    shape=sizes,
                    dtype=dtype,
                    initializer=self.initializers.get(name, default),
                    collections=get_variable_collections(self.collections, name),
                    trainable=False,
                )
                for name, default in (("moving_mean", zeros_initializer()), ("moving_variance", ones_initializer()))
            ]


class _Updates(NamedTuple):
    """When and how far the moving averages follow the batch's statistics."""

    is_training: Any
    decay: Any
    is_debiased: bool
    collections: Any

    def made(self, averages: list[Any], batch: list[Tensor], through: Any, otherwise: Any) -> Any:
        """`through` when training, after the updates unless collections keep these; else `otherwise`."""

        def moved() -> list[Any]:
            (mean, variance), (batch_mean, batch_variance) = averages, batch
            return [
                assign_moving_average(mean, batch_mean, self.decay, zero_debias=self.is_debiased),
                assign_moving_average(variance, batch_variance, self.decay, zero_debias=False),
            ]

        def after_moving() -> Any:
            with control_dependencies(moved()):
                return map_structure(identity, through)

        if self.collections is None:
            return by_phase(self.is_training, after_moving, lambda: otherwise)
        for update in by_phase(self.is_training, moved, lambda: averages):
            add_to_collections(self.collections, update)
        return through if otherwise is through else by_phase(self.is_training, lambda: through, lambda: otherwise)


def _fused(
    inputs: Any, made: _Variables, updates: _Updates, center: bool, scale: bool, epsilon: float, data_format: str
) -> Any:
    """By the fused op, whose variables are float32, and whose variance for the average is that of a sample."""
    whole, is_matrix = inputs, inputs.get_shape().ndims == 2
    channels = -1 if is_matrix or layout(data_format) == "channels_last" else 1
    sizes = _channels(inputs, channels)
    if is_matrix:
        size = sizes.as_list()
        inputs = reshape(inputs, [-1, 1, 1, *size] if layout(data_format) == "channels_last" else [-1, *size, 1, 1])

    def parameter(name: str, is_wanted: bool, value: float, initializer: Any) -> Any:
        if is_wanted:
            return made.parameter(name, sizes, dtypes.float32, initializer)
        return constant(value, shape=sizes.as_list())

    beta = parameter("beta", center, 0.0, zeros_initializer())
    gamma = parameter("gamma", scale, 1.0, ones_initializer())
    averages = made.averages(sizes, dtypes.float32)
    moving_mean, moving_variance = averages

    outputs, *batch = by_phase(
        updates.is_training,
        lambda: fused_batch_norm(inputs, gamma, beta, epsilon=epsilon, data_format=data_format),
        lambda: fused_batch_norm(
            inputs, gamma, beta, moving_mean, moving_variance, epsilon, data_format=data_format, is_training=False
        ),
    )
    if known_truth(updates.is_training) is not False:
        outputs = updates.made(averages, batch, through=outputs, otherwise=outputs)
    outputs.set_shape(inputs.get_shape())
    return reshape(outputs, shape(whole)) if is_matrix else outputs


def _by_moments(
    inputs: Any,
    made: _Variables,
    updates: _Updates,
    center: bool,
    scale: bool,
    epsilon: float,
    data_format: str,
    batch_weights: Any,
) -> Any:
    """By the moments of the batch, weighted if there are weights."""
    known, dtype = inputs.get_shape(), inputs.dtype.base_dtype
    if known.ndims is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    channels = known.ndims - 1 if layout(data_format) == "channels_last" else 1
    sizes = _channels(inputs, channels)
    if batch_weights is not None:
        batch_weights = convert_to_tensor(batch_weights)
        known[:1].assert_is_compatible_with(batch_weights.get_shape())
        batch_weights = reshape(batch_weights, [-1] + [1] * (known.ndims - 1))
    beta = made.parameter("beta", sizes, dtype, zeros_initializer()) if center else None
    gamma = made.parameter("gamma", sizes, dtype, ones_initializer()) if scale else None
    mean, variance = averages = made.averages(sizes, dtype)
    is_last = channels == known.ndims - 1
    if known_truth(updates.is_training) is not False:
        axes = [axis for axis in range(known.ndims) if axis != channels]
        if batch_weights is None:
            batch = list(moments(inputs, axes, keep_dims=not is_last))
        else:
            batch = list(weighted_moments(inputs, axes, batch_weights, keep_dims=not is_last))
        if not is_last:
            batch = [reshape(moment, [-1]) for moment in batch]
        mean, variance = updates.made(averages, batch, through=batch, otherwise=averages)
    if not is_last:
        spread = [sizes.as_list()[0] if axis == channels else 1 for axis in range(known.ndims)]
        terms = (mean, variance, beta, gamma)
        mean, variance, beta, gamma = (None if term is None else reshape(term, spread) for term in terms)
    outputs = batch_normalization(inputs, mean, variance, beta, gamma, epsilon)
    outputs.set_shape(known)
    return outputs


def _channels(inputs: Tensor, axis: int) -> TensorShape:
    """[channels]; ValueError where they are not known."""
    size = inputs.get_shape()[axis].value
    if size is None:
        raise ValueError(f"Inputs {inputs.name} has undefined `C` dimension {inputs.get_shape()}.")
    return TensorShape([size])
