"""`tf.graph_util`: GraphDefs: parts of them, variables turned into constants."""

from tfexp.graph.graph_util import convert_variables_to_constants as convert_variables_to_constants
from tfexp.graph.graph_util import extract_sub_graph as extract_sub_graph
from tfexp.graph.graph_util import must_run_on_cpu as must_run_on_cpu
from tfexp.graph.graph_util import remove_training_nodes as remove_training_nodes
from tfexp.graph.graph_util import tensor_shape_from_node_def_name as tensor_shape_from_node_def_name
from tfexp.graph.graphdef import import_graph_def as import_graph_def
