"""`tf.contrib.compiler`: compiling parts of a graph."""

from tfexp.api.contrib import compiler_jit as jit
from tfexp.api.xla import experimental as xla
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.compiler")
