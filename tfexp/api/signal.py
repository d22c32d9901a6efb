"""`tf.signal`: Fourier transforms, windows, frames."""

from typing import TYPE_CHECKING

from tfexp.core.gone import namespace

if TYPE_CHECKING:
    from tfexp.ops.fourier import fft as fft
    from tfexp.ops.fourier import fft2d as fft2d
    from tfexp.ops.fourier import fft3d as fft3d
    from tfexp.ops.fourier import ifft as ifft
    from tfexp.ops.fourier import ifft2d as ifft2d
    from tfexp.ops.fourier import ifft3d as ifft3d
    from tfexp.ops.fourier import irfft as irfft
    from tfexp.ops.fourier import irfft2d as irfft2d
    from tfexp.ops.fourier import irfft3d as irfft3d
    from tfexp.ops.fourier import rfft as rfft
    from tfexp.ops.fourier import rfft2d as rfft2d
    from tfexp.ops.fourier import rfft3d as rfft3d
    from tfexp.ops.signal_cosine import dct as dct
    from tfexp.ops.signal_cosine import fftshift as fftshift
    from tfexp.ops.signal_cosine import idct as idct
    from tfexp.ops.signal_cosine import ifftshift as ifftshift
    from tfexp.ops.signal_cosine import linear_to_mel_weight_matrix as linear_to_mel_weight_matrix
    from tfexp.ops.signal_cosine import mfccs_from_log_mel_spectrograms as mfccs_from_log_mel_spectrograms
    from tfexp.ops.signal_frames import frame as frame
    from tfexp.ops.signal_frames import hamming_window as hamming_window
    from tfexp.ops.signal_frames import hann_window as hann_window
    from tfexp.ops.signal_frames import inverse_stft as inverse_stft
    from tfexp.ops.signal_frames import inverse_stft_window_fn as inverse_stft_window_fn
    from tfexp.ops.signal_frames import overlap_and_add as overlap_and_add
    from tfexp.ops.signal_frames import stft as stft

__getattr__, __dir__ = namespace("tf.signal", __name__)
