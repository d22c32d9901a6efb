"""`tf.contrib.eager.metrics`: re-exports."""

from tfexp.contributed.eager_metrics import Accuracy as Accuracy
from tfexp.contributed.eager_metrics import BinaryAccuracy as BinaryAccuracy
from tfexp.contributed.eager_metrics import CategoricalAccuracy as CategoricalAccuracy
from tfexp.contributed.eager_metrics import Mean as Mean
from tfexp.contributed.eager_metrics import Metric as Metric
from tfexp.contributed.eager_metrics import SparseAccuracy as SparseAccuracy
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.eager.metrics")
