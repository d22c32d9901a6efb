"""`tf.contrib.tensor_forest.python`: where programs find the graphs of forests."""

from tfexp.api.contrib.tensor_forest.python import tensor_forest as tensor_forest
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.tensor_forest.python")
