"""What comparisons of values say where ops run at once: which elements differ, and how the values begin.

Source: `tf.debugging.assert_equal` and its kin in eager execution, TF 1.15.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.graph.constant_value import constant_value
from tfexp.graph.tensor import Tensor

_SUMMARIZED = 3


def _most(summarize: int | None) -> int | None:
    """How many elements are told; None is all of them."""
    if summarize is None:
        return _SUMMARIZED
    return None if summarize < 0 else summarize


def told_difference(sign: str, x: np.ndarray, y: np.ndarray, held: np.ndarray, summarize: int | None) -> list[str]:
    """Lines about `x sign y`, which did not hold where `held` is False. Elements are told if both have one shape."""
    most = _most(summarize)
    lines = [f"Condition x {sign} y did not hold."]
    if x.shape == y.shape and x.ndim:
        places = np.argwhere(~held)[:most]
        lines += [f"Indices of first {len(places)} different values:", str(places)]
        for name, value in (("x", x), ("y", y)):
            lines += [f"Corresponding {name} values:", str(value[~held][:most])]
    for name, value in (("x", x), ("y", y)):
        first = value.reshape(-1)[:most]
        lines += [f"First {len(first)} elements of {name}:", str(first)]
    return lines


def told_data(data: Sequence[Any], summarize: int | None) -> list[str]:
    """Lines for the data of a caller: texts as they are, of tensors the first elements."""
    return [_told(part, _most(summarize)) for part in data]


def _told(part: Any, most: int | None) -> str:
    value = constant_value(part) if isinstance(part, Tensor) else None
    if value is None or value.ndim == 0:
        return str(part if value is None else value)
    first = [str(element) for element in value.reshape(-1)[:most]]
    return str(first if len(first) == value.size else [*first, "..."])
