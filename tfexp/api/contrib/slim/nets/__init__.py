"""`tf.contrib.slim.nets`: well-known models of images."""

from tfexp.api.contrib.slim.nets import alexnet as alexnet
from tfexp.api.contrib.slim.nets import inception as inception
from tfexp.api.contrib.slim.nets import inception_v1 as inception_v1
from tfexp.api.contrib.slim.nets import inception_v2 as inception_v2
from tfexp.api.contrib.slim.nets import inception_v3 as inception_v3
from tfexp.api.contrib.slim.nets import overfeat as overfeat
from tfexp.api.contrib.slim.nets import resnet_utils as resnet_utils
from tfexp.api.contrib.slim.nets import resnet_v1 as resnet_v1
from tfexp.api.contrib.slim.nets import resnet_v2 as resnet_v2
from tfexp.api.contrib.slim.nets import vgg as vgg
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.slim.nets")
