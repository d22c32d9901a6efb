"""MobileNetV2: https://arxiv.org/abs/1801.04381. `tf.keras.applications.mobilenet_v2`."""

from __future__ import annotations

from typing import Any

from tfexp.keras.applications.building import (
    Choices,
    WeightFile,
    application,
    batch_normalized,
    channel_axis,
    image_dims,
    layers,
    padding_of_halves,
    takes_layers,
)
from tfexp.keras.applications.imagenet_utils import preprocessing
from tfexp.keras.applications.mobile_sizes import shown_size, trained_size
from tfexp.keras.engine.model import Model

# Of each kind of block: how many times as wide it is inside, its filters (of a network of width 1), how many there are, and
# the stride of the first.
_BLOCKS = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)
_WIDTHS = (0.35, 0.50, 0.75, 1.0, 1.3, 1.4)
_SIZES = (96, 128, 160, 192, 224)

preprocess_input = preprocessing("tf")


def _in_eights(filters: float) -> int:
    """The nearest multiple of 8, but not less than nine tenths of `filters`."""
    nearest = max(8, int(filters + 4) // 8 * 8)
    return nearest if nearest >= 0.9 * filters else nearest + 8


def _normalized(x: Any, name: str, relu: str | None = None) -> Any:
    x = batch_normalized(x, name, epsilon=1e-3, momentum=0.999)
    return x if relu is None else layers.ReLU(6.0, name=relu)(x)


def _block(x: Any, expansion: int, filters: int, stride: int, name: str) -> Any:
    """Wider, by itself in each channel, and narrow again; added to what comes in where that has the same shape."""
    channels = image_dims(x)[channel_axis()]
    inner = x
    if expansion > 1:
        inner = layers.Conv2D(expansion * channels, kernel_size=1, padding="same", use_bias=False, name=f"{name}expand")(x)
        inner = _normalized(inner, f"{name}expand_BN", f"{name}expand_relu")
    if stride == 2:
        inner = layers.ZeroPadding2D(padding=padding_of_halves(inner, 3), name=f"{name}pad")(inner)
    padding = "same" if stride == 1 else "valid"
    inner = layers.DepthwiseConv2D(kernel_size=3, strides=stride, use_bias=False, padding=padding, name=f"{name}depthwise")(
        inner
    )
    inner = _normalized(inner, f"{name}depthwise_BN", f"{name}depthwise_relu")
    inner = layers.Conv2D(filters, kernel_size=1, padding="same", use_bias=False, name=f"{name}project")(inner)
    inner = _normalized(inner, f"{name}project_BN")
    return layers.Add(name=f"{name}add")([x, inner]) if channels == filters and stride == 1 else inner


@takes_layers
def MobileNetV2(
    input_shape: Any = None,
    alpha: float = 1.0,
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: Any = None,
    pooling: str | None = None,
    classes: int = 1000,
) -> Model:
    """17 blocks. alpha: how wide it is, in units of the published one."""
    choices = Choices(include_top, weights, input_tensor, input_shape, pooling, classes)
    size = trained_size(choices, _SIZES)
    if weights == "imagenet" and alpha not in _WIDTHS:
        raise ValueError(
            "If imagenet weights are being loaded, alpha must be one of `0.35`, `0.50`, `0.75`, `1.0`, `1.3` or `1.4` only;"
            f" Received `alpha={alpha}`"
        )

    def features(x: Any) -> Any:
        x = layers.ZeroPadding2D(padding=padding_of_halves(x, 3), name="Conv1_pad")(x)
        x = layers.Conv2D(_in_eights(32 * alpha), kernel_size=3, strides=2, use_bias=False, name="Conv1", padding="valid")(x)
        x = _normalized(x, "bn_Conv1", "Conv1_relu")
        number = 0
        for expansion, filters, count, stride in _BLOCKS:
            for index in range(count):
                name = f"block_{number}_" if number else "expanded_conv_"
                x = _block(x, expansion, _in_eights(int(filters * alpha)), stride if index == 0 else 1, name)
                number += 1
        x = layers.Conv2D(_in_eights(1280 * alpha) if alpha > 1 else 1280, kernel_size=1, use_bias=False, name="Conv_1")(x)
        return _normalized(x, "Conv_1_bn", "out_relu")

    def top(x: Any, classes: int) -> Any:
        return layers.Dense(classes, activation="softmax", name="Logits")(layers.GlobalAveragePooling2D()(x))

    stem = f"mobilenet_v2/mobilenet_v2_weights_tf_dim_ordering_tf_kernels_{float(alpha)}_{size}"
    files = {True: WeightFile(f"{stem}.h5"), False: WeightFile(f"{stem}_no_top.h5")}
    return application(f"mobilenetv2_{alpha:.2f}_{shown_size(choices, size)}", choices, features, files, top, size=size)
