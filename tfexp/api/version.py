"""`tf.version`: the TensorFlow release whose API this is, and the versions of GraphDef that it writes and reads."""

from tfexp.graph.versions import COMPILER_VERSION as COMPILER_VERSION
from tfexp.graph.versions import GIT_VERSION as GIT_VERSION
from tfexp.graph.versions import GRAPH_DEF_VERSION as GRAPH_DEF_VERSION
from tfexp.graph.versions import GRAPH_DEF_VERSION_MIN_CONSUMER as GRAPH_DEF_VERSION_MIN_CONSUMER
from tfexp.graph.versions import GRAPH_DEF_VERSION_MIN_PRODUCER as GRAPH_DEF_VERSION_MIN_PRODUCER
from tfexp.graph.versions import VERSION as VERSION
