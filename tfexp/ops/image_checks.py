"""What image functions ask of their images: ranks and sizes, when the graph is made as far as known, else when it runs."""

from __future__ import annotations

from typing import Any

from tfexp.graph.dependencies import with_dependencies
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import expand_dims, rank, shape
from tfexp.ops.array_join import unstack
from tfexp.ops.check import Assert
from tfexp.ops.check_compare import assert_greater_equal, assert_positive


def required(condition: Any, error: type[Exception], text: str) -> list[Any]:
    """Raises the error now for a Python bool that is false; for a tensor, the nodes that check it when it runs."""
    if isinstance(condition, Tensor):
        return [Assert(condition, [text])]
    if not condition:
        raise error(text)
    return []


def checks_of_rank(image: Tensor, require_static: bool = True) -> list[Any]:
    """The nodes that check that an image has three dimensions or more, the inner three none of them empty."""
    known = image.shape
    if known.ndims is None and require_static:
        raise ValueError(f"'image' (shape {known}) must be fully defined.")
    if known.ndims is not None and known.ndims < 3:
        raise ValueError("'image' must be at least three-dimensional.")
    inner = None if known.ndims is None else known[-3:]
    if inner is not None and any(d == 0 for d in inner.as_list()):
        raise ValueError(f"all dims of 'image.shape' must be > 0: {known}")
    if inner is not None and inner.is_fully_defined():
        return []
    return [
        assert_positive(shape(image)[-3:], ["inner 3 dims of 'image.shape' must be > 0."]),
        assert_greater_equal(rank(image), 3, message="'image' must be at least three-dimensional."),
    ]


def checked(image: Tensor) -> Tensor:
    """The image, once `checks_of_rank` have run."""
    result: Tensor = with_dependencies(checks_of_rank(image, require_static=False), image)
    return result


def image_dimensions(image: Tensor, rank: int) -> list[Any]:
    """The dimensions, ints where known, else tensors."""
    if image.shape.is_fully_defined():
        return image.shape.as_list()
    known = image.shape.with_rank(rank).as_list()
    present = unstack(shape(image), rank)
    return [p if k is None else k for k, p in zip(known, present, strict=True)]


def batched(image: Tensor) -> tuple[Tensor, bool]:
    """(the image with a batch dimension, whether it had one); ValueError unless of rank 3 or 4, or unknown."""
    ndims = image.shape.ndims
    if ndims == 4:
        return image, True
    if ndims not in (None, 3):
        raise ValueError("'image' must have either 3 or 4 dimensions.")
    image = expand_dims(image, 0)
    if ndims is None:
        image.set_shape([None] * 4)
    return image, False


def unless_known(value: Any) -> int | None:
    """A dimension for `set_shape`: None for a tensor."""
    return None if isinstance(value, Tensor) else int(value)
