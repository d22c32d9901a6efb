"""`tf.io`: re-exports."""

from tfexp.train.graph_io import write_graph as write_graph
