"""What all applications share: their input, their top, their weights. Source: `tf.keras.applications`, TF 1.15."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from tfexp.core.log import get_logger
from tfexp.keras import backend
from tfexp.keras import layers as keras_layers
from tfexp.keras.engine.model import Model
from tfexp.keras.utils.files import get_file
from tfexp.keras.utils.models import get_source_inputs

_HOME = "https://storage.googleapis.com/tensorflow/keras-applications"
_layers_now: ContextVar[Any] = ContextVar("layers", default=keras_layers)


class _Layers:
    def __getattr__(self, name: str) -> Any:
        return getattr(_layers_now.get(), name)


# `tf.keras.layers`, or what the caller of an application has put in its place.
layers = _Layers()


def takes_layers(build: Callable[..., Model]) -> Callable[..., Model]:
    """The application, which may be told where to take its layers from: `layers`, instead of `tf.keras.layers`.

    Anything with functions by the names of the layers' classes will do. `backend`, `models` and `utils`, which the package
    keras_applications takes as well, change nothing, as in TensorFlow 1.15.
    """

    @functools.wraps(build)
    def built(
        *args: Any, layers: Any = keras_layers, backend: Any = None, models: Any = None, utils: Any = None, **kwargs: Any
    ) -> Model:
        before = _layers_now.set(layers)
        try:
            return build(*args, **kwargs)
        finally:
            _layers_now.reset(before)

    return built


@dataclass(frozen=True)
class WeightFile:
    """A file of weights: where it lies below the store of all applications, its name here, its MD5 (None: unknown)."""

    path: str
    md5: str | None = None
    name: str | None = None

    def fetched(self) -> str:
        """The path of the local copy, which is made first where there is none."""
        name = self.name or self.path.rpartition("/")[2]
        path: str = get_file(name, f"{_HOME}/{self.path}", cache_subdir="models", file_hash=self.md5)
        return path


def weight_files(folder: str, name: str, whole: str, without_top: str) -> dict[bool, WeightFile]:
    """The usual two files, by whether they have the top: by their MD5s."""
    stem = f"{folder}/{name}_weights_tf_dim_ordering_tf_kernels"
    return {True: WeightFile(f"{stem}.h5", whole), False: WeightFile(f"{stem}_notop.h5", without_top)}


@dataclass(frozen=True)
class Choices:
    """What a caller wants of a network: the arguments that all of them take."""

    include_top: bool
    weights: str | None
    input_tensor: Any
    input_shape: Any
    pooling: str | None
    classes: int

    def __post_init__(self) -> None:
        if self.weights not in ("imagenet", None) and not os.path.exists(self.weights):
            raise ValueError(
                "The `weights` argument should be either `None` (random initialization), `imagenet` (pre-training on "
                f"ImageNet), or the path to the weights file to be loaded. Received: weights={self.weights}"
            )
        if self.weights == "imagenet" and self.include_top and self.classes != 1000:
            raise ValueError(
                'If using `weights` as `"imagenet"` with `include_top` as true, `classes` should be 1000. '
                f"Received: classes={self.classes}"
            )


def channel_axis() -> int:
    """Of images in Keras's layout."""
    return 3 if backend.image_data_format() == "channels_last" else 1


def image_dims(x: Any) -> tuple[Any, ...]:
    """The four dimensions of a batch of images: numbers, or None."""
    dims = backend.int_shape(x)
    assert dims is not None  # a layer's inputs and outputs have a rank
    return dims


def spatial_sizes(x: Any) -> tuple[int | None, int | None]:
    """The height and the width of images; None where unknown."""
    dims = image_dims(x)
    return (dims[1], dims[2]) if channel_axis() == 3 else (dims[2], dims[3])


def batch_normalized(x: Any, name: str | None = None, **settings: Any) -> Any:
    """Each channel normalized over the batch."""
    return layers.BatchNormalization(axis=channel_axis(), name=name, **settings)(x)


def padding_of_halves(x: Any, window: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """The zeros around images after which windows at every second position, without padding, sit as those of `same` do."""
    sizes = spatial_sizes(x)
    return tuple((window // 2 - (1 - size % 2 if size else 1), window // 2) for size in sizes)  # type: ignore[return-value]


def image_shape(choices: Choices, size: int, smallest: int) -> tuple[int | None, ...]:
    """The shape of an image: the given one, checked, or `size` square, or with the top left out any. ValueError."""
    first = channel_axis() == 1

    def of(height: int | None, width: int | None, channels: int) -> tuple[int | None, ...]:
        return (channels, height, width) if first else (height, width, channels)

    given = None if choices.input_shape is None else tuple(choices.input_shape)
    channels = 3
    if given is not None and len(given) == 3 and choices.weights != "imagenet":
        channels = given[0 if first else -1]
        if channels not in (1, 3):
            get_logger().warning(
                "This model usually expects 1 or 3 input channels. However, it was passed an input_shape with %s input "
                "channels.",
                channels,
            )
    usual = of(size, size, channels)
    if choices.weights == "imagenet" and choices.include_top:
        if given is not None and given != usual:
            raise ValueError(
                f"When setting `include_top=True` and loading `imagenet` weights, `input_shape` should be {usual}.  "
                f"Received: input_shape={given}"
            )
        return usual
    if given is None:
        return usual if choices.include_top else of(None, None, channels)
    if len(given) != 3:
        raise ValueError("`input_shape` must be a tuple of three integers.")
    if given[0 if first else -1] != 3 and choices.weights == "imagenet":
        raise ValueError(f"The input must have 3 channels; Received `input_shape={given}`")
    lengths = given[1:] if first else given[:2]
    if any(length is not None and length < smallest for length in lengths):
        raise ValueError(f"Input size must be at least {smallest}x{smallest}; Received: input_shape={given}")
    if choices.include_top and None in given:
        raise ValueError(f"If `include_top` is True, you should specify a static `input_shape`. Got: input_shape={given}")
    return given


def image_input(choices: Choices, shape: tuple[int | None, ...]) -> tuple[Any, Any]:
    """(what a model has as its inputs, the images)."""
    given = choices.input_tensor
    if given is None:
        images = layers.Input(shape=shape)
        return images, images
    if not backend.is_keras_tensor(given):
        images = layers.Input(tensor=given, shape=shape)
        return given, images
    return get_source_inputs(given), given


def classified(x: Any, classes: int, name: str = "predictions") -> Any:
    """The usual top: the mean over each channel, and from that the classes' probabilities."""
    x = layers.GlobalAveragePooling2D(name="avg_pool")(x)
    return layers.Dense(classes, activation="softmax", name=name)(x)


def application(
    name: str,
    choices: Choices,
    features: Callable[[Any], Any],
    files: dict[bool, WeightFile],
    top: Callable[[Any, int], Any] = classified,
    *,
    size: int = 224,
    smallest: int = 32,
    pooling_names: dict[str, str | None] | None = None,
) -> Model:
    """The model of that name: `features` of images, and `top` of these or a pooling of them, with the weights asked for.

    size: of square images by default; smallest: the least that the network can make anything of.
    """
    inputs, images = image_input(choices, image_shape(choices, size, smallest))
    x = features(images)
    names = pooling_names or {}
    if choices.include_top:
        x = top(x, choices.classes)
    elif choices.pooling == "avg":
        x = layers.GlobalAveragePooling2D(name=names.get("avg"))(x)
    elif choices.pooling == "max":
        x = layers.GlobalMaxPooling2D(name=names.get("max"))(x)
    model = Model(inputs, x, name=name)
    if choices.weights == "imagenet":
        model.load_weights(files[choices.include_top].fetched())
    elif choices.weights is not None:
        model.load_weights(choices.weights)
    return model


def plain(called: str, doc: str, make: Callable[[Choices], Model]) -> Callable[..., Model]:
    """The public function, of that name and docstring, of a network that has no settings of its own but `layers`."""

    def build(
        include_top: bool = True,
        weights: str | None = "imagenet",
        input_tensor: Any = None,
        input_shape: Any = None,
        pooling: str | None = None,
        classes: int = 1000,
    ) -> Model:
        return make(Choices(include_top, weights, input_tensor, input_shape, pooling, classes))

    build.__name__ = build.__qualname__ = called
    build.__doc__, build.__module__ = doc, make.__module__
    return takes_layers(build)
