"""How `tf.nn`'s functions take strides, window sizes and paddings: one number, one for each spatial dimension, or all."""

from __future__ import annotations

from typing import Any

from tfexp.ops.windows import channels_second


def for_all_dims(value: Any, count: int, data_format: str | None, name: str) -> list[int]:
    """A list of count + 2 numbers in the order of the data format, from 1, `count` or count + 2 of them; None: all 1."""
    if value is None:
        return [1] * (count + 2)
    if hasattr(value, "tolist"):
        value = value.tolist()
    given = list(value) if isinstance(value, (list, tuple)) else [value]
    if len(given) == count + 2:
        return given
    if len(given) == 1:
        given *= count
    elif len(given) != count:
        raise ValueError(
            f"{name} should be of length 1, {count} or {count + 2}. Received: {name}={given} of length {len(given)}"
        )
    return [1, 1, *given] if channels_second(data_format or "NHWC") else [1, *given, 1]


def padding_attrs(padding: Any) -> dict[str, Any]:
    """The attributes `padding` and `explicit_paddings` for a string, or for a list of pairs."""
    if not isinstance(padding, (list, tuple)):
        return {"padding": padding, "explicit_paddings": []}
    if any(not isinstance(pair, (list, tuple)) or len(pair) != 2 for pair in padding):
        raise ValueError(f"When padding is a list, each element of it must be a list of size 2. Received: {padding}")
    if len(padding) != 4:
        raise ValueError(f"When padding is a list, it must be of size 4. Received: padding={padding} of size {len(padding)}")
    return {"padding": "EXPLICIT", "explicit_paddings": [int(n) for pair in padding for n in pair]}


def is_channels_second(data_format: str | None, allowed: tuple[str, str]) -> bool:
    """Whether `data_format`, one of `allowed` (last, second) or None, has the channels second; else a ValueError."""
    if data_format is None or data_format == allowed[0]:
        return False
    if data_format == allowed[1]:
        return True
    raise ValueError(f"`data_format` must be {allowed[0]!r} or {allowed[1]!r}. Received: data_format={data_format}")
