"""`tf.nn.rnn_cell`: cells of recurrent networks."""

from tfexp.layers.rnn_cell import BasicRNNCell as BasicRNNCell
from tfexp.layers.rnn_cell import GRUCell as GRUCell
from tfexp.layers.rnn_cell import RNNCell as RNNCell
from tfexp.layers.rnn_lstm import BasicLSTMCell as BasicLSTMCell
from tfexp.layers.rnn_lstm import LSTMCell as LSTMCell
from tfexp.layers.rnn_lstm import LSTMStateTuple as LSTMStateTuple
from tfexp.layers.rnn_wrappers import DeviceWrapper as DeviceWrapper
from tfexp.layers.rnn_wrappers import DropoutWrapper as DropoutWrapper
from tfexp.layers.rnn_wrappers import MultiRNNCell as MultiRNNCell
from tfexp.layers.rnn_wrappers import ResidualWrapper as ResidualWrapper
