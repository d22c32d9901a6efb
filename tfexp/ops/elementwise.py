"""The element-wise families under one roof, for those who use several of them. Re-exports, no logic."""

from tfexp.ops.cast import *  # noqa: F403
from tfexp.ops.comparison import *  # noqa: F403
from tfexp.ops.complex_numbers import *  # noqa: F403
from tfexp.ops.elementwise_binary import *  # noqa: F403
from tfexp.ops.elementwise_division import *  # noqa: F403
from tfexp.ops.elementwise_unary import *  # noqa: F403
from tfexp.ops.logical import *  # noqa: F403
