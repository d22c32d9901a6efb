"""`tf.bitwise`: bit operations on whole numbers."""

from tfexp.core.gone import missing_from
from tfexp.ops.logical import bitwise_and as bitwise_and
from tfexp.ops.logical import bitwise_or as bitwise_or
from tfexp.ops.logical import bitwise_xor as bitwise_xor
from tfexp.ops.logical import invert as invert
from tfexp.ops.logical import left_shift as left_shift
from tfexp.ops.logical import right_shift as right_shift

__getattr__ = missing_from("tf.bitwise")
