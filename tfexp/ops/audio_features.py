"""What speech is told apart by: AudioSpectrogram and, of its result, mel-frequency cepstral coefficients (Mfcc).

A sound is cut into windows, which are tapered by Hann's window and transformed; the energies of their frequencies are added
up in bands of the mel scale (1127 ln(1 + f / 700), on which equal steps sound equal), and the logarithms of these are
described by the first coefficients of a cosine transform. All is computed in float64 and given in float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.ops.array import Array
from tfexp.ops.shape_rules import with_rank

_LOWEST_ENERGY = 1e-12  # of a band, before its logarithm

audio_spectrogram_op = define_op(
    "AudioSpectrogram(input: float) -> (spectrogram: float) {window_size: int; stride: int; magnitude_squared: bool = false}"
)
mfcc_op = define_op(
    "Mfcc(spectrogram: float, sample_rate: int32) -> (output: float) {upper_frequency_limit: float = 4000.0; "
    "lower_frequency_limit: float = 20.0; filterbank_channel_count: int = 40; dct_coefficient_count: int = 13}"
)


# --- spectrograms -----------------------------------------------------------------------------------------------------


def _transform_length(window_size: int) -> int:
    """The power of two that holds a window."""
    return 1 << (window_size - 1).bit_length()


@audio_spectrogram_op.shape
def _(input: InputShape, *, window_size: int, stride: int) -> TensorShape:
    """[samples, channels] in, [channels, windows, frequencies] out."""
    if window_size < 2:
        raise ValueError(f"window size must be > 1, got {window_size}")
    if stride < 1:
        raise ValueError(f"stride must be strictly positive, got {stride}")
    samples, channels = with_rank(input, 2).as_list()
    windows = None if samples is None else max(0, 1 + (samples - window_size) // stride)
    return TensorShape([channels, windows, 1 + _transform_length(window_size) // 2])


@audio_spectrogram_op.kernel("CPU")
def _(ctx: Any, input: Array, *, window_size: int, stride: int, magnitude_squared: bool) -> Array:
    if input.ndim != 2:
        raise InvalidArgumentError(None, None, f"input must be 2-dimensional, got shape {dims_text(input.shape)}")
    length = _transform_length(window_size)
    if len(input) < window_size:
        return np.zeros((input.shape[1], 0, 1 + length // 2), np.float32)
    windows = np.lib.stride_tricks.sliding_window_view(input.T.astype(np.float64), window_size, axis=1)[:, ::stride]
    taper = 0.5 - 0.5 * np.cos(2 * np.pi / window_size * np.arange(window_size))
    spectrum = np.fft.rfft(windows * taper, length)
    energy = np.square(spectrum.real) + np.square(spectrum.imag)
    return (energy if magnitude_squared else np.sqrt(energy)).astype(np.float32)


# --- coefficients -----------------------------------------------------------------------------------------------------


@mfcc_op.shape
def _(spectrogram: InputShape, sample_rate: InputShape, *, dct_coefficient_count: int) -> TensorShape:
    channels, windows, _ = with_rank(spectrogram, 3).as_list()
    with_rank(sample_rate, 0)
    return TensorShape([channels, windows, dct_coefficient_count])


def _mel(frequency: Any) -> Any:
    return 1127 * np.log1p(frequency / 700)


def _bands(bins: int, rate: int, lowest: float, highest: float, count: int) -> Array:
    """[bins, count]: how much of each frequency belongs to each band, triangles that overlap by half."""
    step = rate / 2 / (bins - 1)
    peaks = _mel(lowest) + (_mel(highest) - _mel(lowest)) / (count + 1) * np.arange(count + 2)
    # Band i rises from peak i to peak i + 1 and falls to peak i + 2.
    number = np.arange(bins)
    inside = (number >= int(1.5 + lowest / step)) & (number <= int(highest / step))
    places = _mel(number * step)[:, None]
    rising = (places - peaks[:-2]) / (peaks[1:-1] - peaks[:-2])
    falling = (peaks[2:] - places) / (peaks[2:] - peaks[1:-1])
    return np.asarray(np.maximum(0, np.minimum(rising, falling)) * inside[:, None])


@mfcc_op.kernel("CPU")
def _(
    ctx: Any,
    spectrogram: Array,
    sample_rate: Array,
    *,
    upper_frequency_limit: float,
    lower_frequency_limit: float,
    filterbank_channel_count: int,
    dct_coefficient_count: int,
) -> Array:
    """Of a spectrogram of squared magnitudes."""
    if spectrogram.ndim != 3 or np.ndim(sample_rate):
        raise InvalidArgumentError(
            None,
            None,
            "spectrogram must be 3-dimensional and sample_rate a scalar, got shapes "
            f"{dims_text(spectrogram.shape)} and {dims_text(np.shape(sample_rate))}",
        )
    bins, rate, bands = spectrogram.shape[2], int(sample_rate), filterbank_channel_count
    lowest, highest = lower_frequency_limit, upper_frequency_limit
    if not (bins > 1 and rate > 0 and 0 < dct_coefficient_count <= bands and 0 <= lowest < highest < np.inf):
        raise InvalidArgumentError(
            None,
            None,
            f"Mfcc initialization failed for channel count {bins}, sample rate {rate} and filterbank_channel_count {bands}: "
            "they must be positive (two channels at least), 0 < dct_coefficient_count <= filterbank_channel_count, got "
            f"{dct_coefficient_count}, and 0 <= lower_frequency_limit < upper_frequency_limit, got {lowest} and {highest}",
        )
    magnitudes = np.sqrt(spectrogram.astype(np.float64))
    energies = np.log(np.maximum(magnitudes @ _bands(bins, rate, lowest, highest, bands), _LOWEST_ENERGY))
    waves = np.cos(np.pi / bands * np.outer(np.arange(bands) + 0.5, np.arange(dct_coefficient_count)))
    return (energies @ waves * np.sqrt(2 / bands)).astype(np.float32)
