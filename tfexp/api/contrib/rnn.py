"""`tf.contrib.rnn`: older names of `tf.nn.rnn_cell` and `tf.nn` (O6)."""

from tfexp.api.nn import static_bidirectional_rnn as static_bidirectional_rnn
from tfexp.api.nn import static_rnn as static_rnn
from tfexp.api.rnn_cell import BasicLSTMCell as BasicLSTMCell
from tfexp.api.rnn_cell import BasicRNNCell as BasicRNNCell
from tfexp.api.rnn_cell import DropoutWrapper as DropoutWrapper
from tfexp.api.rnn_cell import GRUCell as GRUCell
from tfexp.api.rnn_cell import LSTMCell as LSTMCell
from tfexp.api.rnn_cell import LSTMStateTuple as LSTMStateTuple
from tfexp.api.rnn_cell import MultiRNNCell as MultiRNNCell
from tfexp.api.rnn_cell import RNNCell as RNNCell
