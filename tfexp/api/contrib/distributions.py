"""`tf.contrib.distributions`: what `tf.distributions` has, under its older name."""

from tfexp.core.gone import missing_from
from tfexp.distributions import *  # noqa: F403

__getattr__ = missing_from("tf.contrib.distributions")
