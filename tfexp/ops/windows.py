"""Windows that slide over space, as convolution and pooling share them: sizes, paddings, and how arrays are laid out.

Inside, arrays are channels-last: [batch, *space, channels]. `to_last` and `from_last` are views that exchange this with
what `data_format` says ("NCHW": channels second).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfexp.core.shape import TensorShape
from tfexp.ops.array import Array

Dims = tuple[int, ...]


@dataclass(frozen=True)
class Windows:
    """Where windows lie in each spatial dimension: extents in elements, `before` and `after` the paddings."""

    inputs: Dims
    sizes: Dims
    strides: Dims
    dilations: Dims
    before: Dims
    after: Dims
    outputs: Dims

    @property
    def padded(self) -> Dims:
        """What the windows reach over; at least the padded input, which they may not use up."""
        return tuple(n + b + a for n, b, a in zip(self.inputs, self.before, self.after, strict=True))

    @property
    def is_padded(self) -> bool:
        return any(self.before) or any(self.after)

    @property
    def is_pointwise(self) -> bool:
        """Whether each window is one element, and each element one window."""
        return all(s == 1 for s in self.sizes) and all(s == 1 for s in self.strides) and not self.is_padded

    def overlap(self, axes: Iterable[int]) -> bool:
        """Whether an element may be in several windows, as far as these dimensions go."""
        return any(self.sizes[axis] > self.strides[axis] for axis in axes)

    def covers(self, axes: Iterable[int] | None = None) -> bool:
        """Whether each element is in just one window, as far as these dimensions (None: all) go."""
        return all(
            self.sizes[axis] == self.strides[axis] and self.inputs[axis] <= self.outputs[axis] * self.strides[axis]
            for axis in (range(len(self.inputs)) if axes is None else axes)
        )

    def turned(self) -> Windows | None:
        """The windows over the outputs that make up the inputs again; None where strides leave gaps, or padding is too wide.

        Convolved with the filter turned around, an output's gradient gives the input's.
        """
        reaches = [(n - 1) * d for n, d in zip(self.sizes, self.dilations, strict=True)]
        before = tuple(reach - b for reach, b in zip(reaches, self.before, strict=True))
        after = tuple(n - m + reach - b for n, m, reach, b in zip(self.inputs, self.outputs, reaches, before, strict=True))
        if max(self.strides) > 1 or min(*before, *after) < 0:
            return None
        return Windows(self.outputs, self.sizes, self.strides, self.dilations, before, after, self.inputs)

    def offset_slices(self, offset: Sequence[int]) -> tuple[slice, ...]:
        """The elements (of a padded dimension) that are at this offset in their window, for each window."""
        return tuple(
            slice(o * d, o * d + (n - 1) * s + 1, s)
            for o, d, n, s in zip(offset, self.dilations, self.outputs, self.strides, strict=True)
        )


def effective_size(size: int, dilation: int) -> int:
    return (size - 1) * dilation + 1


def output_size(size: int, window: int, stride: int, padding: str, pads: tuple[int, int] = (0, 0)) -> int:
    """How many windows of that effective size there are; none or fewer where VALID or EXPLICIT leave no room."""
    if padding == "SAME":
        return -(-size // stride)
    return (size + sum(pads) - window) // stride + 1


def same_padding(size: int, window: int, stride: int) -> tuple[int, int]:
    """SAME's padding before and after: what is odd goes after."""
    total = max((-(-size // stride) - 1) * stride + window - size, 0)
    return total // 2, total - total // 2


def lay_windows(
    inputs: Sequence[int],
    sizes: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    padding: str,
    explicit: Sequence[int] = (),
) -> Windows:
    """The windows over a spatial extent; `explicit` has before and after for each dimension."""
    check_strides(strides)
    before, after, outputs = [], [], []
    for i, (size, window, stride, dilation) in enumerate(zip(inputs, sizes, strides, dilations, strict=True)):
        reach = effective_size(window, dilation)
        pads = (0, 0)
        if padding == "SAME":
            pads = same_padding(size, reach, stride)
        elif padding == "EXPLICIT":
            pads = (explicit[2 * i], explicit[2 * i + 1])
        before.append(pads[0])
        after.append(pads[1])
        count = output_size(size, reach, stride, padding, pads)
        if count < 0:
            of = f"[input_size: {size}, effective_filter_size: {reach}, stride: {stride}]"
            raise ValueError(f"Computed output size would be negative: {count} {of}")
        outputs.append(count)
    return Windows(
        tuple(inputs), tuple(sizes), tuple(strides), tuple(dilations), tuple(before), tuple(after), tuple(outputs)
    )


# --- data formats ------------------------------------------------------------------------------------------------


def channels_second(data_format: str) -> bool:
    return data_format.startswith("NC")


def spatial(values: Sequence[Any], data_format: str) -> list[Any]:
    """What an attribute (or shape) in the order of the data format says of space."""
    return list(values[2:]) if channels_second(data_format) else list(values[1:-1])


def batch_and_depth(values: Sequence[Any], data_format: str) -> tuple[Any, Any]:
    """What it says of the batch and of the channels."""
    return values[0], values[1 if channels_second(data_format) else -1]


def in_format(batch: Any, space: Sequence[Any], depth: Any, data_format: str) -> list[Any]:
    """The order of the data format, from parts."""
    return [batch, depth, *space] if channels_second(data_format) else [batch, *space, depth]


def to_last(x: Array, data_format: str) -> Array:
    return np.moveaxis(x, 1, -1) if channels_second(data_format) else x


def from_last(x: Array, data_format: str) -> Array:
    """The array in the order of the data format, in C order."""
    return np.ascontiguousarray(np.moveaxis(x, -1, 1)) if channels_second(data_format) else x


def traced_last(x: Any, data_format: str) -> Any:
    """JAX's own array of a stand-in for one (`core.kernel.Kernel`), channels last."""
    return to_last(x, data_format).traced  # type: ignore[attr-defined]


def compiled_from_last(jax: Any, x: Any, data_format: str) -> Any:
    """`from_last` of an array of JAX's, which has no order in memory."""
    return jax.numpy.moveaxis(x, -1, 1) if channels_second(data_format) else x


def explicit_space(explicit_paddings: Sequence[int], data_format: str) -> list[int]:
    """The spatial part of the attribute `explicit_paddings` (pairs, in the order of the data format)."""
    pairs = list(zip(explicit_paddings[::2], explicit_paddings[1::2], strict=True))
    return [n for pair in spatial(pairs, data_format) for n in pair] if pairs else []


# --- shape rules -------------------------------------------------------------------------------------------------


def check_length(op: str, attribute: str, values: Sequence[int], rank: int, data_format: str | None = None) -> None:
    """ValueError unless the attribute has one value for each dimension."""
    if len(values) != rank:
        where = f" on data format {data_format}" if data_format else ""
        raise ValueError(f"{op}{where} requires the {attribute} attribute to contain {rank} values, but got: {len(values)}")


def check_explicit(padding: str, explicit_paddings: Sequence[int], rank: int, data_format: str) -> None:
    """ValueError unless `explicit_paddings` fits the padding."""
    if padding != "EXPLICIT":
        if explicit_paddings:
            raise ValueError("explicit_paddings attribute must be empty if the padding attribute is not EXPLICIT")
        return
    if len(explicit_paddings) != 2 * rank:
        raise ValueError(f"explicit_paddings attribute must contain {2 * rank} values, but got: {len(explicit_paddings)}")
    if any(n < 0 for n in explicit_paddings):
        raise ValueError("All elements of explicit_paddings must be nonnegative")
    pairs = list(zip(explicit_paddings[::2], explicit_paddings[1::2], strict=True))
    if any(n for pair in batch_and_depth(pairs, data_format) for n in pair):
        raise ValueError("Nonzero explicit padding in the batch or depth dimensions is not supported")


def check_strides(strides: Sequence[int]) -> None:
    for stride in strides:
        if stride <= 0:
            raise ValueError(f"Stride must be > 0, but got {stride}")


def window_shape(
    space: Sequence[int | None],
    sizes: Sequence[int | None],
    strides: Sequence[int],
    dilations: Sequence[int],
    padding: str,
    explicit: Sequence[int] = (),
) -> list[int | None]:
    """The spatial output dimensions as far as they are known. ValueError where there can be no window."""
    check_strides(strides)
    for dilation in dilations:
        if dilation < 1:
            raise ValueError(f"Dilation rate must be >= 1, but got {dilation}")
    result: list[int | None] = []
    for i, (size, window, stride, dilation) in enumerate(zip(space, sizes, strides, dilations, strict=True)):
        if size is None or (window is None and padding != "SAME"):
            result.append(None)
            continue
        pads = (explicit[2 * i], explicit[2 * i + 1]) if explicit else (0, 0)
        reach = effective_size(window or 1, dilation)
        if padding != "SAME" and size + sum(pads) < reach:
            raise ValueError(f"Negative dimension size caused by subtracting {reach} from {size + sum(pads)}")
        result.append(output_size(size, reach, stride, padding, pads))
    return result


def formatted(batch: Any, space: Sequence[Any], depth: Any, data_format: str) -> TensorShape:
    return TensorShape(in_format(batch, space, depth, data_format))
