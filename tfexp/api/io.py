"""`tf.io`: re-exports."""

from tfexp.core.gone import missing_from
from tfexp.train.graph_io import write_graph as write_graph

__getattr__ = missing_from("tf.io")
