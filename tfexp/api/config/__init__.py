"""`tf.config`: re-exports."""

from tfexp.core.gone import missing_from
from tfexp.functions.function import run_functions_eagerly as experimental_run_functions_eagerly

__getattr__ = missing_from("tf.config")
