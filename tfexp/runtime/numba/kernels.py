"""What the ops' rules for Numba call (`Op.bind_with`): a call for a node of known shapes, or None where NumPy is to do it.

Arrays have their channels last. The calls take the inputs of TensorFlow's op, and `out=`; images are shared out to the
intra-op threads, which do not wait for the interpreter's lock here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tfexp.core.kernel import Call
from tfexp.core.workers import scratch, share, threads
from tfexp.runtime.numba import norm_loops, window_loops
from tfexp.runtime.numba.compiler import compiled_function

_WORTH_SHARING = 1 << 18  # elements of windows: below, the other threads wake up too late to help
_DTYPES = ("float32", "float64")
_MAX_SPACE = 3  # dimensions
_LAY = ("int64", 2, False)

Work = Callable[[int, int, int], None]


def max_pool(name: str, dtype: str, lay: Any) -> Call | None:
    """Of x; `lay`: the windows (`ops.windows`)."""
    if not _takes(dtype, lay):
        return None
    parameters = (_read(dtype, 5), _written(dtype, 5), _LAY, (dtype, 0, False))
    loop, geometry = compiled_function(name, window_loops.max_pool, parameters), _geometry(lay)

    def pool(x: np.ndarray, out: np.ndarray) -> None:
        below, above = _in_space(x), _in_space(out)

        def work(part: int, start: int, stop: int) -> None:
            loop(below[start:stop], above[start:stop], geometry, math.nan)

        _share(work, above, lay)

    return _call(dtype, lambda x: (len(x), *lay.outputs, x.shape[-1]), pool, (0,))


def max_pool_gradient(name: str, dtype: str, lay: Any) -> Call | None:
    """Of x, what was pooled of it, and the gradient of that."""
    if not _takes(dtype, lay):
        return None
    parameters = (*[_read(dtype, 5)] * 3, _written(dtype, 5), ("int32", 1, True), _LAY, ("bool", 0, False))
    loop, geometry = compiled_function(name, window_loops.max_pool_gradient, parameters), _geometry(lay)

    def gradient(x: np.ndarray, y: np.ndarray, grad: np.ndarray, out: np.ndarray) -> None:
        given, made = [_in_space(a) for a in (x, y, grad)], _in_space(out)

        def work(part: int, start: int, stop: int) -> None:
            first = scratch("first", (x.shape[-1],), np.int32)
            loop(*(a[start:stop] for a in given), made[start:stop], first, geometry, lay.covers())

        _share(work, given[2], lay)

    return _call(dtype, lambda x, y, grad: x.shape, gradient, (0, 1, 2))


def avg_pool(name: str, dtype: str, lay: Any) -> Call | None:
    """Of x."""
    if not _takes(dtype, lay):
        return None
    parameters = (_read(dtype, 5), _written(dtype, 5), _written(dtype, 1), _LAY)
    loop, geometry = compiled_function(name, window_loops.avg_pool, parameters), _geometry(lay)

    def pool(x: np.ndarray, out: np.ndarray) -> None:
        below, above = _in_space(x), _in_space(out)

        def work(part: int, start: int, stop: int) -> None:
            loop(below[start:stop], above[start:stop], scratch("whole", (1,), dtype), geometry)

        _share(work, above, lay)

    return _call(dtype, lambda x: (len(x), *lay.outputs, x.shape[-1]), pool, (0,))


def avg_pool_gradient(name: str, dtype: str, lay: Any) -> Call | None:
    """Of the input's sizes and the gradient."""
    if not _takes(dtype, lay):
        return None
    parameters = (_read(dtype, 5), _written(dtype, 5), _written(dtype, 1), _LAY, ("bool", 0, False))
    loop, geometry = compiled_function(name, window_loops.avg_pool_gradient, parameters), _geometry(lay)

    def gradient(grad: np.ndarray, out: np.ndarray) -> None:
        above, below = _in_space(grad), _in_space(out)

        def work(part: int, start: int, stop: int) -> None:
            loop(above[start:stop], below[start:stop], scratch("whole", (1,), dtype), geometry, lay.covers())

        _share(work, above, lay)

    return _call(dtype, lambda grad: (len(grad), *lay.inputs, grad.shape[-1]), gradient, (1,))


def depthwise(name: str, dtype: str, lay: Any) -> Call | None:
    """Of x and filters [*window, depth, 1]."""
    if not _takes(dtype, lay):
        return None
    loop, geometry = _depthwise_loop(name, dtype, window_loops.depthwise), _geometry(lay)

    def convolve(x: np.ndarray, filters: np.ndarray, out: np.ndarray) -> None:
        below, above, weights = _in_rows(x), _in_rows(out), _along(filters, lay)

        def work(part: int, start: int, stop: int) -> None:
            loop(below[start:stop], weights, above[start:stop], geometry, x.shape[-1])

        _share(work, above, lay)

    return _call(dtype, lambda x, filters: (len(x), *lay.outputs, x.shape[-1]), convolve, (0, 1))


def depthwise_input_gradient(name: str, dtype: str, lay: Any) -> Call | None:
    """Of the input's sizes, filters and the output's gradient."""
    if not _takes(dtype, lay):
        return None
    loop, geometry = _depthwise_loop(name, dtype, window_loops.depthwise_input_gradient), _geometry(lay)

    def gradient(filters: np.ndarray, grad: np.ndarray, out: np.ndarray) -> None:
        above, below, weights = _in_rows(grad), _in_rows(out), _along(filters, lay)

        def work(part: int, start: int, stop: int) -> None:
            loop(above[start:stop], weights, below[start:stop], geometry, grad.shape[-1])

        _share(work, above, lay)

    return _call(dtype, lambda filters, grad: (len(grad), *lay.inputs, grad.shape[-1]), gradient, (1, 2))


def depthwise_filter_gradient(name: str, dtype: str, lay: Any, shape: tuple[int, ...]) -> Call | None:
    """Of x, the filters' sizes (`shape`) and the output's gradient."""
    if not _takes(dtype, lay):
        return None
    parameters = (*[_read(dtype, 4)] * 2, *[_written(dtype, 4)] * 2, _LAY, ("int64", 0, False))
    loop, geometry = compiled_function(name, window_loops.depthwise_filter_gradient, parameters), _geometry(lay)

    def gradient(x: np.ndarray, grad: np.ndarray, out: np.ndarray) -> None:
        below, above, channels = _in_rows(x), _in_rows(grad), x.shape[-1]
        sizes = (*geometry[0].tolist(), above.shape[-1])
        sums = scratch("sums", (threads(), *sizes), dtype)

        def work(part: int, start: int, stop: int) -> None:
            image = scratch("image", sizes, dtype)
            loop(below[start:stop], above[start:stop], sums[part], image, geometry, channels)

        parts = _share(work, above, lay)
        out[...] = np.add.reduce(sums[:parts], 0).reshape(*lay.sizes, -1, channels).sum(-2).reshape(shape)

    return _call(dtype, lambda x, grad: shape, gradient, (0, 2))


def norm_passes(name: str) -> tuple[Callable[..., None], ...]:
    """What batch normalisation does to a block of rows in float32: the moments, the gradient's sums, and both results."""
    rows, vector, changed = _read("float32", 2), _read("float32", 1), _written("float32", 1)
    out = _written("float32", 2)
    return (
        compiled_function(name, norm_loops.moments, (rows, changed, changed, changed)),
        compiled_function(name, norm_loops.sums, (rows, rows, vector, changed, changed)),
        compiled_function(name, norm_loops.normalise, (rows, vector, vector, vector, out)),
        compiled_function(name, norm_loops.gradient, (rows, rows, vector, vector, vector, vector, out)),
    )


def _depthwise_loop(name: str, dtype: str, function: Callable[..., None]) -> Callable[..., None]:
    return compiled_function(name, function, (*[_read(dtype, 4)] * 2, _written(dtype, 4), _LAY, ("int64", 0, False)))


# --- arrays as the loops have them ------------------------------------------------------------------------------------


def _takes(dtype: str, lay: Any) -> bool:
    return dtype in _DTYPES and len(lay.inputs) <= _MAX_SPACE


def _read(dtype: str, rank: int) -> tuple[str, int, bool]:
    return dtype, rank, False


def _written(dtype: str, rank: int) -> tuple[str, int, bool]:
    return dtype, rank, True


def _geometry(lay: Any) -> np.ndarray:
    """The windows' sizes, strides, dilations and paddings before, in three dimensions."""
    missing = _MAX_SPACE - len(lay.inputs)
    rows = ((lay.sizes, 1), (lay.strides, 1), (lay.dilations, 1), (lay.before, 0))
    return np.array([[neutral] * missing + list(values) for values, neutral in rows], np.int64)


def _in_space(array: np.ndarray) -> np.ndarray:
    """[batch, three dimensions of space, channels]"""
    return array.reshape(len(array), *(1,) * (_MAX_SPACE + 2 - array.ndim), *array.shape[1:])


def _in_rows(array: np.ndarray) -> np.ndarray:
    """[batch, two dimensions of space, the third one's channels]"""
    spread = _in_space(array)
    return spread.reshape(*spread.shape[:3], spread.shape[3] * spread.shape[4])


def _along(filters: np.ndarray, lay: Any) -> np.ndarray:
    """[*window, channels of a row of windows]: the filters, repeated for each window of a row."""
    row = np.tile(filters.reshape(*lay.sizes, -1), lay.outputs[-1])
    return row.reshape(*(1,) * (_MAX_SPACE - len(lay.sizes)), *row.shape)


def _share(work: Work, windows: np.ndarray, lay: Any) -> int:
    """The work on all images, by all threads where that is worth it; returns the number of parts."""
    if windows.size * math.prod(lay.sizes) < _WORTH_SHARING:
        work(0, 0, len(windows))
        return 1
    return share(work, len(windows))


def _call(
    dtype: str, shape_of: Callable[..., tuple[int, ...]], compute: Callable[..., None], order: tuple[int, ...]
) -> Call:
    """`order`: which of the node's inputs are computed with; `shape_of`: the result's shape for them."""

    def call(*inputs: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        given = [inputs[n] for n in order]
        result = np.empty(shape_of(*given), dtype) if out is None else out
        compute(*given, result)
        return result

    call.__name__ = "Numba"  # as plans name it
    return Call(call, out=True)
