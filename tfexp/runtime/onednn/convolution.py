"""Convolution and its gradients on oneDNN's primitives, grouped or not, in any spatial rank; bias and Relu at its end.

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
_LARGE = 1e76  # of which the root is a third of the largest float32


class Convolution:
    """One convolution of known shapes; `LacksError` where oneDNN has no quick code for it."""

    def __init__(
        self, batch: int, depth: int, out_depth: int, groups: int, lay: Any, bias: bool = False, relu: bool = False
    ):
        """`lay`: where the windows lie in each dimension (`ops.windows.Windows`); `bias`, `relu`: how `forward` ends."""
        self._lay = lay
        self._depth, self._out_depth, self._groups = depth, out_depth, groups
        self._bias, self._relu = bias, relu
        work = batch * math.prod(lay.outputs) * math.prod(lay.sizes) * depth // groups * out_depth
        self._shares = work >= _WORTH_SHARING
        self._geometry = geometry(lay)
        self._plain = self._filters(plain=True)
        kinds = self._forward, self._rectified, self._input_gradient, self._filter_gradient
        self._of: dict[str, Callable[[int], tuple[Primitive, Reorder]]] = {
            kind.__name__: functools.lru_cache(KEPT)(kind) for kind in kinds
        }
        self._most = most_images(batch, self._shares)

    # --- what the op's rules call

    def forward(self) -> Callable[..., None]:
        """`f(x, filters, out)`; with a bias, `f(x, filters, bias, out)`.

        oneDNN's Relu makes 0 of NaN, so that it is for what cannot become NaN.
        """
        for kind in ("_forward", "_rectified") if self._relu else ("_forward",):
            self._of[kind](self._most)

        def convolve(x: np.ndarray, filters: np.ndarray, *others: np.ndarray) -> None:
            *bias, out = others

            def work(part: int, start: int, stop: int) -> None:
                mine, made = x[start:stop], out[start:stop]
                is_quick = self._relu and _stay_finite(mine, filters, *bias)
                primitive, packed = self._with_filters("_rectified" if is_quick else "_forward", stop - start, filters)
                given = dict(zip((Arg.SRC, Arg.WEIGHTS, Arg.DST, Arg.BIAS), (mine, packed, made, *bias), strict=False))
                primitive.run(given)
                if self._relu and not is_quick:
                    np.maximum(made, np.float32(0), out=made)

            share_images(work, len(x), self._shares)

        return convolve

    def input_gradient(self) -> Callable[..., None]:
        """`f(grad, filters, out)`."""
        self._of["_input_gradient"](self._most)

        def gradient(grad: np.ndarray, filters: np.ndarray, out: np.ndarray) -> None:
            def work(part: int, start: int, stop: int) -> None:
                primitive, packed = self._with_filters("_input_gradient", stop - start, filters)
                primitive.run({Arg.DIFF_DST: grad[start:stop], Arg.WEIGHTS: packed, Arg.DIFF_SRC: out[start:stop]})

            share_images(work, len(grad), self._shares)

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

    def _with_filters(self, kind: str, images: int, filters: np.ndarray) -> tuple[Primitive, np.ndarray]:
        """The primitive, and the filters as it wants them."""
        primitive, reorder = self._of[kind](images)
        packed = primitive.memory_for(Arg.WEIGHTS)
        reorder.copy(filters, packed)
        return primitive, packed

    # --- primitives for a number of images, each with the copy of the filters from or to the usual layout

    def _forward(self, images: int, relu: bool = False) -> tuple[Primitive, Reorder]:
        create = "dnnl_convolution_forward_primitive_desc_create"
        x, w, y = self._layouts(images)
        bias = Layout((self._out_depth,), (1,)) if self._bias else None
        primitive = Primitive(create, INFERENCE, DIRECT, x, w, bias, y, *self._geometry, relu=relu)
        return primitive, Reorder(self._plain, primitive.layout_of(Arg.WEIGHTS))

    def _rectified(self, images: int) -> tuple[Primitive, Reorder]:
        return self._forward(images, relu=True)

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


def _stay_finite(*arrays: np.ndarray) -> bool:
    """Whether no sum of products of the first two arrays' elements, and one of the third, can be infinite or NaN.

    None is larger than the product of the two arrays' norms (Cauchy and Schwarz).
    """
    squares = [float(np.dot(flat, flat)) for flat in (array.reshape(-1) for array in arrays)]
    return math.prod(squares[:2]) < _LARGE and all(square < _LARGE for square in squares)
