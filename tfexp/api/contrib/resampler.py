"""`tf.contrib.resampler`: images read at any points."""

from tfexp.contributed.resampling import resampler as resampler
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.resampler")
