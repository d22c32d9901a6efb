"""Batch normalisation as a step of a flow (Dinh et al. 2016, Papamakarios et al. 2017).

Source: `tf.contrib.distributions.bijectors.BatchNormalization`, TF 1.15.
"""

from __future__ import annotations

from typing import Any

from tfexp.distributions.bijectors.bijector import Bijector
from tfexp.layers.normalization import BatchNormalization as Layer
from tfexp.ops.array import reshape
from tfexp.ops.elementwise_unary import log, sqrt
from tfexp.ops.nn_activation import relu
from tfexp.ops.nn_norm import moments
from tfexp.ops.reduce import reduce_sum


class BatchNormalization(Bijector):
    """`inverse` normalises as a `tf.layers.BatchNormalization` does, `forward` undoes that with the moving averages.

    batchnorm_layer: by default one whose scales stay positive; ValueError for another layer, one with `renorm` or with a
    virtual batch size. training: whether `inverse` takes the batch's moments and changes the moving averages. The shapes of
    values must be known: ValueError.
    """

    def __init__(
        self,
        batchnorm_layer: Any = None,
        training: bool = True,
        validate_args: bool = False,
        name: str = "batch_normalization",
    ):
        layer = Layer(gamma_constraint=lambda gamma: relu(gamma) + 1e-6) if batchnorm_layer is None else batchnorm_layer
        if not isinstance(layer, Layer):
            raise ValueError("batchnorm_layer must be an instance of BatchNormalization layer.")
        if layer.renorm:
            raise ValueError("BatchNorm Bijector does not support renormalization.")
        if layer.virtual_batch_size:
            raise ValueError("BatchNorm Bijector does not support virtual batch sizes.")
        self.batchnorm, self._training = layer, training
        axes = 1 if isinstance(layer.axis, int) else len(layer.axis)
        super().__init__(forward_min_event_ndims=axes, validate_args=validate_args, name=name)

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        return self.batchnorm.apply(y, training=self._training)

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        layer = self._built_for(x)

        def spread(parameter: Any) -> Any:
            """A parameter [channels] over the axes of x."""
            dims = [size if axis in layer.axis else 1 for axis, size in enumerate(x.shape.as_list())]
            return reshape(parameter, dims)

        centred = x - spread(layer.beta) if layer.center else x
        scaled = centred / spread(layer.gamma) if layer.scale else centred
        return scaled * sqrt(spread(layer.moving_variance) + layer.epsilon) + spread(layer.moving_mean)

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Any:
        layer = self._built_for(x)
        return -self._log_scale(log(layer.moving_variance + layer.epsilon))

    def _inverse_log_det_jacobian(self, y: Any, **kwargs: Any) -> Any:
        layer = self._built_for(y)
        variance = layer.moving_variance
        if self._training:
            _, variance = moments(y, axes=[axis for axis in range(y.shape.ndims) if axis not in layer.axis])
        return self._log_scale(log(variance + layer.epsilon))

    def _log_scale(self, log_variance: Any) -> Any:
        """log |det| of the normalisation."""
        of_variance = -0.5 * reduce_sum(log_variance)
        return of_variance + reduce_sum(log(self.batchnorm.gamma)) if self.batchnorm.scale else of_variance

    def _built_for(self, values: Any) -> Any:
        if not values.shape.is_fully_defined():
            raise ValueError("Input must have shape known at graph construction.")
        if not self.batchnorm.built:
            self.batchnorm.build(values.shape)
        return self.batchnorm
