"""`tf.contrib.copy_graph`: re-exports."""

from tfexp.contributed.copy_graph import copy_op_to_graph as copy_op_to_graph
from tfexp.contributed.copy_graph import copy_variable_to_graph as copy_variable_to_graph
from tfexp.contributed.copy_graph import get_copied_op as get_copied_op
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.copy_graph")
