"""`tf.errors`."""

from tfexp.core.errors import *  # noqa: F403
