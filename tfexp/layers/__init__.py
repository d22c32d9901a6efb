"""`tf.layers`: layers with variables of their own, each kind imported when it is first asked for."""

from typing import TYPE_CHECKING

from tfexp.core.gone import namespace
from tfexp.layers import experimental as experimental

if TYPE_CHECKING:
    from tfexp.keras.engine.input_spec import InputSpec as InputSpec
    from tfexp.layers.base import Layer as Layer
    from tfexp.layers.conv import Conv1D as Conv1D
    from tfexp.layers.conv import Conv2D as Conv2D
    from tfexp.layers.conv import Conv2DTranspose as Conv2DTranspose
    from tfexp.layers.conv import Conv3D as Conv3D
    from tfexp.layers.conv import Conv3DTranspose as Conv3DTranspose
    from tfexp.layers.conv import conv1d as conv1d
    from tfexp.layers.conv import conv2d as conv2d
    from tfexp.layers.conv import conv2d_transpose as conv2d_transpose
    from tfexp.layers.conv import conv3d as conv3d
    from tfexp.layers.conv import conv3d_transpose as conv3d_transpose
    from tfexp.layers.core import Dense as Dense
    from tfexp.layers.core import Dropout as Dropout
    from tfexp.layers.core import Flatten as Flatten
    from tfexp.layers.core import dense as dense
    from tfexp.layers.core import dropout as dropout
    from tfexp.layers.core import flatten as flatten
    from tfexp.layers.normalization import BatchNormalization as BatchNormalization
    from tfexp.layers.normalization import batch_normalization as batch_normalization
    from tfexp.layers.pooling import AveragePooling1D as AveragePooling1D
    from tfexp.layers.pooling import AveragePooling2D as AveragePooling2D
    from tfexp.layers.pooling import AveragePooling3D as AveragePooling3D
    from tfexp.layers.pooling import MaxPooling1D as MaxPooling1D
    from tfexp.layers.pooling import MaxPooling2D as MaxPooling2D
    from tfexp.layers.pooling import MaxPooling3D as MaxPooling3D
    from tfexp.layers.pooling import average_pooling1d as average_pooling1d
    from tfexp.layers.pooling import average_pooling2d as average_pooling2d
    from tfexp.layers.pooling import average_pooling3d as average_pooling3d
    from tfexp.layers.pooling import max_pooling1d as max_pooling1d
    from tfexp.layers.pooling import max_pooling2d as max_pooling2d
    from tfexp.layers.pooling import max_pooling3d as max_pooling3d
    from tfexp.layers.separable import SeparableConv1D as SeparableConv1D
    from tfexp.layers.separable import SeparableConv2D as SeparableConv2D
    from tfexp.layers.separable import separable_conv1d as separable_conv1d
    from tfexp.layers.separable import separable_conv2d as separable_conv2d

__getattr__, __dir__ = namespace("tf.layers", __name__)
