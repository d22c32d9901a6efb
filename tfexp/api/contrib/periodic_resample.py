"""`tf.contrib.periodic_resample`: elements that move between dimensions."""

from tfexp.core.gone import missing_from
from tfexp.ops.periodic_resample import periodic_resample as periodic_resample

__getattr__ = missing_from("tf.contrib.periodic_resample")
