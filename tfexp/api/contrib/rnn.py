"""`tf.contrib.rnn`: recurrent networks and their cells."""

from tfexp.api.rnn_cell import BasicLSTMCell as BasicLSTMCell
from tfexp.api.rnn_cell import BasicRNNCell as BasicRNNCell
from tfexp.api.rnn_cell import DeviceWrapper as DeviceWrapper
from tfexp.api.rnn_cell import DropoutWrapper as DropoutWrapper
from tfexp.api.rnn_cell import GRUCell as GRUCell
from tfexp.api.rnn_cell import LSTMCell as LSTMCell
from tfexp.api.rnn_cell import LSTMStateTuple as LSTMStateTuple
from tfexp.api.rnn_cell import MultiRNNCell as MultiRNNCell
from tfexp.api.rnn_cell import ResidualWrapper as ResidualWrapper
from tfexp.api.rnn_cell import RNNCell as RNNCell
from tfexp.contributed.stacked_rnn import stack_bidirectional_dynamic_rnn as stack_bidirectional_dynamic_rnn
from tfexp.contributed.stacked_rnn import stack_bidirectional_rnn as stack_bidirectional_rnn
from tfexp.core.gone import missing_from
from tfexp.layers.rnn_dynamic import bidirectional_dynamic_rnn as bidirectional_dynamic_rnn
from tfexp.layers.rnn_dynamic import dynamic_rnn as dynamic_rnn
from tfexp.layers.rnn_static import static_bidirectional_rnn as static_bidirectional_rnn
from tfexp.layers.rnn_static import static_rnn as static_rnn
from tfexp.layers.rnn_static import static_state_saving_rnn as static_state_saving_rnn

__getattr__ = missing_from("tf.contrib.rnn")
