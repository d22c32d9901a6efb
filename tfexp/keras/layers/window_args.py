"""What layers with windows are given (sizes, paddings, formats), checked, and how long their outputs are."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from tfexp.keras import backend

_Class = TypeVar("_Class", bound=type)


def with_defaults(**defaults: Any) -> Callable[[_Class], _Class]:
    """Decorates a class: the `__init__` that it inherits has these defaults.

    What is written once for each number of dimensions has one number, where TensorFlow's signatures have one for each.
    """

    def decorate(cls: _Class) -> _Class:
        inherited: Any = cls.__init__  # type: ignore[misc]
        given = [p for p in inspect.signature(inherited).parameters.values() if p.default is not p.empty]
        values = tuple(defaults.get(parameter.name, parameter.default) for parameter in given)
        code, names = inherited.__code__, inherited.__globals__
        own = types.FunctionType(code, names, inherited.__name__, values, inherited.__closure__)
        own.__qualname__, own.__annotations__ = inherited.__qualname__, inherited.__annotations__
        cls.__init__ = own  # type: ignore[misc]
        return cls

    return decorate


def normalized(values: Any, count: int, name: str) -> tuple[int, ...]:
    """`count` whole numbers: one for all, or so many (a TensorShape's too). ValueError, naming the argument, for others."""
    if isinstance(values, (int, np.integer)):
        return (int(values),) * count
    wanted = f"The `{name}` argument must be a tuple of {count} integers. Received: {values}"
    try:
        given = tuple(values)
    except TypeError:
        given = ()
    if len(given) != count:
        raise ValueError(wanted)
    numbers = []
    for value in given:
        try:
            numbers.append(int(value))
        except (TypeError, ValueError):
            raise ValueError(f"{wanted} including element {value} of type {type(value)}") from None
    return tuple(numbers)


def checked_data_format(value: str | None) -> str:
    """`channels_last` or `channels_first`; None is what Keras is set to. ValueError for anything else."""
    value = backend.image_data_format() if value is None else value
    if value.lower() not in ("channels_last", "channels_first"):
        raise ValueError(f'The `data_format` argument must be one of "channels_first", "channels_last". Received: {value}')
    return value.lower()


def checked_padding(value: str, *more: str) -> str:
    """`valid`, `same` or one of `more`. ValueError for anything else."""
    if value.lower() not in ("valid", "same", "causal"):
        raise ValueError(
            'The `padding` argument must be a list/tuple or one of "valid", "same" (or "causal", only for `Conv1D). '
            f"Received: {value}"
        )
    if value.lower() == "causal" and "causal" not in more:
        raise ValueError("Causal padding is only supported for `Conv1D`and ``SeparableConv1D`.")
    return value.lower()


# What an error calls the margins in two and in three dimensions, * being the short name of the argument.
_SYMMETRIC = {
    2: "(symmetric_height_*, symmetric_width_*)",
    3: "(symmetric_dim1_*, symmetric_dim2_*, symmetric_dim3_*)",
}
_PAIRS = {
    2: "((top_*, bottom_*), (left_*, right_*))",
    3: "((left_dim1_*, right_dim1_*), (left_dim2_*, right_dim2_*), (left_dim3_*, right_dim2_*))",
}
_SHORT = {"padding": "pad", "cropping": "crop"}


def margins(values: Any, count: int, name: str) -> tuple[tuple[int, int], ...]:
    """What comes before and after in `count` dimensions: one number for all, one for each, or a pair for each."""
    if isinstance(values, (int, np.integer)):
        return ((int(values),) * 2,) * count
    if not hasattr(values, "__len__"):
        symmetric, pairs_wanted = (words[count].replace("*", _SHORT[name]) for words in (_SYMMETRIC, _PAIRS))
        raise ValueError(
            f"`{name}` should be either an int, a tuple of {count} ints {symmetric}, or a tuple of {count} tuples of 2 ints "
            f"{pairs_wanted}. Found: {values}"
        )
    if len(values) != count:
        raise ValueError(f"`{name}` should have {'two' if count == 2 else count} elements. Found: {values}")
    ordinals = ("1st", "2nd", "3rd")
    pairs = [normalized(value, 2, f"{ordinals[i]} entry of {name}") for i, value in enumerate(values)]
    return tuple((pair[0], pair[1]) for pair in pairs)


def window_count(size: int | None, window: int, stride: int, padding: str, dilation: int = 1) -> int | None:
    """How many windows fit into `size` elements: the length of a convolution's or a pooling's output."""
    if size is None:
        return None
    reach = dilation * (window - 1) if padding == "valid" else 0
    return (size - reach + stride - 1) // stride


def transposed_length(
    size: Any, window: int, stride: int, padding: str, output_padding: int | None = None, dilation: int = 1
) -> Any:
    """The length of an input that such windows make `size` elements of: of a transposed convolution's output.

    Several lengths do: without `output_padding` it is the longest for `same` and the shortest for `valid`.
    size: a number, a scalar tensor or None, and so is the result.
    """
    if size is None:
        return None
    reach = dilation * (window - 1) + 1
    if output_padding is None:
        length = size * stride
        return length + max(reach - stride, 0) if padding == "valid" else length
    cut = 2 * (reach // 2) if padding == "same" else 0
    return (size - 1) * stride + reach - cut + output_padding


def spatial_axes(data_format: str, count: int) -> range:
    """Which axes of a batch are those of space."""
    first = 1 if data_format == "channels_last" else 2
    return range(first, first + count)


def arranged(batch: Any, sizes: Any, channels: Any, data_format: str) -> list[Any]:
    """The dimensions of a batch in the order of its layout."""
    return [batch, *sizes, channels] if data_format == "channels_last" else [batch, channels, *sizes]
