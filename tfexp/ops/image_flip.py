"""Images turned over: flips, by chance too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.core.op import get_op
from tfexp.core.shape import TensorShape
from tfexp.graph.control_flow import cond
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import rank, reshape, shape
from tfexp.ops.array_order import reverse
from tfexp.ops.cast import cast
from tfexp.ops.image_checks import checked
from tfexp.ops.random import random_uniform

_ROWS, _COLUMNS = 0, 1


def flip_left_right(image: Any) -> Tensor:
    """An image, or a batch of them, mirrored. Source: `tf.image.flip_left_right`."""
    return _flip(image, _COLUMNS, "flip_left_right")


def flip_up_down(image: Any) -> Tensor:
    """An image, or a batch of them, upside down. Source: `tf.image.flip_up_down`."""
    return _flip(image, _ROWS, "flip_up_down")


def _by_rank(image: Tensor, single: Callable[[], Any], batch: Callable[[], Any]) -> Any:
    """What the function for an image, or for a batch of them, makes; both in the graph where the rank is not known."""
    ndims = image.shape.ndims
    if ndims is None:
        return cond(get_op("Equal")(rank(image), 3), single, batch)
    if ndims not in (3, 4):
        raise ValueError(f"'image' (shape {image.shape})must have either 3 or 4 dimensions.")
    return single() if ndims == 3 else batch()


def _unknown_as_image(image: Tensor, result: Tensor) -> Tensor:
    if image.shape == TensorShape(None):
        result.set_shape([None, None, None]) if result.shape.ndims == 3 else None
    else:
        result.set_shape(image.shape)
    return result


def _flip(image: Any, axis: int, scope_name: str) -> Tensor:
    with name_scope(None, scope_name, [image]):
        image = checked(convert_to_tensor(image, name="image"))
        flipped = _by_rank(image, lambda: reverse(image, [axis]), lambda: reverse(image, [axis + 1]))
        return _unknown_as_image(image, flipped)


def random_flip_left_right(image: Any, seed: int | None = None) -> Tensor:
    """Mirrored with probability 1/2, each image of a batch for itself. Source: `tf.image.random_flip_left_right`."""
    return _random_flip(image, _COLUMNS, seed, "random_flip_left_right")


def random_flip_up_down(image: Any, seed: int | None = None) -> Tensor:
    """Upside down with probability 1/2, each image of a batch for itself. Source: `tf.image.random_flip_up_down`."""
    return _random_flip(image, _ROWS, seed, "random_flip_up_down")


def _random_flip(image: Any, axis: int, seed: int | None, scope_name: str) -> Tensor:
    with name_scope(None, scope_name, [image]) as scope:
        image = checked(convert_to_tensor(image, name="image"))

        def single() -> Any:
            chosen = get_op("Less")(random_uniform([], 0, 1.0, seed=seed), 0.5)
            return cond(chosen, lambda: reverse(image, [axis]), lambda: image, name=scope)

        def batch() -> Any:
            size = shape(image)[0]
            draws = random_uniform([size], 0, 1.0, seed=seed)
            flips = cast(get_op("Round")(reshape(draws, [size, 1, 1, 1])), image.dtype)
            return flips * reverse(image, [axis + 1]) + (1 - flips) * image

        return _unknown_as_image(image, _by_rank(image, single, batch))
