"""`tf.contrib.slim.nets.inception`: Inception."""

from tfexp.contributed.slim_nets.inception_v1 import inception_v1 as inception_v1
from tfexp.contributed.slim_nets.inception_v1 import inception_v1_arg_scope as inception_v1_arg_scope
from tfexp.contributed.slim_nets.inception_v1 import inception_v1_base as inception_v1_base
from tfexp.contributed.slim_nets.inception_v2 import inception_v2 as inception_v2
from tfexp.contributed.slim_nets.inception_v2 import inception_v2_arg_scope as inception_v2_arg_scope
from tfexp.contributed.slim_nets.inception_v2 import inception_v2_base as inception_v2_base
from tfexp.contributed.slim_nets.inception_v3 import inception_v3 as inception_v3
from tfexp.contributed.slim_nets.inception_v3 import inception_v3_arg_scope as inception_v3_arg_scope
from tfexp.contributed.slim_nets.inception_v3 import inception_v3_base as inception_v3_base
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.slim.nets.inception")
