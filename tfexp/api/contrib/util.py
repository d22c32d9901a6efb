"""`tf.contrib.util`: protos and arrays."""

from tfexp.core.gone import missing_from
from tfexp.formats.tensor import make_ndarray as make_ndarray
from tfexp.formats.tensor import make_tensor_proto as make_tensor_proto
from tfexp.graph.constant_value import constant_value as constant_value
from tfexp.graph.unpublished import constant_value_as_shape as constant_value_as_shape

__getattr__ = missing_from("tf.contrib.util")
