"""`tf.keras.activations`: functions between layers."""

from tfexp.core.gone import missing_from
from tfexp.keras.activations import deserialize as deserialize
from tfexp.keras.activations import elu as elu
from tfexp.keras.activations import exponential as exponential
from tfexp.keras.activations import get as get
from tfexp.keras.activations import hard_sigmoid as hard_sigmoid
from tfexp.keras.activations import linear as linear
from tfexp.keras.activations import relu as relu
from tfexp.keras.activations import selu as selu
from tfexp.keras.activations import serialize as serialize
from tfexp.keras.activations import sigmoid as sigmoid
from tfexp.keras.activations import softmax as softmax
from tfexp.keras.activations import softplus as softplus
from tfexp.keras.activations import softsign as softsign
from tfexp.keras.activations import tanh as tanh

__getattr__ = missing_from("tf.keras.activations")
