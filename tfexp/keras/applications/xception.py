"""Xception: https://arxiv.org/abs/1610.02357. `tf.keras.applications.xception`."""

from __future__ import annotations

from typing import Any

from tfexp.keras.applications.building import application, batch_normalized, layers, plain, weight_files
from tfexp.keras.applications.imagenet_utils import preprocessing

_FILES = weight_files("xception", "xception", "0a58e3b7378bc2990ea3b43d5981f1f6", "b0042744bf5b25fce3cb969f33bebb97")
# The blocks that halve the size: of their separable convolutions the filters.
_SHRINKING: dict[int, tuple[int, ...]] = {2: (128, 128), 3: (256, 256), 4: (728, 728), 13: (728, 1024)}

preprocess_input = preprocessing("tf")


def _separable(x: Any, filters: int, name: str, active_first: bool = True) -> Any:
    if active_first:
        x = layers.Activation("relu", name=f"{name}_act")(x)
    x = layers.SeparableConv2D(filters, 3, padding="same", use_bias=False, name=name)(x)
    return batch_normalized(x, f"{name}_bn")


def _features(x: Any) -> Any:
    for index, (filters, stride) in enumerate(((32, 2), (64, 1)), start=1):
        x = layers.Conv2D(filters, 3, strides=stride, use_bias=False, name=f"block1_conv{index}")(x)
        x = layers.Activation("relu", name=f"block1_conv{index}_act")(batch_normalized(x, f"block1_conv{index}_bn"))
    for block in range(2, 14):
        shortcut, counts = x, _SHRINKING.get(block, (728, 728, 728))
        if block in _SHRINKING:
            shortcut = layers.Conv2D(counts[-1], 1, strides=2, padding="same", use_bias=False)(x)
            shortcut = batch_normalized(shortcut)
        for index, count in enumerate(counts, start=1):
            # What comes into the second block has just been activated.
            x = _separable(x, count, f"block{block}_sepconv{index}", active_first=(block, index) != (2, 1))
        if block in _SHRINKING:
            x = layers.MaxPooling2D(3, strides=2, padding="same", name=f"block{block}_pool")(x)
        x = layers.Add()([x, shortcut])
    for index, count in enumerate((1536, 2048), start=1):
        x = _separable(x, count, f"block14_sepconv{index}", active_first=False)
        x = layers.Activation("relu", name=f"block14_sepconv{index}_act")(x)
    return x


Xception = plain(
    "Xception",
    "14 blocks of separable convolutions, for images of 299 x 299.",
    lambda choices: application("xception", choices, _features, _FILES, size=299, smallest=71),
)
