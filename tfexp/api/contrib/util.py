"""`tf.contrib.util`: protos and arrays."""

from tfexp.core.gone import missing_from
from tfexp.formats.tensor import make_ndarray as make_ndarray
from tfexp.formats.tensor import make_tensor_proto as make_tensor_proto
from tfexp.graph.unpublished import constant_value_as_shape as constant_value_as_shape
from tfexp.graph.used_ops import ops_used_by_graph_def as ops_used_by_graph_def
from tfexp.graph.used_ops import stripped_op_list_for_graph as stripped_op_list_for_graph
from tfexp.ops.known_value import get_static_value as constant_value

__getattr__ = missing_from("tf.contrib.util")
