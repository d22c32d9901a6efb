"""How `tf.nn`'s functions take strides, window sizes and paddings: one number, one for each spatial dimension, or all."""

from __future__ import annotations

from typing import Any

import numpy as np

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
        raise ValueError(f"{name} should be of length 1, {count} or {count + 2} but was {len(given)}")
    return [1, 1, *given] if channels_second(data_format or "NHWC") else [1, *given, 1]


def padding_attrs(padding: Any) -> dict[str, Any]:
    """The attributes `padding` and `explicit_paddings` for a string, or for a list of pairs."""
    if not isinstance(padding, (list, tuple)):
        return {"padding": padding, "explicit_paddings": []}
    if any(not isinstance(pair, (list, tuple)) or len(pair) != 2 for pair in padding):
        raise ValueError(
            f"When padding is a list, each element of padding must be a list/tuple of size 2. Got padding: {padding}"
        )
    if len(padding) != 4:
        raise ValueError(f"When padding is a list, it must be of size 4. Got padding of size: {len(padding)}")
    return {"padding": "EXPLICIT", "explicit_paddings": [int(n) for pair in padding for n in pair]}


def is_channels_second(data_format: str | None, allowed: tuple[str, str]) -> bool:
    """Whether `data_format`, one of `allowed` (last, second) or None, has the channels second; else a ValueError."""
    if data_format is None or data_format == allowed[0]:
        return False
    if data_format == allowed[1]:
        return True
    raise ValueError(f'data_format must be "{allowed[0]}" or "{allowed[1]}".')


def steps_and_rates(count: int, strides: Any, dilation_rate: Any) -> tuple[list[int], list[int]]:
    """Strides and dilation rates, one for each dimension; only one of the two may differ from 1."""
    found = []
    for what, given in (("strides", strides), ("dilation_rate", dilation_rate)):
        if given is None:
            values = [1] * count
        else:
            values = [int(v) for v in np.broadcast_to(np.asarray(given), [count])] if np.ndim(given) == 0 else list(given)
        if len(values) != count:
            raise ValueError(f"{what} should be of length 1, {count} or {count + 2} but was {len(values)}")
        if any(v < 1 for v in values):
            raise ValueError(f"all values of {what} must be positive: {values}")
        found.append(values)
    if any(s > 1 for s in found[0]) and any(r > 1 for r in found[1]):
        raise ValueError(
            "strides > 1 not supported in conjunction with dilation_rate > 1. Received: "
            f"strides={found[0]} and dilation_rate={found[1]}"
        )
    return found[0], found[1]
