"""`tf.keras.layers`: noise in training. Source: TF 1.15."""

from __future__ import annotations

import math
from typing import Any

from tfexp.keras import backend
from tfexp.keras.engine.base_layer import Layer
from tfexp.ops.array import shape
from tfexp.ops.cast import cast
from tfexp.ops.comparison import greater_equal

# Where SELU ends on the left: what it gives for very small numbers (https://arxiv.org/abs/1706.02515).
_SELU_LEAST = -1.6732632423543772848170429916717 * 1.0507009873554804934193349852946


class GaussianNoise(Layer):
    """In training, normal noise of mean 0 and this standard deviation is added."""

    def __init__(self, stddev: float, **kwargs: Any):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.stddev = stddev

    def call(self, inputs: Any, training: Any = None) -> Any:
        def noised() -> Any:
            return inputs + backend.random_normal(shape(inputs), mean=0.0, stddev=self.stddev, dtype=inputs.dtype)

        return backend.in_train_phase(noised, inputs, training=training)

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "stddev": self.stddev}


class GaussianDropout(Layer):
    """In training, elements are times normal noise of mean 1 whose variance is that of dropout with this `rate`."""

    def __init__(self, rate: float, **kwargs: Any):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.rate = rate

    def call(self, inputs: Any, training: Any = None) -> Any:
        if not 0 < self.rate < 1:
            return inputs

        def noised() -> Any:
            stddev = math.sqrt(self.rate / (1.0 - self.rate))
            return inputs * backend.random_normal(shape(inputs), mean=1.0, stddev=stddev, dtype=inputs.dtype)

        return backend.in_train_phase(noised, inputs, training=training)

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "rate": self.rate}


class AlphaDropout(Layer):
    """Dropout that keeps mean and variance of what SELU gives (https://arxiv.org/abs/1706.02515).

    What is dropped takes SELU's least value; then all is scaled and moved. noise_shape: as of Dropout.
    """

    def __init__(self, rate: float, noise_shape: Any = None, seed: int | None = None, **kwargs: Any):
        super().__init__(**kwargs)
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed
        self.supports_masking = True

    def _get_noise_shape(self, inputs: Any) -> Any:
        return self.noise_shape if self.noise_shape else shape(inputs)

    def call(self, inputs: Any, training: Any = None) -> Any:
        if not 0.0 < self.rate < 1.0:
            return inputs
        rate, least = self.rate, _SELU_LEAST

        def dropped() -> Any:
            noise = backend.random_uniform(self._get_noise_shape(inputs), seed=self.seed, dtype=inputs.dtype)
            kept: Any = cast(greater_equal(noise, rate), inputs.dtype)
            # With x of mean 0 and variance 1, this has mean rate * least and variance (1 - rate) * (1 + rate * least²).
            scale = ((1 - rate) * (1 + rate * least**2)) ** -0.5
            return scale * (inputs * kept + least * (1 - kept)) - scale * least * rate

        return backend.in_train_phase(dropped, inputs, training=training)

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "rate": self.rate}
