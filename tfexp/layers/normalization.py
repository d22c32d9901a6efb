"""`tf.layers.BatchNormalization`: Keras's, below a variable scope. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.graph.convert import convert_to_tensor
from tfexp.keras.layers import normalization
from tfexp.layers.base import Layer
from tfexp.ops.initializers import ones_initializer, zeros_initializer


class BatchNormalization(normalization.BatchNormalization, Layer):
    """(inputs - mean) / sqrt(variance + epsilon) * gamma + beta, with one mean and variance for each index of `axis`.

    In training these are the batch's, and the moving averages are updated by the operations in UPDATE_OPS; else the moving
    averages. The arguments are those of `tf.keras.layers.BatchNormalization`.
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
        renorm: bool = False,
        renorm_clipping: Any = None,
        renorm_momentum: Any = 0.99,
        fused: bool | None = None,
        trainable: bool = True,
        virtual_batch_size: int | None = None,
        adjustment: Any = None,
        name: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(
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
            renorm,
            renorm_clipping,
            renorm_momentum,
            fused,
            trainable,
            virtual_batch_size,
            adjustment,
            name,
            **kwargs,
        )

    def _make_averages(self, param_shape: list[Any]) -> None:
        # A part of an average would be of no use to the statistics of the whole.
        scope, partitioner = self._scope, None if self._scope is None else self._scope.partitioner
        if scope is not None:
            scope.set_partitioner(None)
        try:
            super()._make_averages(param_shape)
        finally:
            if scope is not None and partitioner is not None:
                scope.set_partitioner(partitioner)

    def call(self, inputs: Any, training: Any = False) -> Any:
        return super().call(inputs, training=training)


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
    renorm: bool = False,
    renorm_clipping: Any = None,
    renorm_momentum: Any = 0.99,
    fused: bool | None = None,
    virtual_batch_size: int | None = None,
    adjustment: Any = None,
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
        renorm,
        renorm_clipping,
        renorm_momentum,
        fused,
        trainable,
        virtual_batch_size,
        adjustment,
        name,
        dtype=inputs.dtype.base_dtype,
        _reuse=reuse,
        _scope=name,
    )
    return layer.apply(inputs, training=training)
