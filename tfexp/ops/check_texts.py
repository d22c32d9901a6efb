"""What assertions call their tensors, and what those that fail in eager execution show of them. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tfexp.graph.scopes import executing_eagerly
from tfexp.graph.tensor import Tensor

_SHOWN = 3  # elements, where `summarize` does not say


def called(tensor: Any) -> str:
    """A tensor's or variable's name; eager tensors have none: what they are like."""
    if executing_eagerly() and isinstance(tensor, Tensor):
        return f"shape={tensor.shape} dtype={tensor.dtype.name}"
    return str(getattr(tensor, "name", "tensor"))


def differences(sign: str, x: Any, y: Any, holds: Any, summarize: int | None) -> list[str]:
    """Where and what the first elements are for which `x sign y` does not hold, and the first ones of each."""
    texts = [f"Condition x {sign} y did not hold."]
    if summarize == 0:
        return texts
    x, y = np.asarray(x), np.asarray(y)
    if x.shape == y.shape != ():
        wrong = ~np.asarray(holds)
        places = _first(np.argwhere(wrong), summarize)
        texts += [f"Indices of first {len(places)} different values:", str(places)]
        for name, values in (("x", x), ("y", y)):
            texts += [f"Corresponding {name} values:", str(_first(values[wrong], summarize))]
    for name, values in (("x", x), ("y", y)):
        first = _first(values.reshape(-1), summarize)
        texts += [f"First {first.size} elements of {name}:", str(first)]
    return texts


def _first(array: np.ndarray, summarize: int | None) -> np.ndarray:
    limit = _SHOWN if summarize is None else summarize
    return array if limit < 0 else array[:limit]


def lines_of(data: Iterable[Any], summarize: int | None) -> str:
    """A line for each of `data`; of a tensor its first elements."""
    return "\n".join(_line(part, summarize) for part in data)


def _line(part: Any, summarize: int | None) -> str:
    if not isinstance(part, Tensor):
        return str(part)
    array = np.asarray(part)
    if array.ndim == 0:
        return str(array[()])
    first = [str(element) for element in _first(array.reshape(-1), summarize)]
    return str(first if len(first) == array.size else [*first, "..."])
