"""`tf.contrib.slim.nets.resnet_utils`: what residual models are built from."""

from tfexp.contributed.slim_nets.resnet_utils import Block as Block
from tfexp.contributed.slim_nets.resnet_utils import conv2d_same as conv2d_same
from tfexp.contributed.slim_nets.resnet_utils import resnet_arg_scope as resnet_arg_scope
from tfexp.contributed.slim_nets.resnet_utils import stack_blocks_dense as stack_blocks_dense
from tfexp.contributed.slim_nets.resnet_utils import subsample as subsample
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.slim.nets.resnet_utils")
