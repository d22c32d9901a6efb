"""`tf.keras.initializers`: initial values of weights."""

from tfexp.core.gone import missing_from
from tfexp.keras.initializers import Constant as Constant
from tfexp.keras.initializers import Identity as Identity
from tfexp.keras.initializers import Initializer as Initializer
from tfexp.keras.initializers import Ones as Ones
from tfexp.keras.initializers import Orthogonal as Orthogonal
from tfexp.keras.initializers import RandomNormal as RandomNormal
from tfexp.keras.initializers import RandomUniform as RandomUniform
from tfexp.keras.initializers import TruncatedNormal as TruncatedNormal
from tfexp.keras.initializers import VarianceScaling as VarianceScaling
from tfexp.keras.initializers import Zeros as Zeros
from tfexp.keras.initializers import constant as constant
from tfexp.keras.initializers import deserialize as deserialize
from tfexp.keras.initializers import get as get
from tfexp.keras.initializers import glorot_normal as glorot_normal
from tfexp.keras.initializers import glorot_uniform as glorot_uniform
from tfexp.keras.initializers import he_normal as he_normal
from tfexp.keras.initializers import he_uniform as he_uniform
from tfexp.keras.initializers import identity as identity
from tfexp.keras.initializers import lecun_normal as lecun_normal
from tfexp.keras.initializers import lecun_uniform as lecun_uniform
from tfexp.keras.initializers import normal as normal
from tfexp.keras.initializers import ones as ones
from tfexp.keras.initializers import orthogonal as orthogonal
from tfexp.keras.initializers import random_normal as random_normal
from tfexp.keras.initializers import random_uniform as random_uniform
from tfexp.keras.initializers import serialize as serialize
from tfexp.keras.initializers import truncated_normal as truncated_normal
from tfexp.keras.initializers import uniform as uniform
from tfexp.keras.initializers import zeros as zeros

__getattr__ = missing_from("tf.keras.initializers")
