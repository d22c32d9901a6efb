"""`tf.contrib.learn`: its data sets (`tf.contrib.learn.datasets.mnist`), which programs without estimators use."""

from tfexp.api.contrib import learn_datasets as datasets
from tfexp.core.gone import missing_from

__all__ = ["datasets"]

__getattr__ = missing_from("tf.contrib.learn")
