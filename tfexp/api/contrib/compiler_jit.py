"""`tf.contrib.compiler.jit`."""

from tfexp.core.gone import missing_from
from tfexp.ops.xla import jit_scope as experimental_jit_scope

__all__ = ["experimental_jit_scope"]

__getattr__ = missing_from("tf.contrib.compiler.jit")
