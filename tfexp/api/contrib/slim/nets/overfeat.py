"""`tf.contrib.slim.nets.overfeat`: OverFeat."""

from tfexp.contributed.slim_nets.overfeat import overfeat as overfeat
from tfexp.contributed.slim_nets.overfeat import overfeat_arg_scope as overfeat_arg_scope
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.slim.nets.overfeat")
