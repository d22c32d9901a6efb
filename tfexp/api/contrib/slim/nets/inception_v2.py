"""`tf.contrib.slim.nets.inception_v2`: Inception 2."""

from tfexp.contributed.slim_nets.inception_v2 import inception_v2 as inception_v2
from tfexp.contributed.slim_nets.inception_v2 import inception_v2_arg_scope as inception_v2_arg_scope
from tfexp.contributed.slim_nets.inception_v2 import inception_v2_base as inception_v2_base
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.slim.nets.inception_v2")
