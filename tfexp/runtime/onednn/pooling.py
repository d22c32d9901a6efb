"""Pooling and its gradients on oneDNN's primitives, in any spatial rank.

Arrays are float32, channels last, in one piece of memory: x [batch, *space, depth], y [batch, *windows, depth].

oneDNN's maximum of a window begins with the least float32, which stays where the window has nothing larger: NaN or -inf
alone. Whoever asks for maxima is told so, and has to compute them in another way.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from tfexp.runtime.onednn.images import KEPT, channels_last, geometry, most_images, share_images
from tfexp.runtime.onednn.library import TRAINING, Arg, Layout, Primitive, ints

LARGEST, MEAN = 511, 1023  # of each window; padding takes part in neither
_WORTH_SHARING = 1 << 18  # elements of windows: below, the other threads wake up too late to help
_LEAST = np.finfo(np.float32).min


class Pooling:
    """The pooling of known shapes; `LacksError` where oneDNN has no quick code for it."""

    def __init__(self, what: int, batch: int, depth: int, lay: Any):
        """`what`: LARGEST or MEAN; `lay`: where the windows lie in each dimension (`ops.windows.Windows`)."""
        self._what, self._depth, self._lay = what, depth, lay
        self._shares = batch * depth * math.prod(lay.outputs) * math.prod(lay.sizes) >= _WORTH_SHARING
        strides, *others = geometry(lay)
        self._geometry = strides, ints(lay.sizes), *others
        self._forward = functools.lru_cache(KEPT)(self._make_forward)
        self._backward = functools.lru_cache(KEPT)(self._make_backward)
        most = most_images(batch, self._shares)
        self._backward(most)
        self._places = self._forward(most).size_of(Arg.WORKSPACE) // most if what == LARGEST else 0

    def bytes_of_places(self, images: int) -> int:
        """How many bytes say where the largest elements were; the last one says whether there are any."""
        return images * self._places + 1

    def maxima(self, x: np.ndarray, out: np.ndarray, places: np.ndarray | None = None) -> bool:
        """`out`, and `places`, from x; returns whether all windows have something larger than the least number."""
        found, size = [], self._places

        def work(part: int, start: int, stop: int) -> None:
            self._run_forward(x[start:stop], out[start:stop], None if places is None else places[start * size : stop * size])
            found.append(out[start:stop].min() > _LEAST)

        share_images(work, len(x), self._shares)
        if places is not None:
            places[-1] = all(found)
        return all(found)

    def gradient_of_maxima(self, x: np.ndarray, grad: np.ndarray, out: np.ndarray) -> bool:
        """`out` from x and the gradient of y; returns what `maxima` does.

        Which elements were the largest is found again: to compare x with y would take as long.
        """
        found = []

        def work(part: int, start: int, stop: int) -> None:
            largest = self._forward(stop - start).memory_for(Arg.DST).view(np.float32)
            places = self._run_forward(x[start:stop], largest)
            self._backward(stop - start).run({Arg.DIFF_DST: grad[start:stop], Arg.DIFF_SRC: out[start:stop], **places})
            found.append(largest.min() > _LEAST)

        share_images(work, len(x), self._shares)
        return all(found)

    def gradient_at(self, places: np.ndarray, grad: np.ndarray, out: np.ndarray) -> bool:
        """`out` from what `maxima` found out about x, and the gradient of y; returns what `maxima` did."""
        if not places[-1]:
            return False
        size = self._places

        def work(part: int, start: int, stop: int) -> None:
            mine = {Arg.DIFF_DST: grad[start:stop], Arg.DIFF_SRC: out[start:stop]}
            self._backward(stop - start).run({**mine, Arg.WORKSPACE: places[start * size : stop * size]})

        share_images(work, len(grad), self._shares)
        return True

    def means(self, x: np.ndarray, out: np.ndarray) -> None:
        """`out` from x."""

        def work(part: int, start: int, stop: int) -> None:
            self._run_forward(x[start:stop], out[start:stop])

        share_images(work, len(x), self._shares)

    def gradient_of_means(self, grad: np.ndarray, out: np.ndarray) -> None:
        """`out` from the gradient of y."""

        def work(part: int, start: int, stop: int) -> None:
            self._backward(stop - start).run({Arg.DIFF_DST: grad[start:stop], Arg.DIFF_SRC: out[start:stop]})

        share_images(work, len(grad), self._shares)

    def _run_forward(self, x: np.ndarray, out: np.ndarray, places: np.ndarray | None = None) -> dict[int, np.ndarray]:
        """`out` from x; returns what the gradient of maxima needs besides: where the largest elements were."""
        primitive, found = self._forward(len(x)), {}
        if self._what == LARGEST:
            found[Arg.WORKSPACE] = primitive.memory_for(Arg.WORKSPACE) if places is None else places
        primitive.run({Arg.SRC: x, Arg.DST: out, **found})
        return found

    # --- primitives for a number of images

    def _make_forward(self, images: int) -> Primitive:
        create = "dnnl_pooling_forward_primitive_desc_create"
        return Primitive(create, TRAINING, self._what, *self._layouts(images), *self._geometry)

    def _make_backward(self, images: int) -> Primitive:
        create = "dnnl_pooling_backward_primitive_desc_create"
        return Primitive(create, self._what, *self._layouts(images), *self._geometry, hint=self._forward(images))

    def _layouts(self, images: int) -> tuple[Layout, Layout]:
        """Of x and y."""
        x, y = (channels_last(images, space, self._depth) for space in (self._lay.inputs, self._lay.outputs))
        return x, y
