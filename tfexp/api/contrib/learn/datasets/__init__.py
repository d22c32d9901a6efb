"""`tf.contrib.learn.datasets`: readers of well-known data sets."""

from tfexp.api.contrib.learn.datasets import base as base
from tfexp.core.gone import missing_from
from tfexp.stand_ins import mnist as mnist

__getattr__ = missing_from("tf.contrib.learn.datasets")
