"""`tf.signal`: cosine transforms, shifted spectra, mel scales and cepstra. Source: TF 1.15."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.graph.control_flow import cond
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import array_fill
from tfexp.ops.array import expand_dims, shape
from tfexp.ops.array_join import concat
from tfexp.ops.array_order import roll
from tfexp.ops.array_pad import pad
from tfexp.ops.cast import cast
from tfexp.ops.complex_numbers import complex, real
from tfexp.ops.elementwise_binary import maximum, minimum
from tfexp.ops.elementwise_unary import exp, log1p, rsqrt, sqrt
from tfexp.ops.fourier import irfft, rfft


def _shifted(x: Any, axes: Any, forward: bool, name: str | None, default: str) -> Tensor:
    with name_scope(name, default):
        x = convert_to_tensor(x)
        if axes is None:
            if x.shape.ndims is None:
                raise ValueError("the rank of x must be known where axes are not given")
            axes = list(range(x.shape.ndims))
        chosen = [int(axis) for axis in np.atleast_1d(axes)]
        sizes: list[Any] = [x.shape[axis].value for axis in chosen]
        sizes = [shape(x)[axis] if size is None else size for axis, size in zip(chosen, sizes, strict=True)]  # type: ignore[index]
        return roll(x, [size // 2 if forward else -(size // 2) for size in sizes], chosen)


def fftshift(x: Any, axes: Any = None, name: str | None = None) -> Tensor:
    """`x` with the zero frequency moved to the middle of the axes (all if None). Source: `tf.signal.fftshift`."""
    return _shifted(x, axes, True, name, "fftshift")


def ifftshift(x: Any, axes: Any = None, name: str | None = None) -> Tensor:
    """What undoes `fftshift`. Source: `tf.signal.ifftshift`."""
    return _shifted(x, axes, False, name, "ifftshift")


def _check(kind: int, n: int | None, norm: str | None, axis: int) -> None:
    if axis != -1:
        raise NotImplementedError("axis must be -1. Got: %s" % axis)  # noqa: UP031
    if kind not in (1, 2, 3):
        raise ValueError("Only Types I, II and III (I)DCT are supported.")
    if kind == 1 and norm == "ortho":
        raise ValueError("Normalization is not supported for the Type-I DCT.")
    if norm not in (None, "ortho"):
        raise ValueError(f"Unknown normalization. Expected None or 'ortho', got: {norm}")
    if n is not None and n < 1:
        raise ValueError("n should be a positive integer or None")


def _length(x: Any) -> Any:
    """The last dimension: a number where it is known."""
    known = x.shape[-1].value
    return shape(x)[-1] if known is None else known


def _of_length(x: Any, length: Any, n: int) -> Any:
    """`x`, whose last dimension is `length`, cut or filled up with zeros."""

    def filled() -> Tensor:
        return pad(x, convert_to_tensor([[0, 0]] * (x.shape.ndims - 1) + [[0, n - length]]))

    if isinstance(length, int):
        return x[..., 0:n] if n <= length else filled()
    return cond(length >= n, lambda: x[..., 0:n], filled)


def dct(
    input: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None, name: str | None = None
) -> Tensor:
    """The discrete cosine transform I, II or III of the last dimension, cut or filled up with zeros to `n` if given.

    norm: "ortho" makes II and III each other's inverse. By way of an RFFT of about twice the length. ValueError for other
    types. Source: `tf.signal.dct`.
    """
    _check(type, n, norm, axis)
    with name_scope(name, "dct", [input]):
        x: Any = convert_to_tensor(input, dtype_hint=dtypes.float32)
        zero = convert_to_tensor(0.0, dtype=x.dtype)
        length = _length(x)
        if n is not None:
            x = _of_length(x, length, n)
        length = _length(x)
        size: Any = cast(length, x.dtype)
        if type == 1:
            if isinstance(length, int) and length < 2:
                raise ValueError("Type-I DCT requires the dimension to be greater than one.")
            return real(rfft(concat([x, x[..., -2:0:-1]], axis=-1)))
        if type == 2:
            turns = 2.0 * exp(complex(zero, -array_fill.range(size) * math.pi * 0.5 / size))
            result: Any = real(rfft(x, fft_length=[2 * length])[..., :length] * turns)  # type: ignore[index]
            return result if norm is None else result * _weights(0.5 * rsqrt(size), math.sqrt(2.0), length)
        x = x * (size if norm is None else _weights(sqrt(size), math.sqrt(0.5), length))
        turns = 2.0 * exp(complex(zero, array_fill.range(size) * math.pi * 0.5 / size))
        return irfft(turns * complex(x, zero), fft_length=[2 * length])[..., :length]  # type: ignore[index]


def _weights(first: Any, times: float, length: Any) -> Tensor:
    """[length]: the first number, and `times` as much behind it."""
    others = first * times
    return pad(expand_dims(first, 0), [[0, length - 1]], constant_values=others)


def idct(
    input: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None, name: str | None = None
) -> Tensor:
    """The inverse of `dct` but, unless norm is "ortho", for a factor: 2 n, of type I 2 (n - 1). Source: `tf.signal.idct`."""
    inverse = {1: 1, 2: 3, 3: 2}.get(type, type)
    return dct(input, type=inverse, n=n, axis=axis, norm=norm, name=name)


_MEL_BREAK, _MEL_HIGH_Q = 700.0, 1127.0


def _mel(hertz: Any) -> Any:
    return _MEL_HIGH_Q * np.log1p(np.asarray(hertz, np.float64) / _MEL_BREAK)


def linear_to_mel_weight_matrix(
    num_mel_bins: int = 20,
    num_spectrogram_bins: Any = 129,
    sample_rate: Any = 8000,
    lower_edge_hertz: float = 125.0,
    upper_edge_hertz: float = 3800.0,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """[num_spectrogram_bins, num_mel_bins]: triangles, evenly spaced on the mel scale, that weigh a linear spectrum.

    num_spectrogram_bins, sample_rate: tensors, too. ValueError for edges outside [0, sample_rate / 2] where that is known.
    Source: `tf.signal.linear_to_mel_weight_matrix`.
    """
    if num_mel_bins <= 0:
        raise ValueError(f"num_mel_bins must be positive. Got: {num_mel_bins}")
    if lower_edge_hertz < 0.0:
        raise ValueError(f"lower_edge_hertz must be non-negative. Got: {lower_edge_hertz}")
    if lower_edge_hertz >= upper_edge_hertz:
        raise ValueError(f"lower_edge_hertz {lower_edge_hertz:.1f} >= upper_edge_hertz {upper_edge_hertz:.1f}")
    given = any(isinstance(value, Tensor) for value in (num_spectrogram_bins, sample_rate))
    if not given and sample_rate <= 0.0:
        raise ValueError(f"sample_rate must be positive. Got: {sample_rate}")
    if not given and upper_edge_hertz > sample_rate / 2:
        raise ValueError(
            "upper_edge_hertz must not be larger than the Nyquist frequency (sample_rate / 2). Got "
            f"{upper_edge_hertz} for sample_rate: {sample_rate}"
        )
    if not dtypes.as_dtype(dtype).is_floating:
        raise ValueError(f"dtype must be a floating point type. Got: {dtype}")
    with name_scope(name, "linear_to_mel_weight_matrix"):
        # The first bin is 0 Hertz, which belongs to no triangle.
        edges = np.linspace(_mel(lower_edge_hertz), _mel(upper_edge_hertz), num_mel_bins + 2)
        low, middle, high = edges[:-2], edges[1:-1], edges[2:]
        if given:
            nyquist = cast(sample_rate, dtype) / 2
            hertz: Any = array_fill.linspace(array_fill.zeros([], dtype), nyquist, num_spectrogram_bins)
            bins: Any = _MEL_HIGH_Q * log1p(expand_dims(hertz[1:], 1) / _MEL_BREAK)
            weighed = maximum(minimum((bins - low) / (middle - low), (high - bins) / (high - middle)), 0.0)
            return pad(weighed, [[1, 0], [0, 0]], name="weights")
        bins = _mel(np.linspace(0.0, sample_rate / 2, num_spectrogram_bins)[1:])[:, None]
        weights = np.maximum(0.0, np.minimum((bins - low) / (middle - low), (high - bins) / (high - middle)))
        return constant(np.pad(weights, [[1, 0], [0, 0]]), dtypes.as_dtype(dtype), name="weights")


def mfccs_from_log_mel_spectrograms(log_mel_spectrograms: Any, name: str | None = None) -> Tensor:
    """The mel-frequency cepstral coefficients of log mel spectrograms [..., num_mel_bins]; as many of them.

    Source: `tf.signal.mfccs_from_log_mel_spectrograms`.
    """
    with name_scope(name, "mfccs_from_log_mel_spectrograms", [log_mel_spectrograms]):
        spectrograms = convert_to_tensor(log_mel_spectrograms)
        count = _length(spectrograms)
        if isinstance(count, int) and count == 0:
            raise ValueError(f"num_mel_bins must be positive. Got: {log_mel_spectrograms}")
        found: Any = dct(spectrograms, type=2)
        if isinstance(count, int):
            return found * float(1 / math.sqrt(count * 2.0))  # type: ignore[no-any-return]
        return found * rsqrt(cast(count, spectrograms.dtype) * 2.0)  # type: ignore[no-any-return, operator]
