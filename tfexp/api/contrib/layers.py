"""`tf.contrib.layers`: re-exports."""

from tfexp.core.gone import missing_from
from tfexp.layers.regularizers import l1_regularizer as l1_regularizer
from tfexp.layers.regularizers import l2_regularizer as l2_regularizer
from tfexp.layers.regularizers import xavier_initializer as xavier_initializer

__getattr__ = missing_from("tf.contrib.layers")
