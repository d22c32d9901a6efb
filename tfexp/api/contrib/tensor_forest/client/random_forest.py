"""`tf.contrib.tensor_forest.client.random_forest`: estimators of forests."""

from tfexp.contributed.tensor_forest.estimators import CoreTensorForestEstimator as CoreTensorForestEstimator
from tfexp.contributed.tensor_forest.estimators import MultiForestMultiHeadEstimator as MultiForestMultiHeadEstimator
from tfexp.contributed.tensor_forest.estimators import TensorForestEstimator as TensorForestEstimator
from tfexp.contributed.tensor_forest.hooks import LOSS_NAME as LOSS_NAME
from tfexp.contributed.tensor_forest.hooks import TensorForestLossHook as TensorForestLossHook
from tfexp.contributed.tensor_forest.hooks import TensorForestRunOpAtEndHook as TensorForestRunOpAtEndHook
from tfexp.contributed.tensor_forest.model import ALL_SERVING_KEY as ALL_SERVING_KEY
from tfexp.contributed.tensor_forest.model import EPSILON as EPSILON
from tfexp.contributed.tensor_forest.model import KEYS_NAME as KEYS_NAME
from tfexp.contributed.tensor_forest.model import TREE_PATHS_PREDICTION_KEY as TREE_PATHS_PREDICTION_KEY
from tfexp.contributed.tensor_forest.model import VARIANCE_PREDICTION_KEY as VARIANCE_PREDICTION_KEY
from tfexp.contributed.tensor_forest.model import ModelBuilderOutputType as ModelBuilderOutputType
from tfexp.contributed.tensor_forest.model import get_combined_model_fn as get_combined_model_fn
from tfexp.contributed.tensor_forest.model import get_model_fn as get_model_fn
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.tensor_forest.client.random_forest")
