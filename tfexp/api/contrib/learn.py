"""`tf.contrib.learn`: its data sets (`tf.contrib.learn.datasets.mnist`), which programs without estimators use."""

from types import SimpleNamespace

from tfexp.core.gone import missing_from
from tfexp.stand_ins import mnist as _mnist

datasets = SimpleNamespace(mnist=_mnist)

__getattr__ = missing_from("tf.contrib.learn")
