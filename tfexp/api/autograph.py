"""`tf.autograph`: re-exports."""

from tfexp.api import autograph_experimental as experimental
from tfexp.autograph.inspection import to_code as to_code
from tfexp.autograph.inspection import to_graph as to_graph
from tfexp.autograph.verbosity import set_verbosity as set_verbosity
from tfexp.autograph.verbosity import trace as trace
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.autograph")
