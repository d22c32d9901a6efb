"""What conditionals and loops go by in a step."""

from __future__ import annotations

from typing import Any

from tfexp.core.shape import dims_text


def truth(pred: Any) -> bool:
    """`pred`, a scalar boolean. ValueError for other shapes."""
    if getattr(pred, "ndim", 0):
        raise ValueError(f"The second input must be a scalar, but it has shape {dims_text(pred.shape)}")
    return bool(pred)
