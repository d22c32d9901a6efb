"""`tf.contrib.tensorboard`: re-exports."""

from tfexp.api.contrib.tensorboard import plugins as plugins
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.tensorboard")
