"""`tf.keras.layers`: dropout of elements and of whole feature maps. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.graph.convert import convert_to_tensor
from tfexp.keras import backend
from tfexp.keras.engine.base_layer import Layer
from tfexp.keras.engine.input_spec import InputSpec
from tfexp.keras.layers.phase import by_phase, phase
from tfexp.ops.array import shape
from tfexp.ops.array_identity import identity
from tfexp.ops.nn_dropout import dropout


class Dropout(Layer):
    """In training, elements are zero with probability `rate` and the others scaled by 1 / (1 - rate).

    noise_shape: what it has as 1 is kept or dropped together; None in it stands for the size of the inputs.
    """

    def __init__(self, rate: Any, noise_shape: Any = None, seed: int | None = None, **kwargs: Any):
        super().__init__(**kwargs)
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed
        self.supports_masking = True

    def _get_noise_shape(self, inputs: Any) -> Any:
        """The shape of the noise; a subclass may have its own."""
        if self.noise_shape is None:
            return None
        dims: Any = shape(inputs)
        return convert_to_tensor([dims[i] if size is None else size for i, size in enumerate(self.noise_shape)])

    def call(self, inputs: Any, training: Any = None) -> Any:
        def dropped() -> Any:
            return dropout(inputs, noise_shape=self._get_noise_shape(inputs), seed=self.seed, rate=self.rate)

        return by_phase(phase(training), dropped, lambda: identity(inputs))

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "rate": self.rate, "noise_shape": self.noise_shape, "seed": self.seed}


class SpatialDropout1D(Dropout):
    """Dropout of whole feature maps of [batch, steps, channels]."""

    def __init__(self, rate: Any, **kwargs: Any):
        super().__init__(rate, **kwargs)
        self.input_spec = InputSpec(ndim=3)

    def _get_noise_shape(self, inputs: Any) -> Any:
        dims: Any = shape(inputs)
        return dims[0], 1, dims[2]


class _SpatialDropout(Dropout):
    """Dropout of whole feature maps of images of `_SPATIAL` dimensions, their channels last or first."""

    _SPATIAL: int

    def __init__(self, rate: Any, data_format: str | None = None, **kwargs: Any):
        super().__init__(rate, **kwargs)
        data_format = backend.image_data_format() if data_format is None else data_format
        if data_format not in ("channels_last", "channels_first"):
            raise ValueError(f'data_format must be in {{"channels_last", "channels_first"}}. Received: {data_format}')
        self.data_format = data_format
        self.input_spec = InputSpec(ndim=self._SPATIAL + 2)

    def _get_noise_shape(self, inputs: Any) -> Any:
        dims: Any = shape(inputs)
        ones = (1,) * self._SPATIAL
        if self.data_format == "channels_first":
            return (dims[0], dims[1], *ones)
        return (dims[0], *ones, dims[self._SPATIAL + 1])


class SpatialDropout2D(_SpatialDropout):
    """Dropout of whole feature maps of images."""

    _SPATIAL = 2


class SpatialDropout3D(_SpatialDropout):
    """Dropout of whole feature maps of volumes."""

    _SPATIAL = 3
