"""Convolution and its gradients on oneDNN's primitives, grouped or not, in any spatial rank.

Arrays are float32, channels last, in one piece of memory: x [batch, *space, depth], filters [*window, depth / groups, out
depth], y [batch, *windows, out depth]. Images are shared out to the intra-op threads; primitives are made for each number of
images that comes up, and the filters are laid out as they want them in each call.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tfexp.core.workers import scratch, threads
from tfexp.runtime.onednn.images import KEPT, channels_last, geometry, most_images, row_major, share_images
from tfexp.runtime.onednn.library import DIRECT, INFERENCE, Arg, Layout, Primitive, Reorder

_WORTH_SHARING = 1 << 22  # multiplications: below, the other threads wake up too late to help


class Convolution:
    """One convolution of known shapes; `LacksError` where oneDNN has no quick code for it."""

    def __init__(self, batch: int, depth: int, out_depth: int, groups: int, lay: Any):
        """`lay`: where the windows lie in each dimension (`ops.windows.Windows`)."""
        self._lay = lay
        self._depth, self._out_depth, self._groups = depth, out_depth, groups
        work = batch * math.prod(lay.outputs) * math.prod(lay.sizes) * depth // groups * out_depth
        self._shares = work >= _WORTH_SHARING
        self._geometry = geometry(lay)
        self._plain = self._filters(plain=True)
        kinds = self._forward, self._input_gradient, self._filter_gradient
        self._of: dict[str, Callable[[int], tuple[Primitive, Reorder]]] = {
            kind.__name__: functools.lru_cache(KEPT)(kind) for kind in kinds
        }
        self._most = most_images(batch, self._shares)

    # --- what the op's rules call

    def forward(self) -> Callable[..., None]:
        """`f(x, filters, out)`."""
        self._of["_forward"](self._most)

        def convolve(x: np.ndarray, filters: np.ndarray, out: np.ndarray) -> None:
            self._map("_forward", Arg.SRC, x, filters, Arg.DST, out)

        return convolve

    def input_gradient(self) -> Callable[..., None]:
        """`f(grad, filters, out)`."""
        self._of["_input_gradient"](self._most)

        def gradient(grad: np.ndarray, filters: np.ndarray, out: np.ndarray) -> None:
            self._map("_input_gradient", Arg.DIFF_DST, grad, filters, Arg.DIFF_SRC, out)

        return gradient

    def filter_gradient(self) -> Callable[..., None]:
        """`f(x, grad, out)`."""
        self._of["_filter_gradient"](self._most)

        def gradient(x: np.ndarray, grad: np.ndarray, out: np.ndarray) -> None:
            sums = scratch("onednn sums", (threads(), *out.shape), np.float32)

            def work(part: int, start: int, stop: int) -> None:
                primitive, reorder = self._of["_filter_gradient"](stop - start)
                packed = primitive.memory_for(Arg.DIFF_WEIGHTS)
                primitive.run({Arg.SRC: x[start:stop], Arg.DIFF_WEIGHTS: packed, Arg.DIFF_DST: grad[start:stop]})
                reorder.copy(packed, sums[part])

            parts = share_images(work, len(x), self._shares)
            np.add.reduce(sums[:parts], 0, out=out)

        return gradient

    def _map(self, kind: str, given: Arg, array: np.ndarray, filters: np.ndarray, made: Arg, out: np.ndarray) -> None:
        """For each part of the images, `out` from `array` and all filters."""

        def work(part: int, start: int, stop: int) -> None:
            primitive, reorder = self._of[kind](stop - start)
            packed = primitive.memory_for(Arg.WEIGHTS)
            reorder.copy(filters, packed)
            primitive.run({given: array[start:stop], Arg.WEIGHTS: packed, made: out[start:stop]})

        share_images(work, len(array), self._shares)

    # --- primitives for a number of images, each with the copy of the filters from or to the usual layout

    def _forward(self, images: int) -> tuple[Primitive, Reorder]:
        create = "dnnl_convolution_forward_primitive_desc_create"
        x, w, y = self._layouts(images)
        primitive = Primitive(create, INFERENCE, DIRECT, x, w, None, y, *self._geometry)
        return primitive, Reorder(self._plain, primitive.layout_of(Arg.WEIGHTS))

    def _input_gradient(self, images: int) -> tuple[Primitive, Reorder]:
        create = "dnnl_convolution_backward_data_primitive_desc_create"
        hint = self._of["_forward"](images)[0]
        primitive = Primitive(create, DIRECT, *self._layouts(images), *self._geometry, hint=hint)
        return primitive, Reorder(self._plain, primitive.layout_of(Arg.WEIGHTS))

    def _filter_gradient(self, images: int) -> tuple[Primitive, Reorder]:
        create = "dnnl_convolution_backward_weights_primitive_desc_create"
        hint = self._of["_forward"](images)[0]
        x, w, y = self._layouts(images)
        primitive = Primitive(create, DIRECT, x, w, None, y, *self._geometry, hint=hint)
        return primitive, Reorder(primitive.layout_of(Arg.DIFF_WEIGHTS), self._plain)

    def _layouts(self, images: int) -> tuple[Layout, Layout, Layout]:
        """Of x, the filters (the library's choice), y."""
        x = channels_last(images, self._lay.inputs, self._depth)
        return x, self._filters(plain=False), channels_last(images, self._lay.outputs, self._out_depth)

    def _filters(self, plain: bool) -> Layout:
        """Out depth before depth before window; groups, if there are several, first."""
        sizes, groups, units = self._lay.sizes, self._groups, self._out_depth
        depth = self._depth // groups
        window = [stride * depth * units for stride in row_major(sizes)]
        if groups == 1:
            return Layout((units, depth, *sizes), (1, units, *window) if plain else None)
        per_group = units // groups
        return Layout((groups, per_group, depth, *sizes), (per_group, 1, units, *window) if plain else None)
