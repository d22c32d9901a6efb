"""`tf.keras.layers`: the building blocks of models."""

from tfexp.core.gone import missing_from
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
from tfexp.keras.layers.core import Activation as Activation
from tfexp.keras.layers.core import ActivityRegularization as ActivityRegularization
from tfexp.keras.layers.core import Masking as Masking
from tfexp.keras.layers.dense import Dense as Dense
from tfexp.keras.layers.dot import Dot as Dot
from tfexp.keras.layers.dot import dot as dot
from tfexp.keras.layers.dropout import Dropout as Dropout
from tfexp.keras.layers.dropout import SpatialDropout1D as SpatialDropout1D
from tfexp.keras.layers.dropout import SpatialDropout2D as SpatialDropout2D
from tfexp.keras.layers.dropout import SpatialDropout3D as SpatialDropout3D
from tfexp.keras.layers.embeddings import Embedding as Embedding
from tfexp.keras.layers.lambda_layer import Lambda as Lambda
from tfexp.keras.layers.layer_normalization import LayerNormalization as LayerNormalization
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
from tfexp.keras.layers.reshaping import Flatten as Flatten
from tfexp.keras.layers.reshaping import Permute as Permute
from tfexp.keras.layers.reshaping import RepeatVector as RepeatVector
from tfexp.keras.layers.reshaping import Reshape as Reshape
from tfexp.keras.layers.serialization import deserialize as deserialize
from tfexp.keras.layers.serialization import serialize as serialize
from tfexp.keras.layers.wrappers import TimeDistributed as TimeDistributed
from tfexp.keras.layers.wrappers import Wrapper as Wrapper

# It stands above Keras, with the columns that it takes.
__getattr__ = missing_from("tf.keras.layers", {"DenseFeatures": "tfexp.feature_column.dense_features:DenseFeatures"})
