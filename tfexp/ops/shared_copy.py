"""Large copies, by all intra-op threads: one core alone does not use what memory gives."""

from __future__ import annotations

import numpy as np

from tfexp.core.workers import share, threads

# Bytes: below, the other threads wake up too late to help.
_WORTH_SHARING = 1 << 21
_WORTH_SHARING_IN_ORDER = 1 << 23  # where one core reads almost as fast as all of them


def copy_into(target: np.ndarray, source: np.ndarray) -> np.ndarray:
    """target[...] = source, which broadcasts; the target."""
    is_in_order = source.ndim > 0 and source.strides[-1] == source.itemsize
    worth = _WORTH_SHARING_IN_ORDER if is_in_order else _WORTH_SHARING
    axis = next((axis for axis, size in enumerate(target.shape) if size >= threads()), None)
    if target.nbytes < worth or target.dtype.hasobject or axis is None:
        target[...] = source
        return target
    whole, before = np.broadcast_to(source, target.shape), (slice(None),) * axis

    def work(part: int, start: int, stop: int) -> None:
        here = (*before, slice(start, stop))
        target[here] = whole[here]

    share(work, target.shape[axis])
    return target
