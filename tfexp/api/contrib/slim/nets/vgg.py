"""`tf.contrib.slim.nets.vgg`: VGG."""

from tfexp.contributed.slim_nets.vgg import vgg_16 as vgg_16
from tfexp.contributed.slim_nets.vgg import vgg_19 as vgg_19
from tfexp.contributed.slim_nets.vgg import vgg_a as vgg_a
from tfexp.contributed.slim_nets.vgg import vgg_arg_scope as vgg_arg_scope
from tfexp.contributed.slim_nets.vgg import vgg_d as vgg_d
from tfexp.contributed.slim_nets.vgg import vgg_e as vgg_e
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.slim.nets.vgg")
