"""`tf.contrib.tensor_forest`: random forests that grow while examples come in."""

from tfexp.api.contrib.tensor_forest import client as client
from tfexp.api.contrib.tensor_forest import python as python
from tfexp.api.contrib.tensor_forest.python import tensor_forest as tensor_forest
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.tensor_forest")
