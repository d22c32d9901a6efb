"""`tf.contrib.grid_rnn`: re-exports."""

from tfexp.contributed.rnn.grid import Grid1BasicLSTMCell as Grid1BasicLSTMCell
from tfexp.contributed.rnn.grid import Grid1BasicRNNCell as Grid1BasicRNNCell
from tfexp.contributed.rnn.grid import Grid1LSTMCell as Grid1LSTMCell
from tfexp.contributed.rnn.grid import Grid2BasicLSTMCell as Grid2BasicLSTMCell
from tfexp.contributed.rnn.grid import Grid2BasicRNNCell as Grid2BasicRNNCell
from tfexp.contributed.rnn.grid import Grid2GRUCell as Grid2GRUCell
from tfexp.contributed.rnn.grid import Grid2LSTMCell as Grid2LSTMCell
from tfexp.contributed.rnn.grid import Grid3LSTMCell as Grid3LSTMCell
from tfexp.contributed.rnn.grid import GridRNNCell as GridRNNCell
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.grid_rnn")
