"""DenseNet: https://arxiv.org/abs/1608.06993. `tf.keras.applications.densenet`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tfexp.keras.applications.building import (
    application,
    batch_normalized,
    channel_axis,
    classified,
    image_dims,
    layers,
    plain,
    weight_files,
)
from tfexp.keras.applications.imagenet_utils import preprocessing
from tfexp.keras.engine.model import Model

# How many convolutions there are in each of the four dense blocks.
_BLOCKS = {"121": (6, 12, 24, 16), "169": (6, 12, 32, 32), "201": (6, 12, 48, 32)}
_MD5S = {
    "121": ("9d60b8095a5708f2dcce2bca79d332c7", "30ee3e1110167f948a6b9946edeeb738"),
    "169": ("d699b8f76981ab1b30698df4c175e90b", "b8c4d4c20dd625c148057b9ff1c1176b"),
    "201": ("1ceb130c1ea1b78c3bf6114dbdfd8807", "c13680b51ded0fb44dff2d8f86ac8bb1"),
}
# How many channels each convolution of a block adds.
_GROWTH = 32

preprocess_input = preprocessing("torch")


def _active(x: Any, names: tuple[str, str]) -> Any:
    return layers.Activation("relu", name=names[1])(batch_normalized(x, names[0], epsilon=1.001e-5))


def _grown(x: Any, name: str) -> Any:
    """x and `_GROWTH` channels more, computed from all of it."""
    more = _active(x, (f"{name}_0_bn", f"{name}_0_relu"))
    more = layers.Conv2D(4 * _GROWTH, 1, use_bias=False, name=f"{name}_1_conv")(more)
    more = _active(more, (f"{name}_1_bn", f"{name}_1_relu"))
    more = layers.Conv2D(_GROWTH, 3, padding="same", use_bias=False, name=f"{name}_2_conv")(more)
    return layers.Concatenate(axis=channel_axis(), name=f"{name}_concat")([x, more])


def _halved(x: Any, name: str) -> Any:
    """Half the channels, half the height and width."""
    x = _active(x, (f"{name}_bn", f"{name}_relu"))
    channels = image_dims(x)[channel_axis()]
    x = layers.Conv2D(channels // 2, 1, use_bias=False, name=f"{name}_conv")(x)
    return layers.AveragePooling2D(2, strides=2, name=f"{name}_pool")(x)


def _features(blocks: tuple[int, ...]) -> Callable[[Any], Any]:
    def features(x: Any) -> Any:
        x = layers.Conv2D(64, 7, strides=2, use_bias=False, name="conv1/conv")(layers.ZeroPadding2D(3)(x))
        x = layers.ZeroPadding2D(1)(_active(x, ("conv1/bn", "conv1/relu")))
        x = layers.MaxPooling2D(3, strides=2, name="pool1")(x)
        for block, count in enumerate(blocks, start=2):
            for index in range(1, count + 1):
                x = _grown(x, f"conv{block}_block{index}")
            if block <= len(blocks):
                x = _halved(x, f"pool{block}")
        return _active(x, ("bn", "relu"))

    return features


def _densenet(depth: str) -> Callable[..., Model]:
    name = f"densenet{depth}"
    features, files = _features(_BLOCKS[depth]), weight_files("densenet", name, *_MD5S[depth])

    top = functools.partial(classified, name="fc1000")
    names: dict[str, str | None] = {"avg": "avg_pool", "max": "max_pool"}
    return plain(
        f"DenseNet{depth}",
        f"Blocks of {', '.join(map(str, _BLOCKS[depth]))} convolutions.",
        lambda choices: application(name, choices, features, files, top, pooling_names=names),
    )


DenseNet121 = _densenet("121")
DenseNet169 = _densenet("169")
DenseNet201 = _densenet("201")
