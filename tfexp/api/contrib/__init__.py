"""`tf.contrib`: the parts that tfexp has."""

from tfexp.api.contrib import eager as eager
from tfexp.api.contrib import layers as layers
from tfexp.api.contrib import legacy_seq2seq as legacy_seq2seq
from tfexp.api.contrib import lookup as lookup
from tfexp.api.contrib import rnn as rnn
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib")
