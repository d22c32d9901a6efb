"""`tf.keras.losses`."""

from tfexp.core.gone import missing_from
from tfexp.keras.losses import KLD as KLD
from tfexp.keras.losses import MAE as MAE
from tfexp.keras.losses import MAPE as MAPE
from tfexp.keras.losses import MSE as MSE
from tfexp.keras.losses import MSLE as MSLE
from tfexp.keras.losses import BinaryCrossentropy as BinaryCrossentropy
from tfexp.keras.losses import CategoricalCrossentropy as CategoricalCrossentropy
from tfexp.keras.losses import CategoricalHinge as CategoricalHinge
from tfexp.keras.losses import CosineSimilarity as CosineSimilarity
from tfexp.keras.losses import Hinge as Hinge
from tfexp.keras.losses import Huber as Huber
from tfexp.keras.losses import KLDivergence as KLDivergence
from tfexp.keras.losses import LogCosh as LogCosh
from tfexp.keras.losses import Loss as Loss
from tfexp.keras.losses import MeanAbsoluteError as MeanAbsoluteError
from tfexp.keras.losses import MeanAbsolutePercentageError as MeanAbsolutePercentageError
from tfexp.keras.losses import MeanSquaredError as MeanSquaredError
from tfexp.keras.losses import MeanSquaredLogarithmicError as MeanSquaredLogarithmicError
from tfexp.keras.losses import Poisson as Poisson
from tfexp.keras.losses import SparseCategoricalCrossentropy as SparseCategoricalCrossentropy
from tfexp.keras.losses import SquaredHinge as SquaredHinge
from tfexp.keras.losses import binary_crossentropy as binary_crossentropy
from tfexp.keras.losses import categorical_crossentropy as categorical_crossentropy
from tfexp.keras.losses import categorical_hinge as categorical_hinge
from tfexp.keras.losses import cosine as cosine
from tfexp.keras.losses import cosine_proximity as cosine_proximity
from tfexp.keras.losses import cosine_similarity as cosine_similarity
from tfexp.keras.losses import deserialize as deserialize
from tfexp.keras.losses import get as get
from tfexp.keras.losses import hinge as hinge
from tfexp.keras.losses import kld as kld
from tfexp.keras.losses import kullback_leibler_divergence as kullback_leibler_divergence
from tfexp.keras.losses import logcosh as logcosh
from tfexp.keras.losses import mae as mae
from tfexp.keras.losses import mape as mape
from tfexp.keras.losses import mean_absolute_error as mean_absolute_error
from tfexp.keras.losses import mean_absolute_percentage_error as mean_absolute_percentage_error
from tfexp.keras.losses import mean_squared_error as mean_squared_error
from tfexp.keras.losses import mean_squared_logarithmic_error as mean_squared_logarithmic_error
from tfexp.keras.losses import mse as mse
from tfexp.keras.losses import msle as msle
from tfexp.keras.losses import poisson as poisson
from tfexp.keras.losses import serialize as serialize
from tfexp.keras.losses import sparse_categorical_crossentropy as sparse_categorical_crossentropy
from tfexp.keras.losses import squared_hinge as squared_hinge

__getattr__ = missing_from("tf.keras.losses")
