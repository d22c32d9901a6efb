"""Inception-ResNet v2: https://arxiv.org/abs/1602.07261. `tf.keras.applications.inception_resnet_v2`."""

from __future__ import annotations

from typing import Any

from tfexp.keras.applications.building import application, channel_axis, image_dims, layers, plain, weight_files
from tfexp.keras.applications.imagenet_utils import preprocessing
from tfexp.keras.applications.inception_blocks import (
    STEM,
    AveragePool,
    Branch,
    Conv,
    MaxPool,
    convolved,
    mixed,
    shrinking,
    stepped,
)

_FILES = weight_files(
    "inception_resnet_v2", "inception_resnet_v2", "e693bd0210a403b3192acc6073ad2e96", "d19885ff4a710c122648d3b5c3b684e4"
)
_MIXED_5B: tuple[Branch, ...] = (
    (Conv(96),),
    (Conv(48), Conv(64, 5)),
    (Conv(64), Conv(96, 3), Conv(96, 3)),
    (AveragePool(), Conv(64)),
)
_MIXED_6A: tuple[Branch, ...] = ((shrinking(384),), (Conv(256), Conv(256, 3), shrinking(384)), (MaxPool(),))
_MIXED_7A: tuple[Branch, ...] = (
    (Conv(256), shrinking(384)),
    (Conv(256), shrinking(288)),
    (Conv(256), Conv(288, 3), shrinking(320)),
    (MaxPool(),),
)
_BLOCK_35: tuple[Branch, ...] = ((Conv(32),), (Conv(32), Conv(32, 3)), (Conv(32), Conv(48, 3), Conv(64, 3)))
_BLOCK_17: tuple[Branch, ...] = ((Conv(192),), (Conv(128), Conv(160, (1, 7)), Conv(192, (7, 1))))
_BLOCK_8: tuple[Branch, ...] = ((Conv(192),), (Conv(192), Conv(224, (1, 3)), Conv(256, (3, 1))))

preprocess_input = preprocessing("tf")


def _residual(x: Any, branches: tuple[Branch, ...], scale: float, name: str, active: bool = True) -> Any:
    """x and, `scale` times, what the branches make of it."""
    change = mixed(x, branches, f"{name}_mixed")
    dims = image_dims(x)
    change = layers.Conv2D(dims[channel_axis()], 1, padding="same", name=f"{name}_conv")(change)
    x = layers.Lambda(
        lambda inputs, scale: inputs[0] + inputs[1] * scale, output_shape=dims[1:], arguments={"scale": scale}, name=name
    )([x, change])
    return layers.Activation("relu", name=f"{name}_ac")(x) if active else x


def _features(x: Any) -> Any:
    x = mixed(stepped(x, STEM), _MIXED_5B, "mixed_5b")
    for index in range(1, 11):
        x = _residual(x, _BLOCK_35, 0.17, f"block35_{index}")
    x = mixed(x, _MIXED_6A, "mixed_6a")
    for index in range(1, 21):
        x = _residual(x, _BLOCK_17, 0.1, f"block17_{index}")
    x = mixed(x, _MIXED_7A, "mixed_7a")
    for index in range(1, 10):
        x = _residual(x, _BLOCK_8, 0.2, f"block8_{index}")
    x = _residual(x, _BLOCK_8, 1.0, "block8_10", active=False)
    return convolved(x, Conv(1536), "conv_7b")


InceptionResNetV2 = plain(
    "InceptionResNetV2",
    "43 blocks of branches, of which 40 add to what comes in; for images of 299 x 299.",
    lambda choices: application("inception_resnet_v2", choices, _features, _FILES, size=299, smallest=75),
)
