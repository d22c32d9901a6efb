"""ResNet (https://arxiv.org/abs/1512.03385) and ResNetV2 (…/1603.05027). `tf.keras.applications.resnet`, `…resnet_v2`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tfexp.keras.applications.building import application, batch_normalized, classified, layers, plain, weight_files
from tfexp.keras.applications.imagenet_utils import preprocessing
from tfexp.keras.engine.model import Model

# How many blocks there are in each of the four stages.
_BLOCKS = {"50": (3, 4, 6, 3), "101": (3, 4, 23, 3), "152": (3, 8, 36, 3)}
_MD5S = {
    "resnet50": ("2cb95161c43110f7111970584f804107", "4d473c1dd8becc155b73f8504c6f6626"),
    "resnet101": ("f1aeb4b969a6efcfb50fad2f0c20cfc5", "88cf7a10940856eca736dc7b7e228a21"),
    "resnet152": ("100835be76be38e30d865e96f2aaae62", "ee4c566cf9a93f14d82f913c2dc6dd0c"),
    "resnet50v2": ("3ef43a0b657b3be2300d5770ece849e0", "fac2f116257151a9d068a22e544a4917"),
    "resnet101v2": ("6343647c601c52e1368623803854d971", "c0ed64b8031c3730f411d2eb4eea35b5"),
    "resnet152v2": ("a49b44d1979771252814e80f8ec446f9", "ed17cf2e0169df9d443503ef94b23b33"),
}
_EPSILON = 1.001e-5

preprocess_input = preprocessing("caffe")
preprocess_input_v2 = preprocessing("tf")


def _normalized(x: Any, name: str, relu: str | None = None) -> Any:
    x = batch_normalized(x, f"{name}_bn", epsilon=_EPSILON)
    return x if relu is None else layers.Activation("relu", name=relu)(x)


def _block(x: Any, filters: int, stride: int, widens: bool, name: str) -> Any:
    """Three convolutions beside what comes in; where their outputs are wider, that is convolved, too."""
    shortcut = x
    if widens:
        shortcut = _normalized(layers.Conv2D(4 * filters, 1, strides=stride, name=f"{name}_0_conv")(x), f"{name}_0")
    x = _normalized(layers.Conv2D(filters, 1, strides=stride, name=f"{name}_1_conv")(x), f"{name}_1", f"{name}_1_relu")
    x = _normalized(layers.Conv2D(filters, 3, padding="same", name=f"{name}_2_conv")(x), f"{name}_2", f"{name}_2_relu")
    x = _normalized(layers.Conv2D(4 * filters, 1, name=f"{name}_3_conv")(x), f"{name}_3")
    return layers.Activation("relu", name=f"{name}_out")(layers.Add(name=f"{name}_add")([shortcut, x]))


def _block_v2(x: Any, filters: int, stride: int, widens: bool, name: str) -> Any:
    """Activations come first; what comes in is added as it is but for its size."""
    active = _normalized(x, f"{name}_preact", f"{name}_preact_relu")
    if widens:
        shortcut = layers.Conv2D(4 * filters, 1, strides=stride, name=f"{name}_0_conv")(active)
    else:
        shortcut = layers.MaxPooling2D(1, strides=stride)(x) if stride > 1 else x
    x = layers.Conv2D(filters, 1, use_bias=False, name=f"{name}_1_conv")(active)
    x = layers.ZeroPadding2D(1, name=f"{name}_2_pad")(_normalized(x, f"{name}_1", f"{name}_1_relu"))
    x = layers.Conv2D(filters, 3, strides=stride, use_bias=False, name=f"{name}_2_conv")(x)
    x = layers.Conv2D(4 * filters, 1, name=f"{name}_3_conv")(_normalized(x, f"{name}_2", f"{name}_2_relu"))
    return layers.Add(name=f"{name}_out")([shortcut, x])


def _features(blocks: tuple[int, ...], block: Callable[..., Any], shrinks_last: bool) -> Callable[[Any], Any]:
    """shrinks_last: it is a stage's last block that halves the size, not the first one; activations come first, too."""

    def features(x: Any) -> Any:
        x = layers.ZeroPadding2D(3, name="conv1_pad")(x)
        x = layers.Conv2D(64, 7, strides=2, name="conv1_conv")(x)
        x = x if shrinks_last else _normalized(x, "conv1", "conv1_relu")
        x = layers.MaxPooling2D(3, strides=2, name="pool1_pool")(layers.ZeroPadding2D(1, name="pool1_pad")(x))
        last = len(blocks) - 1
        for stage, count in enumerate(blocks):
            at = count - 1 if shrinks_last else 0
            stride = 1 if stage == (last if shrinks_last else 0) else 2
            for index in range(count):
                name = f"conv{stage + 2}_block{index + 1}"
                x = block(x, 64 * 2**stage, stride if index == at else 1, index == 0, name)
        return _normalized(x, "post", "post_relu") if shrinks_last else x

    return features


def _resnet(depth: str, version: str, doc: str) -> Callable[..., Model]:
    name = f"resnet{depth}{version.lower()}"
    features = _features(_BLOCKS[depth], _block_v2 if version else _block, bool(version))
    folder_files = weight_files("resnet", name, *_MD5S[name])

    top = functools.partial(classified, name="probs")
    names: dict[str, str | None] = {"avg": "avg_pool", "max": "max_pool"}
    return plain(
        f"ResNet{depth}{version}",
        doc,
        lambda choices: application(name, choices, features, folder_files, top, pooling_names=names),
    )


ResNet50 = _resnet("50", "", "16 blocks of three convolutions each.")
ResNet101 = _resnet("101", "", "33 blocks of three convolutions each.")
ResNet152 = _resnet("152", "", "50 blocks of three convolutions each.")
ResNet50V2 = _resnet("50", "V2", "16 blocks, with activations first.")
ResNet101V2 = _resnet("101", "V2", "33 blocks, with activations first.")
ResNet152V2 = _resnet("152", "V2", "50 blocks, with activations first.")
