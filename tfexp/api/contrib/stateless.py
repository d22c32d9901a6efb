"""`tf.contrib.stateless`: random numbers that depend on a seed alone."""

from tfexp.core.gone import missing_from
from tfexp.ops.random_stateless import stateless_multinomial as stateless_multinomial
from tfexp.ops.random_stateless import stateless_normal as stateless_random_normal
from tfexp.ops.random_stateless import stateless_truncated_normal as stateless_truncated_normal
from tfexp.ops.random_stateless import stateless_uniform as stateless_random_uniform

__getattr__ = missing_from("tf.contrib.stateless")
