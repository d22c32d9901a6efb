"""`tf.contrib.slim.nets.alexnet`: AlexNet."""

from tfexp.contributed.slim_nets.alexnet import alexnet_v2 as alexnet_v2
from tfexp.contributed.slim_nets.alexnet import alexnet_v2_arg_scope as alexnet_v2_arg_scope
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.slim.nets.alexnet")
