"""`tf.autograph.experimental`: re-exports."""

from tfexp.autograph.directives import do_not_convert as do_not_convert
from tfexp.autograph.directives import set_loop_options as set_loop_options
from tfexp.autograph.feature import Feature as Feature
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.autograph.experimental")
