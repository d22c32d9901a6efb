"""The TensorFlow release whose API this is, and the version of GraphDef that it writes. Source: `tf.version`."""

VERSION = "1.15.0"
GIT_VERSION = "unknown"
COMPILER_VERSION = "none"
GRAPH_DEF_VERSION = 134
GRAPH_DEF_VERSION_MIN_CONSUMER = 0
GRAPH_DEF_VERSION_MIN_PRODUCER = 0
