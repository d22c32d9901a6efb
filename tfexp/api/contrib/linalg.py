"""`tf.contrib.linalg`: the linear operators of `tf.linalg`."""

from tfexp.api.linalg import LINEAR_OPERATORS
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.linalg", LINEAR_OPERATORS)
