"""`tf.errors`: what steps raise, and TensorFlow's codes for it."""

from tfexp.core.errors import *  # noqa: F403
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.errors")
