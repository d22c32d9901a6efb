"""NASNet: https://arxiv.org/abs/1707.07012. `tf.keras.applications.nasnet`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tfexp.graph.scopes import name_scope
from tfexp.keras.applications.building import (
    Choices,
    WeightFile,
    application,
    batch_normalized,
    channel_axis,
    image_dims,
    layers,
    padding_of_halves,
    spatial_sizes,
    takes_layers,
)
from tfexp.keras.applications.imagenet_utils import preprocessing
from tfexp.keras.engine.model import Model

preprocess_input = preprocessing("tf")


@dataclass(frozen=True)
class _Size:
    """repeats: cells between two that halve the size. last: channels before the top. skips: cells after such a cell are
    joined to what came before it, too."""

    repeats: int
    stem: int
    last: int
    skips: bool
    images: int
    files: dict[bool, WeightFile]


_MOBILE = _Size(
    repeats=4,
    stem=32,
    last=1056,
    skips=False,
    images=224,
    files={
        True: WeightFile("nasnet/NASNet-mobile.h5", "020fb642bf7360b370c678b08e0adf61", "nasnet_mobile.h5"),
        False: WeightFile("nasnet/NASNet-mobile-no-top.h5", "1ed92395b5b598bdda52abe5c0dbfd63", "nasnet_mobile_no_top.h5"),
    },
)
_LARGE = _Size(
    repeats=6,
    stem=96,
    last=4032,
    skips=True,
    images=331,
    files={
        True: WeightFile("nasnet/NASNet-large.h5", "11577c9a518f0070763c2b964a382f17", "nasnet_large.h5"),
        False: WeightFile("nasnet/NASNet-large-no-top.h5", "d81d89dc07e6e56530c4e77faddd61b5", "nasnet_large_no_top.h5"),
    },
)


def _normalized(x: Any, name: str) -> Any:
    return batch_normalized(x, name, momentum=0.9997, epsilon=1e-3)


def _relu(x: Any, name: str | None = None) -> Any:
    return layers.Activation("relu", name=name)(x)


def _squeezed(x: Any, filters: int, name: str) -> Any:
    """Convolution of single pixels."""
    return layers.Conv2D(filters, 1, padding="same", name=name, use_bias=False, kernel_initializer="he_normal")(x)


def _separable(x: Any, filters: int, window: int, name: str, stride: int = 1) -> Any:
    """Twice a separable convolution, of which the first may halve the size."""
    settings: dict[str, Any] = {"use_bias": False, "kernel_initializer": "he_normal"}
    with name_scope(f"separable_conv_block_{name}"):
        x = _relu(x)
        if stride == 2:
            x = layers.ZeroPadding2D(padding_of_halves(x, window), name=f"separable_conv_1_pad_{name}")(x)
        padding = "same" if stride == 1 else "valid"
        first = layers.SeparableConv2D(
            filters, window, strides=stride, padding=padding, name=f"separable_conv_1_{name}", **settings
        )
        x = _relu(_normalized(first(x), f"separable_conv_1_bn_{name}"))
        x = layers.SeparableConv2D(filters, window, padding="same", name=f"separable_conv_2_{name}", **settings)(x)
        return _normalized(x, f"separable_conv_2_bn_{name}")


def _adjusted(p: Any, like: Any, filters: int, cell: str) -> Any:
    """What came before what comes in, made as large as that and as wide as the cell."""
    if p is None:
        return like
    with name_scope("adjust_block"):
        if spatial_sizes(p) != spatial_sizes(like):
            with name_scope(f"adjust_reduction_block_{cell}"):
                return _halved(p, filters, cell)
        if image_dims(p)[channel_axis()] != filters:
            with name_scope(f"adjust_projection_block_{cell}"):
                return _normalized(_squeezed(_relu(p), filters, f"adjust_conv_projection_{cell}"), f"adjust_bn_{cell}")
    return p


def _halved(p: Any, filters: int, cell: str) -> Any:
    """Every second position in half of the channels, and those between in the others."""
    p = _relu(p, f"adjust_relu_1_{cell}")
    even = layers.AveragePooling2D(1, strides=2, name=f"adjust_avg_pool_1_{cell}")(p)
    even = _squeezed(even, filters // 2, f"adjust_conv_1_{cell}")
    odd = layers.Cropping2D(((1, 0), (1, 0)))(layers.ZeroPadding2D(((0, 1), (0, 1)))(p))
    odd = layers.AveragePooling2D(1, strides=2, name=f"adjust_avg_pool_2_{cell}")(odd)
    odd = _squeezed(odd, filters // 2, f"adjust_conv_2_{cell}")
    return _normalized(layers.Concatenate(axis=channel_axis())([even, odd]), f"adjust_bn_{cell}")


def _average(x: Any, name: str) -> Any:
    return layers.AveragePooling2D(3, strides=1, padding="same", name=name)(x)


def _normal_cell(x: Any, p: Any, filters: int, cell: str) -> tuple[Any, Any]:
    """(what it gives, what comes before that), of a cell that keeps the size."""

    def part(name: str, source: Any, window: int) -> Any:
        return _separable(source, filters, window, f"normal_{name}_{cell}")

    with name_scope(f"normal_A_block_{cell}"):
        p = _adjusted(p, x, filters, cell)
        h = _normalized(_squeezed(_relu(x), filters, f"normal_conv_1_{cell}"), f"normal_bn_1_{cell}")
        with name_scope("block_1"):
            one = layers.add([part("left1", h, 5), part("right1", p, 3)], name=f"normal_add_1_{cell}")
        with name_scope("block_2"):
            two = layers.add([part("left2", p, 5), part("right2", p, 3)], name=f"normal_add_2_{cell}")
        with name_scope("block_3"):
            three = layers.add([_average(h, f"normal_left3_{cell}"), p], name=f"normal_add_3_{cell}")
        with name_scope("block_4"):
            means = [_average(p, f"normal_{side}4_{cell}") for side in ("left", "right")]
            four = layers.add(means, name=f"normal_add_4_{cell}")
        with name_scope("block_5"):
            five = layers.add([part("left5", h, 3), h], name=f"normal_add_5_{cell}")
        parts = [p, one, two, three, four, five]
        return layers.Concatenate(axis=channel_axis(), name=f"normal_concat_{cell}")(parts), x


def _reduction_cell(x: Any, p: Any, filters: int, cell: str) -> tuple[Any, Any]:
    """(what it gives, what comes before that), of a cell that halves the size."""

    def part(name: str, source: Any, window: int, stride: int = 2) -> Any:
        return _separable(source, filters, window, f"reduction_{name}_{cell}", stride)

    with name_scope(f"reduction_A_block_{cell}"):
        p = _adjusted(p, x, filters, cell)
        h = _normalized(_squeezed(_relu(x), filters, f"reduction_conv_1_{cell}"), f"reduction_bn_1_{cell}")
        padded = layers.ZeroPadding2D(padding_of_halves(h, 3), name=f"reduction_pad_1_{cell}")(h)
        with name_scope("block_1"):
            one = layers.add([part("left1", h, 5), part("right1", p, 7)], name=f"reduction_add_1_{cell}")
        with name_scope("block_2"):
            largest = layers.MaxPooling2D(3, strides=2, name=f"reduction_left2_{cell}")(padded)
            two = layers.add([largest, part("right2", p, 7)], name=f"reduction_add_2_{cell}")
        with name_scope("block_3"):
            mean = layers.AveragePooling2D(3, strides=2, name=f"reduction_left3_{cell}")(padded)
            three = layers.add([mean, part("right3", p, 5)], name=f"reduction_add3_{cell}")
        with name_scope("block_4"):
            four = layers.add([two, _average(one, f"reduction_left4_{cell}")])
        with name_scope("block_5"):
            small = part("left4", one, 3, stride=1)
            largest = layers.MaxPooling2D(3, strides=2, name=f"reduction_right5_{cell}")(padded)
            five = layers.add([small, largest], name=f"reduction_add4_{cell}")
        return layers.Concatenate(axis=channel_axis(), name=f"reduction_concat_{cell}")([two, three, four, five]), x


def _nasnet(size: _Size, choices: Choices) -> Model:
    filters = size.last // 24

    def features(x: Any) -> Any:
        x = layers.Conv2D(size.stem, 3, strides=2, use_bias=False, name="stem_conv1", kernel_initializer="he_normal")(x)
        x, p = _reduction_cell(_normalized(x, "stem_bn1"), None, filters // 4, "stem_1")
        x, p = _reduction_cell(x, p, filters // 2, "stem_2")
        for stage in range(3):
            first = stage * size.repeats + (1 if stage else 0)
            if stage:
                x, before = _reduction_cell(x, p, filters * 2**stage, f"reduce_{stage * size.repeats}")
                p = p if size.skips else before
            for index in range(size.repeats):
                x, p = _normal_cell(x, p, filters * 2**stage, str(first + index))
        return _relu(x)

    def top(x: Any, classes: int) -> Any:
        return layers.Dense(classes, activation="softmax", name="predictions")(layers.GlobalAveragePooling2D()(x))

    return application("NASNet", choices, features, size.files, top, size=size.images)


@takes_layers
def NASNetMobile(
    input_shape: Any = None,
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: Any = None,
    pooling: str | None = None,
    classes: int = 1000,
) -> Model:
    """12 cells and 4 that halve the size, for images of 224 x 224."""
    return _nasnet(_MOBILE, Choices(include_top, weights, input_tensor, input_shape, pooling, classes))


@takes_layers
def NASNetLarge(
    input_shape: Any = None,
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: Any = None,
    pooling: str | None = None,
    classes: int = 1000,
) -> Model:
    """18 cells and 4 that halve the size, for images of 331 x 331."""
    return _nasnet(_LARGE, Choices(include_top, weights, input_tensor, input_shape, pooling, classes))
