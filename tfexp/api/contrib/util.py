"""`tf.contrib.util`: protos and arrays."""

from tfexp.core.gone import missing_from
from tfexp.formats.tensor import make_ndarray as make_ndarray
from tfexp.formats.tensor import make_tensor_proto as make_tensor_proto
from tfexp.graph.unpublished import constant_value_as_shape as constant_value_as_shape
from tfexp.ops.known_value import get_static_value as constant_value

__getattr__ = missing_from("tf.contrib.util")
