"""`tf.contrib.recurrent`: re-exports."""

from tfexp.contributed.rnn.functional import bidirectional_functional_rnn as bidirectional_functional_rnn
from tfexp.contributed.rnn.functional import functional_rnn as functional_rnn
from tfexp.contributed.rnn.recurrent import Recurrent as Recurrent
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.recurrent")
