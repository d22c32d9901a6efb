"""`tf.keras.layers`' classes and functions, by the names under which configs find them.

They are imported when first asked for, because one layer (`tf.layers`, cells of `tf.nn.rnn_cell`) needs few of the others.
"""

from typing import TYPE_CHECKING

from tfexp.core.gone import namespace

if TYPE_CHECKING:
    from tfexp.keras.engine.base_layer import Layer as Layer
    from tfexp.keras.engine.input_layer import Input as Input
    from tfexp.keras.engine.input_layer import InputLayer as InputLayer
    from tfexp.keras.engine.input_spec import InputSpec as InputSpec
    from tfexp.keras.layers.advanced_activations import ELU as ELU
    from tfexp.keras.layers.advanced_activations import LeakyReLU as LeakyReLU
    from tfexp.keras.layers.advanced_activations import PReLU as PReLU
    from tfexp.keras.layers.advanced_activations import ReLU as ReLU
    from tfexp.keras.layers.advanced_activations import Softmax as Softmax
    from tfexp.keras.layers.advanced_activations import ThresholdedReLU as ThresholdedReLU
    from tfexp.keras.layers.attention import AdditiveAttention as AdditiveAttention
    from tfexp.keras.layers.attention import Attention as Attention
    from tfexp.keras.layers.bidirectional import Bidirectional as Bidirectional
    from tfexp.keras.layers.convolutional import Conv1D as Conv1D
    from tfexp.keras.layers.convolutional import Conv2D as Conv2D
    from tfexp.keras.layers.convolutional import Conv3D as Conv3D
    from tfexp.keras.layers.convolutional import Convolution1D as Convolution1D
    from tfexp.keras.layers.convolutional import Convolution2D as Convolution2D
    from tfexp.keras.layers.convolutional import Convolution3D as Convolution3D
    from tfexp.keras.layers.convolutional_recurrent import ConvLSTM2D as ConvLSTM2D
    from tfexp.keras.layers.convolutional_separable import DepthwiseConv2D as DepthwiseConv2D
    from tfexp.keras.layers.convolutional_separable import SeparableConv1D as SeparableConv1D
    from tfexp.keras.layers.convolutional_separable import SeparableConv2D as SeparableConv2D
    from tfexp.keras.layers.convolutional_separable import SeparableConvolution1D as SeparableConvolution1D
    from tfexp.keras.layers.convolutional_separable import SeparableConvolution2D as SeparableConvolution2D
    from tfexp.keras.layers.convolutional_transpose import Conv2DTranspose as Conv2DTranspose
    from tfexp.keras.layers.convolutional_transpose import Conv3DTranspose as Conv3DTranspose
    from tfexp.keras.layers.convolutional_transpose import Convolution2DTranspose as Convolution2DTranspose
    from tfexp.keras.layers.convolutional_transpose import Convolution3DTranspose as Convolution3DTranspose
    from tfexp.keras.layers.core import Activation as Activation
    from tfexp.keras.layers.core import ActivityRegularization as ActivityRegularization
    from tfexp.keras.layers.core import Masking as Masking
    from tfexp.keras.layers.dense import Dense as Dense
    from tfexp.keras.layers.dot_products import Dot as Dot
    from tfexp.keras.layers.dot_products import dot as dot
    from tfexp.keras.layers.dropout import Dropout as Dropout
    from tfexp.keras.layers.dropout import SpatialDropout1D as SpatialDropout1D
    from tfexp.keras.layers.dropout import SpatialDropout2D as SpatialDropout2D
    from tfexp.keras.layers.dropout import SpatialDropout3D as SpatialDropout3D
    from tfexp.keras.layers.embeddings import Embedding as Embedding
    from tfexp.keras.layers.lambda_layer import Lambda as Lambda
    from tfexp.keras.layers.layer_normalization import LayerNormalization as LayerNormalization
    from tfexp.keras.layers.local import LocallyConnected1D as LocallyConnected1D
    from tfexp.keras.layers.local import LocallyConnected2D as LocallyConnected2D
    from tfexp.keras.layers.merge import Add as Add
    from tfexp.keras.layers.merge import Average as Average
    from tfexp.keras.layers.merge import Concatenate as Concatenate
    from tfexp.keras.layers.merge import Maximum as Maximum
    from tfexp.keras.layers.merge import Minimum as Minimum
    from tfexp.keras.layers.merge import Multiply as Multiply
    from tfexp.keras.layers.merge import Subtract as Subtract
    from tfexp.keras.layers.merge import add as add
    from tfexp.keras.layers.merge import average as average
    from tfexp.keras.layers.merge import concatenate as concatenate
    from tfexp.keras.layers.merge import maximum as maximum
    from tfexp.keras.layers.merge import minimum as minimum
    from tfexp.keras.layers.merge import multiply as multiply
    from tfexp.keras.layers.merge import subtract as subtract
    from tfexp.keras.layers.noise import AlphaDropout as AlphaDropout
    from tfexp.keras.layers.noise import GaussianDropout as GaussianDropout
    from tfexp.keras.layers.noise import GaussianNoise as GaussianNoise
    from tfexp.keras.layers.normalization import BatchNormalization as BatchNormalization
    from tfexp.keras.layers.pooling import AveragePooling1D as AveragePooling1D
    from tfexp.keras.layers.pooling import AveragePooling2D as AveragePooling2D
    from tfexp.keras.layers.pooling import AveragePooling3D as AveragePooling3D
    from tfexp.keras.layers.pooling import AvgPool1D as AvgPool1D
    from tfexp.keras.layers.pooling import AvgPool2D as AvgPool2D
    from tfexp.keras.layers.pooling import AvgPool3D as AvgPool3D
    from tfexp.keras.layers.pooling import MaxPool1D as MaxPool1D
    from tfexp.keras.layers.pooling import MaxPool2D as MaxPool2D
    from tfexp.keras.layers.pooling import MaxPool3D as MaxPool3D
    from tfexp.keras.layers.pooling import MaxPooling1D as MaxPooling1D
    from tfexp.keras.layers.pooling import MaxPooling2D as MaxPooling2D
    from tfexp.keras.layers.pooling import MaxPooling3D as MaxPooling3D
    from tfexp.keras.layers.pooling_global import GlobalAveragePooling1D as GlobalAveragePooling1D
    from tfexp.keras.layers.pooling_global import GlobalAveragePooling2D as GlobalAveragePooling2D
    from tfexp.keras.layers.pooling_global import GlobalAveragePooling3D as GlobalAveragePooling3D
    from tfexp.keras.layers.pooling_global import GlobalAvgPool1D as GlobalAvgPool1D
    from tfexp.keras.layers.pooling_global import GlobalAvgPool2D as GlobalAvgPool2D
    from tfexp.keras.layers.pooling_global import GlobalAvgPool3D as GlobalAvgPool3D
    from tfexp.keras.layers.pooling_global import GlobalMaxPool1D as GlobalMaxPool1D
    from tfexp.keras.layers.pooling_global import GlobalMaxPool2D as GlobalMaxPool2D
    from tfexp.keras.layers.pooling_global import GlobalMaxPool3D as GlobalMaxPool3D
    from tfexp.keras.layers.pooling_global import GlobalMaxPooling1D as GlobalMaxPooling1D
    from tfexp.keras.layers.pooling_global import GlobalMaxPooling2D as GlobalMaxPooling2D
    from tfexp.keras.layers.pooling_global import GlobalMaxPooling3D as GlobalMaxPooling3D
    from tfexp.keras.layers.recurrent import RNN as RNN
    from tfexp.keras.layers.recurrent_abstract import AbstractRNNCell as AbstractRNNCell
    from tfexp.keras.layers.recurrent_cudnn import CuDNNGRU as CuDNNGRU
    from tfexp.keras.layers.recurrent_cudnn import CuDNNLSTM as CuDNNLSTM
    from tfexp.keras.layers.recurrent_gru import GRU as GRU
    from tfexp.keras.layers.recurrent_gru import GRUCell as GRUCell
    from tfexp.keras.layers.recurrent_lstm import LSTM as LSTM
    from tfexp.keras.layers.recurrent_lstm import LSTMCell as LSTMCell
    from tfexp.keras.layers.recurrent_lstm import PeepholeLSTMCell as PeepholeLSTMCell
    from tfexp.keras.layers.recurrent_simple import SimpleRNN as SimpleRNN
    from tfexp.keras.layers.recurrent_simple import SimpleRNNCell as SimpleRNNCell
    from tfexp.keras.layers.recurrent_stacked import StackedRNNCells as StackedRNNCells
    from tfexp.keras.layers.reshaping import Flatten as Flatten
    from tfexp.keras.layers.reshaping import Permute as Permute
    from tfexp.keras.layers.reshaping import RepeatVector as RepeatVector
    from tfexp.keras.layers.reshaping import Reshape as Reshape
    from tfexp.keras.layers.serialization import deserialize as deserialize
    from tfexp.keras.layers.serialization import serialize as serialize
    from tfexp.keras.layers.spatial import Cropping1D as Cropping1D
    from tfexp.keras.layers.spatial import Cropping2D as Cropping2D
    from tfexp.keras.layers.spatial import Cropping3D as Cropping3D
    from tfexp.keras.layers.spatial import UpSampling1D as UpSampling1D
    from tfexp.keras.layers.spatial import UpSampling2D as UpSampling2D
    from tfexp.keras.layers.spatial import UpSampling3D as UpSampling3D
    from tfexp.keras.layers.spatial import ZeroPadding1D as ZeroPadding1D
    from tfexp.keras.layers.spatial import ZeroPadding2D as ZeroPadding2D
    from tfexp.keras.layers.spatial import ZeroPadding3D as ZeroPadding3D
    from tfexp.keras.layers.wrappers import TimeDistributed as TimeDistributed
    from tfexp.keras.layers.wrappers import Wrapper as Wrapper

__getattr__, __dir__ = namespace("tf.keras.layers", __name__)
