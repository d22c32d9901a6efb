"""`tf.contrib.tfprof`: profiles of graphs and of runs, as `tf.profiler` has them by now."""

from tfexp.api.contrib.tfprof import model_analyzer as model_analyzer
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.tfprof")
