"""The networks of tf.keras.applications, and what is compared of them: TensorFlow's side is record_applications.py."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np

NETWORKS = (
    "VGG16",
    "VGG19",
    "ResNet50",
    "ResNet101",
    "ResNet152",
    "ResNet50V2",
    "ResNet101V2",
    "ResNet152V2",
    "MobileNet",
    "MobileNetV2",
    "DenseNet121",
    "DenseNet169",
    "DenseNet201",
    "InceptionV3",
    "InceptionResNetV2",
    "Xception",
    "NASNetMobile",
    "NASNetLarge",
)
# Arguments that make a network small enough to run in a test.
SMALL: dict[str, dict[str, Any]] = {
    "VGG16": {"input_shape": (32, 32, 3)},
    "ResNet50": {"input_shape": (32, 32, 3)},
    "ResNet50V2": {"input_shape": (35, 32, 3)},
    "MobileNet": {"input_shape": (32, 32, 3), "alpha": 0.25},
    "MobileNetV2": {"input_shape": (32, 35, 3), "alpha": 0.35},
    "Xception": {"input_shape": (71, 71, 3)},
    "InceptionV3": {"input_shape": (75, 75, 3)},
    "DenseNet121": {"input_shape": (32, 32, 3)},
    "NASNetMobile": {"input_shape": (32, 32, 3)},
}


def digest(facts: Any) -> str:
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]


def layers_of(model: Any) -> list[Any]:
    """Names, and the shapes of what they give; not of the layers that only later versions of Keras name, or have."""
    kept = [layer for layer in model.layers if type(layer).__name__ not in ("Lambda", "CustomScaleLayer", "Reshape")]
    shaped = [layer for layer in kept if "global_average_pooling" not in layer.name]
    return [[layer.name, type(layer).__name__, list(layer.output_shape)[-3:]] for layer in shaped]


def variables_of(model: Any) -> list[Any]:
    return [[weight.name, weight.shape.as_list()] for weight in model.weights]


def wave(size: int, step: float) -> Any:
    return np.cos(np.arange(size) * step)


def weight(name: str, shape: list[int], index: int) -> Any:
    """Values that keep what runs through a deep network of about the same size."""
    numbers = wave(int(np.prod(shape)), 0.7 + 0.01 * (index % 50)).reshape(shape)
    if "kernel" in name:
        fan_in = np.prod(shape[:-1]) / (shape[-2] if "depthwise" in name else 1)
        return numbers * np.sqrt(4 / fan_in)
    return 0.1 * numbers + (1 if "gamma" in name or "variance" in name else 0)


def features_of(tf: Any, network: Any, arguments: dict[str, Any]) -> float:
    """The pooled features of two images, as one number. A session must have been set."""
    model = network(weights=None, include_top=False, pooling="avg", **arguments)
    model.set_weights([weight(w.name, w.shape.as_list(), i) for i, w in enumerate(model.weights)])
    images = wave(2 * int(np.prod(arguments["input_shape"])), 0.37).reshape(2, *arguments["input_shape"])
    features = tf.keras.backend.get_session().run(
        model.outputs[0], {model.inputs[0]: images, tf.keras.backend.learning_phase(): 0}
    )
    return float(np.vdot(features, wave(features.size, 1.3)) / np.sqrt(features.size))
