"""`tf.contrib.staging`: areas between a step and the next."""

from tfexp.core.gone import missing_from
from tfexp.ops.staging import StagingArea as StagingArea

__getattr__ = missing_from("tf.contrib.staging")
