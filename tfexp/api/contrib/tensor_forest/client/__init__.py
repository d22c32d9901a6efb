"""`tf.contrib.tensor_forest.client`: estimators of forests, and their metrics."""

from tfexp.api.contrib.tensor_forest.client import eval_metrics as eval_metrics
from tfexp.api.contrib.tensor_forest.client import random_forest as random_forest
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.tensor_forest.client")
