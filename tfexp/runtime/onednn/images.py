"""Images as primitives have them, [batch, *space, depth] in one piece of memory; shared out to the intra-op threads."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tfexp.core.workers import Work, share, threads
from tfexp.runtime.onednn.library import Layout, ints

KEPT = 8  # primitives of each kind: how many numbers of images come up


def channels_last(images: int, space: Sequence[int], depth: int) -> Layout:
    """oneDNN's own order of dimensions has the channels second."""
    return Layout((images, depth, *space), (math.prod(space) * depth, 1, *(s * depth for s in row_major(space))))


def row_major(dims: Sequence[int]) -> list[int]:
    """The strides, in elements."""
    return [math.prod(dims[axis + 1 :]) for axis in range(len(dims))]


def geometry(lay: Any) -> tuple[Any, Any, Any, Any]:
    """Strides, dilations, paddings before and after, of windows (`ops.windows.Windows`), as the library takes them."""
    # What is not dilated is dilated by 0 here.
    return ints(lay.strides), ints([d - 1 for d in lay.dilations]), ints(lay.before), ints(lay.after)


def share_images(work: Work, images: int, shares: bool) -> int:
    """`core.workers.share`, or the whole in one part; returns the number of parts."""
    if shares:
        return share(work, images)
    work(0, 0, images)
    return 1


def most_images(batch: int, shares: bool) -> int:
    """Of a part."""
    return -(-batch // threads()) if shares else batch
