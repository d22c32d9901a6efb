"""`tf.contrib.tensorboard`: what TensorBoard's plugins show."""

from tfexp.api.contrib.tensorboard import plugins as plugins
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.tensorboard")
