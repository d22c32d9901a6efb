"""`tf.contrib.slim.nets.inception_v1`: Inception 1."""

from tfexp.contributed.slim_nets.inception_v1 import inception_v1 as inception_v1
from tfexp.contributed.slim_nets.inception_v1 import inception_v1_arg_scope as inception_v1_arg_scope
from tfexp.contributed.slim_nets.inception_v1 import inception_v1_base as inception_v1_base
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.slim.nets.inception_v1")
