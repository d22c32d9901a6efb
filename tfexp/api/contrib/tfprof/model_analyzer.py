"""`tf.contrib.tfprof.model_analyzer`: profiles of graphs and of runs, and which."""

from tfexp.contributed.model_analysis import FLOAT_OPS_OPTIONS as FLOAT_OPS_OPTIONS
from tfexp.contributed.model_analysis import PRINT_ALL_TIMING_MEMORY as PRINT_ALL_TIMING_MEMORY
from tfexp.contributed.model_analysis import TRAINABLE_VARS_PARAMS_STAT_OPTIONS as TRAINABLE_VARS_PARAMS_STAT_OPTIONS
from tfexp.contributed.model_analysis import advise as advise
from tfexp.contributed.model_analysis import print_model_analysis as print_model_analysis
from tfexp.core.gone import missing_from
from tfexp.profiler import Profiler as Profiler

__getattr__ = missing_from("tf.contrib.tfprof.model_analyzer")
