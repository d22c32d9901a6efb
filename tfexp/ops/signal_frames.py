"""`tf.signal`: frames of signals, windows, and short-time Fourier transforms. Source: TF 1.15."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tfexp.core import dtypes
from tfexp.graph.control_flow import cond
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.shape_inference import static_value
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import expand_dims, rank, reshape, shape, squeeze
from tfexp.ops.array_fill import ones
from tfexp.ops.array_fill import range as range_
from tfexp.ops.array_gather import gather
from tfexp.ops.array_join import concat
from tfexp.ops.array_pad import pad
from tfexp.ops.array_tile import tile
from tfexp.ops.cast import cast
from tfexp.ops.comparison import equal
from tfexp.ops.elementwise_binary import maximum
from tfexp.ops.elementwise_rounding import ceil
from tfexp.ops.elementwise_trig import cos
from tfexp.ops.elementwise_unary import log, square
from tfexp.ops.fourier import irfft, rfft
from tfexp.ops.reduce import reduce_prod, reduce_sum
from tfexp.ops.segment import unsorted_segment_sum

Window = Callable[..., Any]


def frame(
    signal: Any,
    frame_length: Any,
    frame_step: Any,
    pad_end: bool = False,
    pad_value: Any = 0,
    axis: Any = -1,
    name: str | None = None,
) -> Tensor:
    """[..., frames, frame_length, ...]: stretches of the signal along `axis`, each `frame_step` behind the one before.

    Without `pad_end` the signal's end that fills no frame is left out, with it the last frames are filled up with
    `pad_value`. Source: `tf.signal.frame`.
    """
    with name_scope(name, "frame", [signal, frame_length, frame_step, pad_value]):
        signal = convert_to_tensor(signal, name="signal")
        frame_length = convert_to_tensor(frame_length, dtypes.int32, name="frame_length")
        frame_step = convert_to_tensor(frame_step, dtypes.int32, name="frame_step")
        signal.shape.with_rank_at_least(1)
        frame_length.shape.assert_has_rank(0)
        frame_step.shape.assert_has_rank(0)
        axis = _known(axis)
        ndims = signal.shape.ndims
        if ndims is None or isinstance(axis, Tensor):
            # Of the signal as rows along its axis, whose other dimensions are known once it runs.
            rows, outer, inner = _along(signal, axis)
            found = frame(rows, frame_length, frame_step, pad_end, pad_value, axis=1)
            return reshape(found, concat([outer, shape(found)[1:3], inner], 0))  # type: ignore[index]
        if not -ndims <= axis < ndims:
            raise ValueError(f"axis {axis} of frame is not one of the {ndims} of {signal.name}")
        axis = axis % ndims
        known = signal.shape[axis].value
        length: Any = shape(signal)[axis] if known is None else known  # type: ignore[index]
        if pad_end:
            count: Any = -(-length // frame_step)
            missing = maximum(0, frame_length + frame_step * (count - 1) - length)
            paddings: list[Any] = [[0, 0]] * ndims
            paddings[axis] = [0, missing]
            filling = convert_to_tensor(pad_value, signal.dtype, name="pad_value")
            filling.shape.assert_has_rank(0)
            signal = pad(signal, paddings, constant_values=filling)
        else:
            count = maximum(0, 1 + (length - frame_length) // frame_step)
        starts = reshape(range_(count) * frame_step, [-1, 1])  # type: ignore[operator]
        places = starts + reshape(range_(frame_length), [1, -1])  # type: ignore[operator]
        if axis:
            return gather(signal, places, axis=axis)
        # As the second dimension, so that the gradient is dense.
        return squeeze(gather(expand_dims(signal, 0), places, axis=1), [0])


def _known(axis: Any) -> Any:
    """An axis as a number, where it is one or a tensor whose value is known."""
    if not isinstance(axis, Tensor):
        return axis
    axis.shape.assert_has_rank(0)
    value = static_value(axis)
    return axis if value is None else int(value)


def _along(signal: Tensor, axis: Any) -> tuple[Tensor, Any, Any]:
    """(the signal as [outer, length, inner], the dimensions before the axis, those behind it), its rank known only then."""
    dims: Any = shape(signal)
    place = rank(signal) + axis if isinstance(axis, int) and axis < 0 else axis
    if isinstance(axis, Tensor):
        place = axis % rank(signal)
    outer, inner = dims[:place], dims[place + 1 :]
    return reshape(signal, [reduce_prod(outer), dims[place], reduce_prod(inner)]), outer, inner


def overlap_and_add(signal: Any, frame_step: Any, name: str | None = None) -> Tensor:
    """[..., samples]: frames [..., frames, length] put together again, added where they overlap.

    ValueError for fewer than two dimensions and for a step that is no whole number. Source: `tf.signal.overlap_and_add`.
    """
    with name_scope(name, "overlap_and_add", [signal, frame_step]):
        signal = convert_to_tensor(signal, name="signal")
        signal.shape.with_rank_at_least(2)
        frame_step = convert_to_tensor(frame_step, name="frame_step")
        frame_step.shape.assert_has_rank(0)
        if not frame_step.dtype.is_integer:
            raise ValueError(f"frame_step must be an integer. Got {frame_step.dtype}")
        frame_step = cast(frame_step, dtypes.int32)
        dims: Any = shape(signal)
        outer, count, length = dims[:-2], dims[-2], dims[-1]
        places = reshape(range_(count) * frame_step, [-1, 1]) + reshape(range_(length), [1, -1])  # type: ignore[operator]
        total = (count - 1) * frame_step + length
        # Of each signal apart: one row of segments for each.
        rows = reshape(signal, concat([[-1], [count * length]], 0))
        each: Any = reshape(range_(shape(rows)[0]) * total, [-1, 1])  # type: ignore[index]
        ids = each + reshape(places, [1, -1])
        summed = unsorted_segment_sum(rows, ids, shape(rows)[0] * total)  # type: ignore[index]
        result = reshape(summed, concat([outer, [total]], 0))
        if signal.shape.ndims is not None:
            result.set_shape([*signal.shape[:-2].as_list(), result.shape[-1].value])
        return result


def hann_window(window_length: Any, periodic: Any = True, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """0.5 - 0.5 cos(2 pi n / N), N the length or, unless `periodic`, one less. `tf.signal.hann_window`."""
    return _raised_cosine(name, "hann_window", window_length, periodic, dtype, 0.5, 0.5)


def hamming_window(window_length: Any, periodic: Any = True, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """0.54 - 0.46 cos(2 pi n / N), N the length or, unless `periodic`, one less. `tf.signal.hamming_window`."""
    return _raised_cosine(name, "hamming_window", window_length, periodic, dtype, 0.54, 0.46)


def _raised_cosine(
    name: str | None, default: str, window_length: Any, periodic: Any, dtype: Any, a: float, b: float
) -> Tensor:
    kind = dtypes.as_dtype(dtype)
    if not kind.is_floating:
        raise ValueError(f"dtype must be a floating point type. Found {kind}")
    with name_scope(name, default, [window_length, periodic]):
        length: Any = convert_to_tensor(window_length, dtypes.int32, name="window_length")
        length.shape.assert_has_rank(0)
        known = static_value(length)
        if known is not None and int(known) == 1:
            return ones([1], kind)
        # A periodic window of even length is one longer, without its last.
        repeats: Any = cast(convert_to_tensor(periodic, dtypes.bool, name="periodic"), dtypes.int32)
        size = cast(length + repeats * (1 - length % 2) - 1, kind)
        count: Any = cast(range_(length), kind)
        angle = constant(2 * math.pi, kind) * count / size
        if known is None:
            return cond(equal(length, 1), lambda: ones([length], kind), lambda: a - b * cos(angle))  # type: ignore[no-any-return]
        return a - b * cos(angle)  # type: ignore[no-any-return]


def _fft_length(frame_length: Any, fft_length: Any) -> Any:
    """`fft_length` or the power of two that holds a frame: a number where the frame's length is known, else a tensor."""
    if fft_length is not None:
        return fft_length
    known = static_value(frame_length) if isinstance(frame_length, Tensor) else frame_length
    if known is not None:
        return 1 << (int(known) - 1).bit_length()
    bits = ceil(log(cast(frame_length, dtypes.float32)) / math.log(2))
    return cast(2.0**bits, dtypes.int32)


def stft(
    signals: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Window | None = hann_window,
    pad_end: bool = False,
    name: str | None = None,
) -> Tensor:
    """[..., frames, fft_length // 2 + 1]: the Fourier transform of windowed frames of real signals [..., samples].

    fft_length: the power of two that holds a frame, if None. Source: `tf.signal.stft`.
    """
    with name_scope(name, "stft", [signals, frame_length, frame_step]):
        signals = convert_to_tensor(signals, name="signals")
        signals.shape.with_rank_at_least(1)
        frames: Any = frame(signals, frame_length, frame_step, pad_end=pad_end)
        if window_fn is not None:
            frames = frames * window_fn(frame_length, dtype=frames.dtype)
        return rfft(frames, [_fft_length(frame_length, fft_length)])


def inverse_stft_window_fn(frame_step: Any, forward_window_fn: Window = hann_window, name: str | None = None) -> Window:
    """The window of `inverse_stft` that undoes the forward one's and the overlap. `tf.signal.inverse_stft_window_fn`."""

    def window(frame_length: Any, dtype: Any) -> Any:
        with name_scope(name, "inverse_stft_window_fn", [forward_window_fn]):
            step: Any = convert_to_tensor(frame_step, dtypes.int32, name="frame_step")
            length: Any = convert_to_tensor(frame_length, dtypes.int32, name="frame_length")
            forward: Any = forward_window_fn(length, dtype=dtype)
            overlaps = -(-length // step)
            squares = pad(square(forward), [[0, overlaps * step - length]])
            summed = reduce_sum(reshape(squares, [overlaps, step]), 0, keepdims=True)
            return forward / reshape(tile(summed, [overlaps, 1]), [overlaps * step])[:length]  # type: ignore[index]

    return window


def inverse_stft(
    stfts: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Window | None = hann_window,
    name: str | None = None,
) -> Tensor:
    """[..., samples]: the signals of short-time Fourier transforms [..., frames, fft_length // 2 + 1].

    What `stft` made comes back, but for its ends, with `inverse_stft_window_fn`'s window. Source: `tf.signal.inverse_stft`.
    """
    with name_scope(name, "inverse_stft", [stfts]):
        stfts = convert_to_tensor(stfts, name="stfts")
        stfts.shape.with_rank_at_least(2)
        size = _fft_length(frame_length, fft_length)
        frames: Any = irfft(stfts, [size])
        frames, missing = frames[..., :frame_length], frame_length - size
        if isinstance(missing, Tensor):
            missing = maximum(missing, 0)
        if isinstance(missing, Tensor) or missing > 0:
            frames = pad(frames, [*[[0, 0]] * (stfts.shape.ndims - 1), [0, missing]])
        if window_fn is not None:
            frames = frames * window_fn(frame_length, dtype=frames.dtype)
        return overlap_and_add(frames, frame_step)
