"""`tf.contrib.learn.utils.saved_model_export_utils`: exports of experiments."""

from tfexp.contributed.learn.exporting import make_export_strategy as make_export_strategy
from tfexp.contributed.learn.exporting import make_parsing_export_strategy as make_parsing_export_strategy
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.learn.utils.saved_model_export_utils")
