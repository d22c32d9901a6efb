"""MobileNet: https://arxiv.org/abs/1704.04861. `tf.keras.applications.mobilenet`."""

from __future__ import annotations

from typing import Any

from tfexp.keras.applications.building import (
    Choices,
    WeightFile,
    application,
    batch_normalized,
    channel_axis,
    layers,
    takes_layers,
)
from tfexp.keras.applications.imagenet_utils import preprocessing
from tfexp.keras.applications.mobile_sizes import shown_size, trained_size
from tfexp.keras.engine.model import Model

# Of each block the filters (of a network of width 1) and the stride.
_BLOCKS = (
    (64, 1),
    (128, 2),
    (128, 1),
    (256, 2),
    (256, 1),
    (512, 2),
    *[(512, 1)] * 5,
    (1024, 2),
    (1024, 1),
)
# The widths and sizes for which there are weights.
_WIDTHS = {0.25: "2_5", 0.50: "5_0", 0.75: "7_5", 1.0: "1_0"}
_SIZES = (128, 160, 192, 224)

preprocess_input = preprocessing("tf")


def _active(x: Any, name: str) -> Any:
    return layers.ReLU(6.0, name=f"{name}_relu")(batch_normalized(x, f"{name}_bn"))


@takes_layers
def MobileNet(
    input_shape: Any = None,
    alpha: float = 1.0,
    depth_multiplier: int = 1,
    dropout: float = 1e-3,
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: Any = None,
    pooling: str | None = None,
    classes: int = 1000,
) -> Model:
    """13 depthwise convolutions, each with a mixture of channels after it.

    alpha: how wide it is, in units of the published one. depth_multiplier: filters for each channel. dropout: of the top.
    """
    choices = Choices(include_top, weights, input_tensor, input_shape, pooling, classes)
    size = trained_size(choices, _SIZES)
    if weights == "imagenet" and depth_multiplier != 1:
        raise ValueError(
            "If imagenet weights are being loaded, depth multiplier must be 1. "
            f"Received: depth_multiplier={depth_multiplier}"
        )
    if weights == "imagenet" and alpha not in _WIDTHS:
        raise ValueError(
            "If imagenet weights are being loaded, alpha can be one of`0.25`, `0.50`, `0.75` or `1.0` only.  "
            f"Received: alpha={alpha}"
        )

    def features(x: Any) -> Any:
        x = layers.ZeroPadding2D(padding=((0, 1), (0, 1)), name="conv1_pad")(x)
        x = layers.Conv2D(int(32 * alpha), (3, 3), padding="valid", use_bias=False, strides=2, name="conv1")(x)
        x = _active(x, "conv1")
        for index, (filters, stride) in enumerate(_BLOCKS, start=1):
            if stride == 2:
                x = layers.ZeroPadding2D(((0, 1), (0, 1)), name=f"conv_pad_{index}")(x)
            x = layers.DepthwiseConv2D(
                (3, 3),
                padding="same" if stride == 1 else "valid",
                depth_multiplier=depth_multiplier,
                strides=stride,
                use_bias=False,
                name=f"conv_dw_{index}",
            )(x)
            x = _active(x, f"conv_dw_{index}")
            x = layers.Conv2D(int(filters * alpha), (1, 1), padding="same", use_bias=False, name=f"conv_pw_{index}")(x)
            x = _active(x, f"conv_pw_{index}")
        return x

    def top(x: Any, classes: int) -> Any:
        depth = int(1024 * alpha)
        one_pixel = (1, 1, depth) if channel_axis() == 3 else (depth, 1, 1)
        x = layers.Reshape(one_pixel, name="reshape_1")(layers.GlobalAveragePooling2D()(x))
        x = layers.Conv2D(classes, (1, 1), padding="same", name="conv_preds")(layers.Dropout(dropout, name="dropout")(x))
        return layers.Activation("softmax", name="act_softmax")(layers.Reshape((classes,), name="reshape_2")(x))

    stem = f"mobilenet/mobilenet_{_WIDTHS.get(alpha)}_{size}_tf"
    files = {True: WeightFile(f"{stem}.h5"), False: WeightFile(f"{stem}_no_top.h5")}
    return application(f"mobilenet_{alpha:.2f}_{shown_size(choices, size)}", choices, features, files, top, size=size)
