"""What is reported of a Keras model: numbers that add up over batches. Source: `tf.keras.metrics`, TF 1.15."""

from typing import Any

from tfexp.core import nest
from tfexp.keras.losses.functions import binary_crossentropy as BCE
from tfexp.keras.losses.functions import binary_crossentropy as bce
from tfexp.keras.losses.functions import binary_crossentropy as binary_crossentropy
from tfexp.keras.losses.functions import categorical_crossentropy as categorical_crossentropy
from tfexp.keras.losses.functions import categorical_hinge as categorical_hinge
from tfexp.keras.losses.functions import hinge as hinge
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
from tfexp.keras.metrics.confusion import FalseNegatives as FalseNegatives
from tfexp.keras.metrics.confusion import FalsePositives as FalsePositives
from tfexp.keras.metrics.confusion import Precision as Precision
from tfexp.keras.metrics.confusion import Recall as Recall
from tfexp.keras.metrics.confusion import TrueNegatives as TrueNegatives
from tfexp.keras.metrics.confusion import TruePositives as TruePositives
from tfexp.keras.metrics.curves import AUC as AUC
from tfexp.keras.metrics.curves import SensitivityAtSpecificity as SensitivityAtSpecificity
from tfexp.keras.metrics.curves import SpecificityAtSensitivity as SpecificityAtSensitivity
from tfexp.keras.metrics.functions import accuracy as accuracy
from tfexp.keras.metrics.functions import binary_accuracy as binary_accuracy
from tfexp.keras.metrics.functions import categorical_accuracy as categorical_accuracy
from tfexp.keras.metrics.functions import cosine_proximity as cosine
from tfexp.keras.metrics.functions import cosine_proximity as cosine_proximity
from tfexp.keras.metrics.functions import cosine_proximity as cosine_similarity
from tfexp.keras.metrics.functions import sparse_categorical_accuracy as sparse_categorical_accuracy
from tfexp.keras.metrics.functions import sparse_top_k_categorical_accuracy as sparse_top_k_categorical_accuracy
from tfexp.keras.metrics.functions import top_k_categorical_accuracy as top_k_categorical_accuracy
from tfexp.keras.metrics.iou import MeanIoU as MeanIoU
from tfexp.keras.metrics.means import Mean as Mean
from tfexp.keras.metrics.means import MeanMetricWrapper as MeanMetricWrapper
from tfexp.keras.metrics.means import MeanRelativeError as MeanRelativeError
from tfexp.keras.metrics.means import MeanTensor as MeanTensor
from tfexp.keras.metrics.means import RootMeanSquaredError as RootMeanSquaredError
from tfexp.keras.metrics.means import Sum as Sum
from tfexp.keras.metrics.metric import Metric as Metric
from tfexp.keras.metrics.of_functions import Accuracy as Accuracy
from tfexp.keras.metrics.of_functions import BinaryAccuracy as BinaryAccuracy
from tfexp.keras.metrics.of_functions import BinaryCrossentropy as BinaryCrossentropy
from tfexp.keras.metrics.of_functions import CategoricalAccuracy as CategoricalAccuracy
from tfexp.keras.metrics.of_functions import CategoricalCrossentropy as CategoricalCrossentropy
from tfexp.keras.metrics.of_functions import CategoricalHinge as CategoricalHinge
from tfexp.keras.metrics.of_functions import CosineSimilarity as CosineSimilarity
from tfexp.keras.metrics.of_functions import Hinge as Hinge
from tfexp.keras.metrics.of_functions import KLDivergence as KLDivergence
from tfexp.keras.metrics.of_functions import LogCoshError as LogCoshError
from tfexp.keras.metrics.of_functions import MeanAbsoluteError as MeanAbsoluteError
from tfexp.keras.metrics.of_functions import MeanAbsolutePercentageError as MeanAbsolutePercentageError
from tfexp.keras.metrics.of_functions import MeanSquaredError as MeanSquaredError
from tfexp.keras.metrics.of_functions import MeanSquaredLogarithmicError as MeanSquaredLogarithmicError
from tfexp.keras.metrics.of_functions import Poisson as Poisson
from tfexp.keras.metrics.of_functions import SparseCategoricalAccuracy as SparseCategoricalAccuracy
from tfexp.keras.metrics.of_functions import SparseCategoricalCrossentropy as SparseCategoricalCrossentropy
from tfexp.keras.metrics.of_functions import SparseTopKCategoricalAccuracy as SparseTopKCategoricalAccuracy
from tfexp.keras.metrics.of_functions import SquaredHinge as SquaredHinge
from tfexp.keras.metrics.of_functions import TopKCategoricalAccuracy as TopKCategoricalAccuracy
from tfexp.keras.serialization import deserialize_keras_object, serialize_keras_object


def clone_metric(metric: Any) -> Any:
    """A metric of the same configuration, with variables of its own; what is none, as it is."""
    return type(metric).from_config(metric.get_config()) if isinstance(metric, Metric) else metric


def clone_metrics(metrics: Any) -> Any:
    """`clone_metric` of each in a structure."""
    return nest.map_structure(clone_metric, metrics)


def serialize(metric: Any) -> Any:
    """The class's name and configuration of an object, the name of a function."""
    return serialize_keras_object(metric)


def deserialize(config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """The metric that a name or configuration describes. ValueError for unknown ones."""
    return deserialize_keras_object(config, globals(), custom_objects, "metric function")


def get(identifier: Any) -> Any:
    """A metric of a name or configuration; what can be called as it is. ValueError for anything else."""
    if isinstance(identifier, (str, dict)):
        return deserialize(identifier)
    if callable(identifier):
        return identifier
    raise ValueError(f"Could not interpret metric function identifier: {identifier}")
