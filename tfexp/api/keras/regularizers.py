"""`tf.keras.regularizers`: penalties on weights and outputs."""

from tfexp.core.gone import missing_from
from tfexp.keras.regularizers import L1L2 as L1L2
from tfexp.keras.regularizers import Regularizer as Regularizer
from tfexp.keras.regularizers import deserialize as deserialize
from tfexp.keras.regularizers import get as get
from tfexp.keras.regularizers import l1 as l1
from tfexp.keras.regularizers import l1_l2 as l1_l2
from tfexp.keras.regularizers import l2 as l2
from tfexp.keras.regularizers import serialize as serialize

__getattr__ = missing_from("tf.keras.regularizers")
