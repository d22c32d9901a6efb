"""`tf.contrib.autograph`: re-exports."""

from tfexp.autograph import to_code as to_code
from tfexp.autograph import to_graph as to_graph
from tfexp.autograph.experimental import do_not_convert as do_not_convert
from tfexp.autograph.experimental import set_loop_options as set_loop_options
from tfexp.autograph.feature import Feature as Feature
from tfexp.contributed.converting import convert as convert
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.autograph")
