"""`tf.contrib.cudnn_rnn`: cuDNN's networks, and cells that compute what these do."""

from tfexp.contributed.rnn.cudnn import CudnnCompatibleGRUCell as CudnnCompatibleGRUCell
from tfexp.contributed.rnn.cudnn import CudnnCompatibleLSTMCell as CudnnCompatibleLSTMCell
from tfexp.contributed.rnn.cudnn_layers import CudnnGRU as CudnnGRU
from tfexp.contributed.rnn.cudnn_layers import CudnnLSTM as CudnnLSTM
from tfexp.contributed.rnn.cudnn_layers import CudnnRNNRelu as CudnnRNNRelu
from tfexp.contributed.rnn.cudnn_layers import CudnnRNNTanh as CudnnRNNTanh
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.cudnn_rnn")
