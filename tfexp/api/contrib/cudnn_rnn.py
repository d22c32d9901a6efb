"""`tf.contrib.cudnn_rnn`: cells that compute what cuDNN's networks do."""

from tfexp.contributed.rnn.cudnn import CudnnCompatibleGRUCell as CudnnCompatibleGRUCell
from tfexp.contributed.rnn.cudnn import CudnnCompatibleLSTMCell as CudnnCompatibleLSTMCell
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.cudnn_rnn")
