"""`tf.estimator.inputs`: data in memory as input functions."""

from tfexp.core.gone import missing_from
from tfexp.estimator.numpy_inputs import numpy_input_fn as numpy_input_fn
from tfexp.estimator.pandas_inputs import pandas_input_fn as pandas_input_fn

__getattr__ = missing_from("tf.estimator.inputs")
