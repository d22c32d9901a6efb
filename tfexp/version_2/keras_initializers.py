"""What `tf.compat.v2.keras.initializers` has of its own."""

from tfexp.ops.initializers_v2 import *  # noqa: F403
from tfexp.ops.initializers_v2 import Constant as constant
from tfexp.ops.initializers_v2 import GlorotNormal as glorot_normal
from tfexp.ops.initializers_v2 import GlorotUniform as glorot_uniform
from tfexp.ops.initializers_v2 import Identity as identity
from tfexp.ops.initializers_v2 import Ones as ones
from tfexp.ops.initializers_v2 import Orthogonal as orthogonal
from tfexp.ops.initializers_v2 import Zeros as zeros
