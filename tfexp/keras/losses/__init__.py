"""What a Keras model minimises: functions of targets and predictions. Source: `tf.keras.losses`, TF 1.15."""

from typing import Any

from tfexp.keras.losses.classes import BinaryCrossentropy as BinaryCrossentropy
from tfexp.keras.losses.classes import CategoricalCrossentropy as CategoricalCrossentropy
from tfexp.keras.losses.classes import CategoricalHinge as CategoricalHinge
from tfexp.keras.losses.classes import CosineSimilarity as CosineSimilarity
from tfexp.keras.losses.classes import Hinge as Hinge
from tfexp.keras.losses.classes import Huber as Huber
from tfexp.keras.losses.classes import KLDivergence as KLDivergence
from tfexp.keras.losses.classes import LogCosh as LogCosh
from tfexp.keras.losses.classes import MeanAbsoluteError as MeanAbsoluteError
from tfexp.keras.losses.classes import MeanAbsolutePercentageError as MeanAbsolutePercentageError
from tfexp.keras.losses.classes import MeanSquaredError as MeanSquaredError
from tfexp.keras.losses.classes import MeanSquaredLogarithmicError as MeanSquaredLogarithmicError
from tfexp.keras.losses.classes import Poisson as Poisson
from tfexp.keras.losses.classes import SparseCategoricalCrossentropy as SparseCategoricalCrossentropy
from tfexp.keras.losses.classes import SquaredHinge as SquaredHinge
from tfexp.keras.losses.functions import binary_crossentropy as BCE
from tfexp.keras.losses.functions import binary_crossentropy as bce
from tfexp.keras.losses.functions import binary_crossentropy as binary_crossentropy
from tfexp.keras.losses.functions import categorical_crossentropy as categorical_crossentropy
from tfexp.keras.losses.functions import categorical_hinge as categorical_hinge
from tfexp.keras.losses.functions import cosine_proximity as cosine
from tfexp.keras.losses.functions import cosine_proximity as cosine_proximity
from tfexp.keras.losses.functions import cosine_proximity as cosine_similarity
from tfexp.keras.losses.functions import hinge as hinge
from tfexp.keras.losses.functions import huber_loss as huber_loss
from tfexp.keras.losses.functions import kullback_leibler_divergence as KLD
from tfexp.keras.losses.functions import kullback_leibler_divergence as kld
from tfexp.keras.losses.functions import kullback_leibler_divergence as kullback_leibler_divergence
from tfexp.keras.losses.functions import logcosh as logcosh
from tfexp.keras.losses.functions import mean_absolute_error as MAE
from tfexp.keras.losses.functions import mean_absolute_error as mae
from tfexp.keras.losses.functions import mean_absolute_error as mean_absolute_error
from tfexp.keras.losses.functions import mean_absolute_percentage_error as MAPE
from tfexp.keras.losses.functions import mean_absolute_percentage_error as mape
from tfexp.keras.losses.functions import mean_absolute_percentage_error as mean_absolute_percentage_error
from tfexp.keras.losses.functions import mean_squared_error as MSE
from tfexp.keras.losses.functions import mean_squared_error as mean_squared_error
from tfexp.keras.losses.functions import mean_squared_error as mse
from tfexp.keras.losses.functions import mean_squared_logarithmic_error as MSLE
from tfexp.keras.losses.functions import mean_squared_logarithmic_error as mean_squared_logarithmic_error
from tfexp.keras.losses.functions import mean_squared_logarithmic_error as msle
from tfexp.keras.losses.functions import poisson as poisson
from tfexp.keras.losses.functions import sparse_categorical_crossentropy as sparse_categorical_crossentropy
from tfexp.keras.losses.functions import squared_hinge as squared_hinge
from tfexp.keras.losses.loss import Loss as Loss
from tfexp.keras.losses.loss import LossFunctionWrapper as LossFunctionWrapper
from tfexp.keras.losses.weighted import Reduction as Reduction
from tfexp.keras.losses.weighted import compute_weighted_loss as compute_weighted_loss
from tfexp.keras.losses.weighted import reduce_weighted_loss as reduce_weighted_loss
from tfexp.keras.serialization import deserialize_keras_object, serialize_keras_object


def serialize(loss: Any) -> Any:
    """The class's name and configuration of an object, the name of a function."""
    return serialize_keras_object(loss)


def deserialize(name: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """The loss that a name or configuration describes. ValueError for unknown ones."""
    return deserialize_keras_object(name, globals(), custom_objects, "loss function")


def get(identifier: Any) -> Any:
    """A loss of a name or configuration; what can be called as it is; None of None. ValueError for anything else."""
    if identifier is None or callable(identifier):
        return identifier
    if isinstance(identifier, (str, dict)):
        return deserialize(identifier)
    raise ValueError("Could not interpret loss function identifier:", identifier)
