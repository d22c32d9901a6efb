"""`tf.layers.BatchNormalization` (http://arxiv.org/abs/1502.03167), plain and fused. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.shape import TensorShape
from tfexp.graph.control_flow import cond
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.scopes import colocate_with, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.layers.base import InputSpec, Layer
from tfexp.layers.functional import known_truth
from tfexp.ops.array import reshape
from tfexp.ops.batch_norm import fused_batch_norm
from tfexp.ops.cast import cast
from tfexp.ops.initializers import ones_initializer, zeros_initializer
from tfexp.ops.nn_norm import batch_normalization as batch_normalization_
from tfexp.ops.nn_norm import moments
from tfexp.ops.state import assign_sub
from tfexp.ops.variable_base import VariableAggregation, VariableSynchronization


class BatchNormalization(Layer):
    """(inputs - mean) / sqrt(variance + epsilon) * gamma + beta, with one mean and variance for each index of `axis`.

    In training these are the batch's, and the moving averages are updated by the operations in UPDATE_OPS; else the moving
    averages. fused: by FusedBatchNorm, by default wherever that is possible: images with their channels along `axis`.
    Batch renormalization, virtual batches and adjustments are not there. ValueError for what cannot be.
    """

    def __init__(
        self,
        axis: Any = -1,
        momentum: Any = 0.99,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = zeros_initializer(),  # noqa: B008 (it has no state)
        gamma_initializer: Any = ones_initializer(),  # noqa: B008
        moving_mean_initializer: Any = zeros_initializer(),  # noqa: B008
        moving_variance_initializer: Any = ones_initializer(),  # noqa: B008
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        beta_constraint: Any = None,
        gamma_constraint: Any = None,
        fused: bool | None = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(trainable=trainable, name=name, **kwargs)
        self.axis = list(axis) if isinstance(axis, (list, tuple)) else axis
        self.momentum, self.epsilon, self.center, self.scale = momentum, epsilon, center, scale
        self._beta = beta_initializer, beta_regularizer, beta_constraint
        self._gamma = gamma_initializer, gamma_regularizer, gamma_constraint
        self._moving_mean_initializer = moving_mean_initializer
        self._moving_variance_initializer = moving_variance_initializer
        self.fused = fused

    # --- variables ----------------------------------------------------------------------------------------------------

    def build(self, input_shape: Any) -> None:
        dims = TensorShape(input_shape)
        if dims.ndims is None:
            raise ValueError(f"Input has undefined rank: {input_shape}")
        self._axes = self._normalized_axes(dims.ndims)
        if self.fused is not False:  # True, too, is a wish only
            self.fused = dims.ndims == 4 and self._axes in ([1], [3])
        if self.fused:
            self._layout = "NCHW" if self._axes == [1] else "NHWC"
        sizes = {axis: dims[axis].value for axis in self._axes}
        if None in sizes.values():
            raise ValueError(
                f"Input has undefined `axis` dimension. Received input with shape {dims}. Axis value: {self._axes}"
            )
        self.input_spec = InputSpec(ndim=dims.ndims, axes=sizes)
        param_shape = list(sizes.values())
        if len(self._axes) > 1:
            param_shape = [sizes.get(i, 1) for i in range(dims.ndims)]
        self._make_parameters(param_shape)
        self._make_averages(param_shape)
        self.built = True

    def _normalized_axes(self, ndims: int) -> list[int]:
        given = self.axis if isinstance(self.axis, list) else [self.axis]
        axes = [axis + ndims if axis < 0 else axis for axis in given]
        for axis in axes:
            if not 0 <= axis < ndims:
                raise ValueError(
                    f"Invalid axis. Expected 0 <= axis < inputs.rank (with inputs.rank={ndims}). Received: {self.axis}"
                )
        if len(set(axes)) != len(axes):
            raise ValueError(f"Duplicate axis: {axes}")
        return axes

    @property
    def _param_dtype(self) -> Any:
        """Halves are normalised with single precision statistics."""
        return dtypes.float32 if self._dtype in (dtypes.float16, dtypes.bfloat16) else self._dtype or dtypes.float32

    def _make_parameters(self, param_shape: list[Any]) -> None:
        def parameter(name: str, is_wanted: bool, rules: tuple[Any, Any, Any]) -> Any:
            if not is_wanted:
                return None
            return self.add_weight(
                name, param_shape, self._param_dtype, initializer=rules[0], regularizer=rules[1], constraint=rules[2]
            )

        self.gamma = parameter("gamma", self.scale, self._gamma)
        self.beta = parameter("beta", self.center, self._beta)
        self._param_shape = param_shape

    def _make_averages(self, param_shape: list[Any]) -> None:
        # A part of an average would be of no use to the statistics of the whole.
        scope, partitioner = self._scope, None if self._scope is None else self._scope.partitioner

        def average(name: str, initializer: Any) -> Any:
            return self.add_weight(
                name,
                param_shape,
                self._param_dtype,
                initializer=initializer,
                trainable=False,
                synchronization=VariableSynchronization.ON_READ,
                aggregation=VariableAggregation.MEAN,
            )

        if scope is not None:
            scope.set_partitioner(None)
        try:
            self.moving_mean = average("moving_mean", self._moving_mean_initializer)
            self.moving_variance = average("moving_variance", self._moving_variance_initializer)
        finally:
            if scope is not None and partitioner is not None:
                scope.set_partitioner(partitioner)

    # --- computing ----------------------------------------------------------------------------------------------------

    def call(self, inputs: Any, training: Any = False) -> Any:
        return self._fused(inputs, training) if self.fused else self._plain(inputs, training)

    def _fused(self, inputs: Any, training: Any) -> Any:
        def constantly(value: float) -> Tensor:
            return constant(value, dtype=self._param_dtype, shape=self._param_shape)

        beta = constantly(0.0) if self.beta is None else self.beta
        gamma = constantly(1.0) if self.gamma is None else self.gamma

        def normalized(is_training: bool) -> Any:
            return fused_batch_norm(
                inputs,
                gamma,
                beta,
                mean=self.moving_mean,
                variance=self.moving_variance,
                epsilon=self.epsilon,
                is_training=is_training,
                data_format=self._layout,
            )

        output, mean, variance = _chosen(training, lambda: normalized(True), lambda: normalized(False))
        if known_truth(training) is not False:
            momentum = convert_to_tensor(_chosen(training, lambda: self.momentum, lambda: 1.0))
            self.add_update(_moved(self.moving_mean, mean, momentum), inputs)
            self.add_update(_moved(self.moving_variance, variance, momentum), inputs)
        return output

    def _plain(self, inputs: Any, training: Any) -> Any:
        dims = inputs.get_shape()
        reduced = [i for i in range(dims.ndims) if i not in self._axes]
        broadcast = [dims[i].value if i in self._axes else 1 for i in range(dims.ndims)]

        def spread(value: Any) -> Any:
            is_short = value is not None and value.get_shape().ndims != dims.ndims
            return reshape(value, broadcast) if is_short and reduced != list(range(dims.ndims - 1)) else value

        scale, offset = spread(self.gamma), spread(self.beta)
        if known_truth(training) is False:
            mean, variance = self.moving_mean, self.moving_variance
        else:
            batch_mean, batch_variance = moments(inputs, reduced, keep_dims=len(self._axes) > 1)
            mean = _chosen(training, lambda: batch_mean, lambda: convert_to_tensor(self.moving_mean))
            variance = _chosen(training, lambda: batch_variance, lambda: convert_to_tensor(self.moving_variance))
            self.add_update(self._update(self.moving_mean, mean, training), inputs)
            self.add_update(self._update(self.moving_variance, variance, training), inputs)
        mean, variance = cast(mean, inputs.dtype), cast(variance, inputs.dtype)
        offset = None if offset is None else cast(offset, inputs.dtype)
        scale = None if scale is None else cast(scale, inputs.dtype)
        outputs = batch_normalization_(inputs, spread(mean), spread(variance), offset, scale, self.epsilon)
        outputs.set_shape(dims)
        return outputs

    def _update(self, average: Any, value: Any, training: Any) -> Any:
        return _chosen(training, lambda: _moved(average, value, self.momentum), lambda: convert_to_tensor(average))

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        return TensorShape(input_shape)


def _chosen(training: Any, yes: Any, no: Any) -> Any:
    known = known_truth(training)
    return cond(training, yes, no) if known is None else yes() if known else no()


def _moved(average: Any, value: Any, momentum: Any) -> Tensor:
    """average = momentum * average + (1 - momentum) * value."""
    with name_scope("AssignMovingAvg") as scope, colocate_with(average):
        rest: Any = 1.0 - momentum
        decay = convert_to_tensor(np.float32(rest) if isinstance(rest, float) else rest, name="decay")
        if decay.dtype.base_dtype is not average.dtype.base_dtype:
            decay = cast(decay, average.dtype.base_dtype)
        return assign_sub(average, (average - cast(value, average.dtype.base_dtype)) * decay, name=scope)


def batch_normalization(
    inputs: Any,
    axis: Any = -1,
    momentum: Any = 0.99,
    epsilon: float = 1e-3,
    center: bool = True,
    scale: bool = True,
    beta_initializer: Any = zeros_initializer(),  # noqa: B008 (it has no state)
    gamma_initializer: Any = ones_initializer(),  # noqa: B008
    moving_mean_initializer: Any = zeros_initializer(),  # noqa: B008
    moving_variance_initializer: Any = ones_initializer(),  # noqa: B008
    beta_regularizer: Any = None,
    gamma_regularizer: Any = None,
    beta_constraint: Any = None,
    gamma_constraint: Any = None,
    training: Any = False,
    trainable: bool = True,
    name: str | None = None,
    reuse: Any = None,
    fused: bool | None = None,
) -> Any:
    """The inputs, normalised by a `BatchNormalization` of that name. `training` may be a tensor."""
    inputs = convert_to_tensor(inputs)
    layer = BatchNormalization(
        axis,
        momentum,
        epsilon,
        center,
        scale,
        beta_initializer,
        gamma_initializer,
        moving_mean_initializer,
        moving_variance_initializer,
        beta_regularizer,
        gamma_regularizer,
        beta_constraint,
        gamma_constraint,
        fused,
        trainable,
        name,
        dtype=inputs.dtype.base_dtype,
        _reuse=reuse,
        _scope=name,
    )
    return layer.apply(inputs, training=training)
