"""`tf.errors`: what steps raise, and TensorFlow's codes for it."""

from tfexp.core.errors import *  # noqa: F403
