"""`tf.keras.layers`: layers around a layer; one of them applies it to each step of time. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core import nest
from tfexp.core.shape import TensorShape
from tfexp.keras import backend
from tfexp.keras.engine.base_layer import Layer
from tfexp.keras.engine.input_spec import InputSpec
from tfexp.keras.layers.arguments import takes
from tfexp.keras.layers.serialization import deserialize
from tfexp.keras.serialization import serialize_keras_object
from tfexp.ops.array import reshape, shape
from tfexp.ops.reduce import reduce_any


class Wrapper(Layer):
    """A layer around another, `layer`, whose variables are its own. TypeError unless that is a layer."""

    def __init__(self, layer: Any, **kwargs: Any):
        if not isinstance(layer, Layer):
            raise TypeError(f"`{type(self).__name__}` wraps a `tf.keras.layers.Layer` instance. Received: {layer!r}")
        self.layer = layer
        super().__init__(**kwargs)

    def build(self, input_shape: Any = None) -> None:
        if not self.layer.built:
            self.layer.build(input_shape)
            self.layer.built = True
        self.built = True

    @property
    def activity_regularizer(self) -> Any:
        """That of the layer inside, which sees to it."""
        return getattr(self.layer, "activity_regularizer", None)

    @activity_regularizer.setter
    def activity_regularizer(self, regularizer: Any) -> None:
        self.layer.activity_regularizer = regularizer

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "layer": serialize_keras_object(self.layer)}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        config = dict(config)
        return cls(deserialize(config.pop("layer"), custom_objects=custom_objects), **config)


class TimeDistributed(Wrapper):
    """The layer on each step of [batch, time, …], with the same weights for all: the steps join the batch meanwhile.

    A layer that keeps states from batch to batch, with a batch of known size, is run step by step.
    """

    def __init__(self, layer: Any, **kwargs: Any):
        if not isinstance(layer, Layer):
            raise ValueError(f"Please initialize `TimeDistributed` layer with a `Layer` instance. You passed: {layer}")
        super().__init__(layer, **kwargs)
        self._input_map: dict[Any, Any] = {}  # TensorFlow's checkpoints have it, and what it is in
        self._layers = [layer, self._input_map]
        self.supports_masking = True

    def build(self, input_shape: Any = None) -> None:
        sizes = TensorShape(input_shape).as_list()
        if len(sizes) < 3:
            raise ValueError(
                f"`TimeDistributed` Layer should be passed an `input_shape ` with at least 3 dimensions, received: {sizes}"
            )
        self.input_spec = InputSpec(shape=[None, None, *sizes[2:]])
        super().build(TensorShape([sizes[0], *sizes[2:]]))

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        kwargs = {"training": training} if takes(self.layer.call, "training") else {}
        dims = inputs.get_shape().as_list()
        if dims[0] and getattr(self.layer, "stateful", False):
            return self._step_by_step(inputs, dims, mask, kwargs)
        if takes(self.layer.call, "mask") and mask is not None:
            kwargs["mask"] = _joined(mask)
        inner = self.layer.call(_joined(inputs), **kwargs)
        outputs = nest.map_structure(lambda output: _apart(output, inputs), inner)
        if self.activity_regularizer is not None:
            for output in nest.flatten(outputs):
                self.add_loss(self.activity_regularizer(output), inputs=inputs)
        return outputs

    def _step_by_step(self, inputs: Any, dims: list[Any], mask: Any, kwargs: dict[str, Any]) -> Any:
        _, outputs, _ = backend.rnn(
            lambda x, _: (self.layer.call(x, **kwargs), []),
            inputs,
            initial_states=[],
            input_length=dims[1],
            mask=mask,
            unroll=False,
        )
        return outputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        sizes = TensorShape(input_shape).as_list()
        inner = self.layer.compute_output_shape(TensorShape([sizes[0], *sizes[2:]]))

        def with_time(known: Any) -> TensorShape:
            full = TensorShape(known).as_list()
            return TensorShape([full[0], sizes[1], *full[1:]])

        return [with_time(known) for known in inner] if isinstance(inner, list) else with_time(inner)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """What the layer says of the steps, by step; else whatever of a step is not masked keeps the step."""
        dims = inputs.get_shape().as_list()
        if dims[0]:
            return mask
        found = self.layer.compute_mask(_joined(inputs), None if mask is None else _joined(mask))
        if found is not None:
            return _apart(found, inputs)
        if mask is not None:
            for _ in range(mask.get_shape().ndims - 2):
                mask = reduce_any(mask, axis=-1)
        return mask


def _sizes_after(x: Any, count: int) -> list[Any]:
    """The sizes of all dimensions but the first ones: numbers, and tensors where only the run knows."""
    known = x.get_shape().as_list()[count:]
    dims: Any = shape(x) if None in known else known
    return [dims[count + i] if size is None else size for i, size in enumerate(known)]


def _joined(x: Any) -> Any:
    """[batch, time, …] as [batch · time, …]."""
    return reshape(x, [-1, *_sizes_after(x, 2)])


def _apart(x: Any, like: Any) -> Any:
    """[batch · time, …] as [batch, time, …], the batch and time of `like`."""
    batch, length = like.get_shape().as_list()[:2]
    steps = shape(like)[1] if length is None else length  # type: ignore[index]
    apart = reshape(x, [-1, steps, *_sizes_after(x, 1)])
    apart.set_shape([batch, length, *x.get_shape().as_list()[1:]])
    return apart
