"""`tf.xla.experimental`: re-exports."""

from tfexp.core.gone import missing_from
from tfexp.ops.xla import compile as compile
from tfexp.ops.xla import jit_scope as jit_scope

__getattr__ = missing_from("tf.xla.experimental")
