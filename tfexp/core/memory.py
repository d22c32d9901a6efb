"""Memory for what a kernel is about to make: asked for at once, where computing would go on for long before it is missed."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tfexp.core.dtypes import as_dtype
from tfexp.core.errors import ResourceExhaustedError


def require_memory(shape: Sequence[int], dtype: np.dtype | type = np.float32) -> None:
    """ResourceExhaustedError where an array of this shape cannot be had."""
    kind = np.dtype(dtype)
    try:
        np.empty(math.prod(shape), kind)
    except (MemoryError, ValueError) as error:
        text = f"OOM when allocating tensor with shape[{','.join(map(str, shape))}] and type {as_dtype(kind)._proto_name}"
        raise ResourceExhaustedError(None, None, text) from error
