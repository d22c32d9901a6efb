"""`tf.contrib.learn.io`: input functions of arrays and tables."""

from tfexp.core.gone import missing_from
from tfexp.estimator.inputs import numpy_input_fn as numpy_input_fn
from tfexp.estimator.inputs import pandas_input_fn as pandas_input_fn

__getattr__ = missing_from("tf.contrib.learn.io")
