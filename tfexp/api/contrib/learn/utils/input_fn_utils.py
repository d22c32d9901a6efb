"""`tf.contrib.learn.utils.input_fn_utils`: what is served."""

from tfexp.contributed.learn.exporting import InputFnOps as InputFnOps
from tfexp.contributed.learn.exporting import build_default_serving_input_fn as build_default_serving_input_fn
from tfexp.contributed.learn.exporting import build_parsing_serving_input_fn as build_parsing_serving_input_fn
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.learn.utils.input_fn_utils")
