"""`tf.contrib.linear_optimizer`: re-exports."""

from tfexp.contributed.linear_optimizer.sdca_model import SdcaModel as SdcaModel
from tfexp.contributed.linear_optimizer.sdca_model import SparseFeatureColumn as SparseFeatureColumn
from tfexp.contributed.linear_optimizer.sdca_optimizer import SDCAOptimizer as SDCAOptimizer
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.linear_optimizer")
