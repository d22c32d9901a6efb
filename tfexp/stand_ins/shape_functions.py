"""`common_shapes` of `tensorflow.python.framework`: the shapes of a node's outputs, from it or from its input.

A rule takes an Operation and gives a list of TensorShapes. Source: TF 1.15.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfexp.core.shape import TensorShape
from tfexp.core.text import as_text

Rule = Callable[[Any], list[TensorShape]]


def by_rule(op: Any) -> list[TensorShape]:
    """What the op's own rule said when the node was made: convolutions, pools and products have no other one here."""
    return [output.get_shape() for output in op.outputs]


def scalar_shape(unused_op: Any) -> list[TensorShape]:
    return [TensorShape([])]


def no_outputs(unused_op: Any) -> list[TensorShape]:
    return []


def unknown_shape(op: Any) -> list[TensorShape]:
    """Nothing, of each output."""
    return [TensorShape(None) for _ in op.outputs]


def unchanged_shape(op: Any) -> list[TensorShape]:
    """The shape of the first input."""
    return [op.inputs[0].get_shape()]


def unchanged_shape_with_rank(rank: int) -> Rule:
    """The rule of an op that keeps the shape of its first input, which has `rank` dimensions: ValueError for others."""
    return lambda op: [op.inputs[0].get_shape().with_rank(rank)]


def unchanged_shape_with_rank_at_least(rank: int) -> Rule:
    return lambda op: [op.inputs[0].get_shape().with_rank_at_least(rank)]


def unchanged_shape_with_rank_at_most(rank: int) -> Rule:
    return lambda op: [op.inputs[0].get_shape().with_rank_at_most(rank)]


def get_conv_output_size(
    input_size: Sequence[Any], filter_size: Sequence[Any], strides: Sequence[int], padding_type: Any
) -> tuple[int | None, ...]:
    """How many windows fit along each dimension. Sizes: numbers, `Dimension`s, or None for what is not known.

    ValueError for a filter that is larger than the input, with either padding, and for another padding.
    """
    inputs, filters = (TensorShape(sizes).as_list() for sizes in (input_size, filter_size))
    pairs = list(zip(inputs, filters, strict=False))
    if any(size is not None and window is not None and window > size for size, window in pairs):
        raise ValueError(f"Filter must not be larger than the input: Filter: {tuple(filters)!r} Input: {tuple(inputs)!r}")
    padding = as_text(padding_type)
    if padding == "SAME":
        return tuple(None if size is None else -(-size // stride) for size, stride in zip(inputs, strides, strict=False))
    if padding == "VALID":
        return tuple(
            None if size is None or window is None else (size - window) // stride + 1
            for (size, window), stride in zip(pairs, strides, strict=False)
        )
    raise ValueError(f"Invalid padding: {padding_type!r}")


def get2d_conv_output_size(
    input_height: Any,
    input_width: Any,
    filter_height: Any,
    filter_width: Any,
    row_stride: int,
    col_stride: int,
    padding_type: Any,
) -> tuple[int | None, ...]:
    """The same for images: (height, width)."""
    return get_conv_output_size(
        (input_height, input_width), (filter_height, filter_width), (row_stride, col_stride), padding_type
    )
