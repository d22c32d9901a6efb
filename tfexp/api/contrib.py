"""`tf.contrib`: the parts that tfexp has, as re-exports."""

from types import SimpleNamespace

from tfexp.api import rnn_cell
from tfexp.layers.regularizers import l1_regularizer, l2_regularizer, xavier_initializer
from tfexp.layers.rnn_dynamic import bidirectional_dynamic_rnn, dynamic_rnn
from tfexp.layers.rnn_static import static_bidirectional_rnn, static_rnn, static_state_saving_rnn
from tfexp.layers.sequence_loss import sequence_loss, sequence_loss_by_example

rnn = SimpleNamespace(
    BasicLSTMCell=rnn_cell.BasicLSTMCell,
    BasicRNNCell=rnn_cell.BasicRNNCell,
    DeviceWrapper=rnn_cell.DeviceWrapper,
    DropoutWrapper=rnn_cell.DropoutWrapper,
    GRUCell=rnn_cell.GRUCell,
    LSTMCell=rnn_cell.LSTMCell,
    LSTMStateTuple=rnn_cell.LSTMStateTuple,
    MultiRNNCell=rnn_cell.MultiRNNCell,
    RNNCell=rnn_cell.RNNCell,
    ResidualWrapper=rnn_cell.ResidualWrapper,
    bidirectional_dynamic_rnn=bidirectional_dynamic_rnn,
    dynamic_rnn=dynamic_rnn,
    static_bidirectional_rnn=static_bidirectional_rnn,
    static_rnn=static_rnn,
    static_state_saving_rnn=static_state_saving_rnn,
)
layers = SimpleNamespace(
    l1_regularizer=l1_regularizer,
    l2_regularizer=l2_regularizer,
    xavier_initializer=xavier_initializer,
)
legacy_seq2seq = SimpleNamespace(
    sequence_loss=sequence_loss,
    sequence_loss_by_example=sequence_loss_by_example,
)
