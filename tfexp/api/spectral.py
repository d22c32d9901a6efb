"""`tf.spectral`: the older name of what `tf.signal` has."""

from tfexp.core.gone import missing_from
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
from tfexp.ops.signal_cosine import idct as idct

__getattr__ = missing_from("tf.spectral")
