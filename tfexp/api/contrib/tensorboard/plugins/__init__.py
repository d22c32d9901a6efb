"""`tf.contrib.tensorboard.plugins`: what TensorBoard's plugins show."""

from tfexp.api.contrib.tensorboard.plugins import projector as projector
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.tensorboard.plugins")
