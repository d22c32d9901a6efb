"""`tf.contrib.slim.nets.resnet_v1`: residual models."""

from tfexp.api.contrib.slim.nets import resnet_utils as resnet_utils
from tfexp.contributed.slim_nets.resnet_utils import Block as Block
from tfexp.contributed.slim_nets.resnet_utils import resnet_arg_scope as resnet_arg_scope
from tfexp.contributed.slim_nets.resnet_v1 import bottleneck as bottleneck
from tfexp.contributed.slim_nets.resnet_v1 import resnet_v1 as resnet_v1
from tfexp.contributed.slim_nets.resnet_v1 import resnet_v1_50 as resnet_v1_50
from tfexp.contributed.slim_nets.resnet_v1 import resnet_v1_101 as resnet_v1_101
from tfexp.contributed.slim_nets.resnet_v1 import resnet_v1_152 as resnet_v1_152
from tfexp.contributed.slim_nets.resnet_v1 import resnet_v1_200 as resnet_v1_200
from tfexp.contributed.slim_nets.resnet_v1 import resnet_v1_block as resnet_v1_block
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.slim.nets.resnet_v1")
