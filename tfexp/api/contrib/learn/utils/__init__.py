"""`tf.contrib.learn.utils`: what is served, and exported when."""

from tfexp.api.contrib.learn.utils import export as export
from tfexp.api.contrib.learn.utils import gc as gc
from tfexp.api.contrib.learn.utils import input_fn_utils as input_fn_utils
from tfexp.api.contrib.learn.utils import saved_model_export_utils as saved_model_export_utils
from tfexp.contributed.learn.bundling import export_estimator as export_estimator
from tfexp.contributed.learn.exporting import InputFnOps as InputFnOps
from tfexp.contributed.learn.exporting import build_default_serving_input_fn as build_default_serving_input_fn
from tfexp.contributed.learn.exporting import build_parsing_serving_input_fn as build_parsing_serving_input_fn
from tfexp.contributed.learn.exporting import make_export_strategy as make_export_strategy
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.learn.utils")
