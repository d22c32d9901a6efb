"""`tf.contrib.slim.nets.resnet_v2`: residual models with normalization first."""

from tfexp.api.contrib.slim.nets import resnet_utils as resnet_utils
from tfexp.contributed.slim_nets.resnet_utils import Block as Block
from tfexp.contributed.slim_nets.resnet_utils import resnet_arg_scope as resnet_arg_scope
from tfexp.contributed.slim_nets.resnet_v2 import bottleneck as bottleneck
from tfexp.contributed.slim_nets.resnet_v2 import resnet_v2 as resnet_v2
from tfexp.contributed.slim_nets.resnet_v2 import resnet_v2_50 as resnet_v2_50
from tfexp.contributed.slim_nets.resnet_v2 import resnet_v2_101 as resnet_v2_101
from tfexp.contributed.slim_nets.resnet_v2 import resnet_v2_152 as resnet_v2_152
from tfexp.contributed.slim_nets.resnet_v2 import resnet_v2_200 as resnet_v2_200
from tfexp.contributed.slim_nets.resnet_v2 import resnet_v2_block as resnet_v2_block
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.slim.nets.resnet_v2")
