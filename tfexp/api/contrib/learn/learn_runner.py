"""`tf.contrib.learn.learn_runner`: experiments, run."""

from tfexp.contributed.learn.experiment import run as run
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.learn.learn_runner")
