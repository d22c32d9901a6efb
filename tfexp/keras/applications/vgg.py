"""VGG16 and VGG19: https://arxiv.org/abs/1409.1556. `tf.keras.applications.vgg16`, `…vgg19`."""

from __future__ import annotations

from typing import Any

from tfexp.keras.applications.building import Choices, application, layers, plain, weight_files
from tfexp.keras.applications.imagenet_utils import preprocessing
from tfexp.keras.engine.model import Model

# How many convolutions there are before each pooling.
_CONVOLUTIONS = {"vgg16": (2, 2, 3, 3, 3), "vgg19": (2, 2, 4, 4, 4)}
_FILTERS = (64, 128, 256, 512, 512)
_FILES = {
    "vgg16": weight_files("vgg16", "vgg16", "64373286793e3c8b2b4e3219cbf3544b", "6d6bbae143d832006294945121d1f1fc"),
    "vgg19": weight_files("vgg19", "vgg19", "cbe5617147190e668d6c5d5026f83318", "253f8cb515780f3b799900260a226db6"),
}

preprocess_input = preprocessing("caffe")


def _top(x: Any, classes: int) -> Any:
    x = layers.Flatten(name="flatten")(x)
    for index in (1, 2):
        x = layers.Dense(4096, activation="relu", name=f"fc{index}")(x)
    return layers.Dense(classes, activation="softmax", name="predictions")(x)


def _vgg(name: str, choices: Choices) -> Model:
    def features(x: Any) -> Any:
        for block, (filters, count) in enumerate(zip(_FILTERS, _CONVOLUTIONS[name], strict=True), start=1):
            for index in range(1, count + 1):
                x = layers.Conv2D(filters, 3, activation="relu", padding="same", name=f"block{block}_conv{index}")(x)
            x = layers.MaxPooling2D(2, strides=2, name=f"block{block}_pool")(x)
        return x

    return application(name, choices, features, _FILES[name], _top)


VGG16 = plain("VGG16", "13 convolutions and 3 dense layers.", lambda choices: _vgg("vgg16", choices))


VGG19 = plain("VGG19", "16 convolutions and 3 dense layers.", lambda choices: _vgg("vgg19", choices))
