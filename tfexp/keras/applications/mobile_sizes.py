"""The sizes of images for which the MobileNets have weights."""

from __future__ import annotations

from tfexp.core.log import get_logger
from tfexp.keras import backend
from tfexp.keras.applications.building import Choices, channel_axis, image_dims, image_shape


def trained_size(choices: Choices, sizes: tuple[int, ...]) -> int:
    """The height of square images as they are given, if it is one of `sizes`; else 224."""
    shape = choices.input_shape
    if shape is None and choices.input_tensor is not None and backend.is_keras_tensor(choices.input_tensor):
        shape = image_dims(choices.input_tensor)[1:]
    if shape is None:
        return 224
    rows, columns = shape[:2] if channel_axis() == 3 else shape[1:3]
    if rows == columns and rows in sizes:
        return int(rows)
    if choices.weights == "imagenet":
        get_logger().warning(
            "`input_shape` is undefined or non-square, or `rows` is not in %s. Weights for input shape (224, 224) will be "
            "loaded as the default.",
            list(sizes),
        )
    return 224


def shown_size(choices: Choices, size: int) -> int | None:
    """The height that the model's name tells: that of its images, or `size` where there are published weights for it."""
    if choices.weights == "imagenet":
        return size
    return image_shape(choices, size, smallest=32)[0 if channel_axis() == 3 else 1]
