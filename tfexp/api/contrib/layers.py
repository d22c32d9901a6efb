"""`tf.contrib.layers`: weight regularizers and initializers that scale with a layer's size (V2, V4)."""

from tfexp.layers.regularizers import l1_l2_regularizer as l1_l2_regularizer
from tfexp.layers.regularizers import l1_regularizer as l1_regularizer
from tfexp.layers.regularizers import l2_regularizer as l2_regularizer
from tfexp.layers.regularizers import variance_scaling_initializer as variance_scaling_initializer
from tfexp.layers.regularizers import xavier_initializer as xavier_initializer
