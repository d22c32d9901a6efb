"""`tf.contrib.slim.nets.inception_v3`: Inception 3."""

from tfexp.contributed.slim_nets.inception_v3 import inception_v3 as inception_v3
from tfexp.contributed.slim_nets.inception_v3 import inception_v3_arg_scope as inception_v3_arg_scope
from tfexp.contributed.slim_nets.inception_v3 import inception_v3_base as inception_v3_base
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.slim.nets.inception_v3")
